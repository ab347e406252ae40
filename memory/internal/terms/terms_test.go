package terms

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestIndex(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"Running the tests":            "run the test",
		"retryBudget":                  "retrybudget retri budget",
		"retry_budget":                 "retri budget retrybudget",
		"retry-budget":                 "retri budget retrybudget",
		"HTTPServer2x":                 "httpserver2x http server 2 x",
		"a_b-c":                        "a b c abc",
		"trailing_ -leading":           "trail lead",
		"Zoë ＳＬＯＧ ﬁx":                  "zoe slog fix",
		"Ёлка ά":                       "елка α",
		"缓存端口":                         "缓存 存端 端口 口",
		"日":                            "日",
		"用slog吧":                       "用 slog 吧",
		"サーバーの":                        "サー ーバ バー ーの の",
		"설정을":                          "설정 정을 을",
		"C++ 100% \"quoted\" \x00 a'b": "c 100 quot a b",
	} {
		if got := strings.Join(Index(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestQuery(t *testing.T) {
	for text, want := range map[string]string{
		"what is the port of the cache": "port cach",
		"the of and":                    "the of and",
		"缓存的端口是什么":                      "缓存 端口",
		"是什么":                           "是什 什么",
		"port PORT ports":               "port",
		"志":                             "志",
	} {
		if got := strings.Join(Query(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The words and stems of the algorithm's own paper, and the shapes that went
// wrong elsewhere.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled",
		"motoring": "motor", "sing": "sing", "conflated": "conflat", "troubling": "troubl", "sized": "size", "hopping": "hop", "falling": "fall",
		"hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat",
		"conditional": "condit", "rational": "ration", "valenci": "valenc", "digitizer": "digit", "operator": "oper", "feudalism": "feudal",
		"decisiveness": "decis", "hopefulness": "hope", "formaliti": "formal", "sensibiliti": "sensibl", "triplicate": "triplic",
		"formative": "form", "electriciti": "electr", "goodness": "good", "revival": "reviv", "allowance": "allow", "inference": "infer",
		"airliner": "airlin", "adjustable": "adjust", "defensible": "defens", "irritant": "irrit", "replacement": "replac", "adoption": "adopt",
		"communism": "commun", "effective": "effect", "bowdlerize": "bowdler", "probate": "probat", "rate": "rate", "cease": "ceas",
		"controll": "control", "roll": "roll", "as": "as", "naïve": "naïve", "x2": "x2",
	} {
		if got := stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestDay(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.Local)
	if got := Day(at); got != "2026 06 1 June Monday 6月1日" {
		t.Error(got)
	}
}

func FuzzIndex(f *testing.F) {
	for _, s := range []string{"retryBudget 缓存端口 サー", "\xff\x00", strings.Repeat("é", 80), "Ǆ_ǆ-ẞİ", "\u0301a\u0301", "\u0301", "ก็ ၁ ១"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := Index(s)
		for _, w := range slices.Concat(all, Query(s)) {
			if w == "" || len(w) > maxBytes || !utf8.ValidString(w) || strings.ContainsAny(w, "\"'* \x00_-()") {
				t.Errorf("%q has the term %q", s, w)
			}
		}
		// What is asked for in the words of a text is found there.
		set := Set(s)
		for _, w := range Query(s) {
			if !set[w] {
				t.Errorf("%q lacks the term %q of itself", s, w)
			}
		}
	})
}

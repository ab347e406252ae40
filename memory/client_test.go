package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	for _, test := range []struct {
		m    Memory
		want string
	}{
		{Memory{Content: " \n\t"}, "content must not be empty"},
		{Memory{Content: strings.Repeat("字", 9412)}, "content has 9,412 characters; 8,000 are allowed: store a summary"},
		{Memory{Content: "x y", Kind: "wish"}, "kind must be one of fact, note, turn"},
		{Memory{Content: "x y", Importance: 1.5}, "importance must be from 0 to 1, not 1.5"},
		{Memory{Content: "x y", Tags: make([]string, 17)}, "tags must hold at most 16 items, not 17"},
		{Memory{Content: "x y", Tags: []string{""}}, "every tag must have 1 to 64 characters"},
		{Memory{Content: "x y", Source: strings.Repeat("s", 501)}, "source must have at most 500 characters"},
		{Memory{Content: "x y", Session: strings.Repeat("s", 129)}, "session must have at most 128 characters"},
		{Memory{Content: "x y", Supersedes: make([]string, 17)}, "supersedes must hold at most 16 ids, not 17"},
		{Memory{Content: "x y", Time: time.Now().Add(25 * time.Hour)}, "time must not be more than a day ahead"},
		{Memory{Content: "x y", ID: "a b"}, "the id must be 1 to 64 letters, digits, - or _"},
		{Memory{Content: "密码是 Abc12345!"}, "not stored: it is little more than a secret (password)"},
		{Memory{Content: "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n and very much text around it which is harmless"}, "not stored: it holds a private key"},
	} {
		test.m.Scope = "p"
		out, err := c.Ingest(t.Context(), test.m)
		if err != nil || out[0].Status != Rejected || out[0].Reason != test.want {
			t.Errorf("got %+v %v, want %q", out, err, test.want)
		}
	}
	if n := len(list(t, c, Query{})); n != 0 {
		t.Errorf("%d were stored", n)
	}
	keepAll(t, c, strings.Repeat("字", 8000))
}

// One bad memory does not keep the others of a batch out.
func TestBatch(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	out, err := c.Ingest(t.Context(), Memory{Content: "first", Scope: "p", ID: "m-one"}, Memory{Scope: "p"}, Memory{Content: "FIRST", Scope: "p"},
		Memory{Content: "second, which replaces", Scope: "p", Supersedes: []string{"m-one"}}, Memory{Content: "third", Scope: "p", ID: "m-one"})
	if err != nil {
		t.Fatal(err)
	}
	var states []Status
	for _, st := range out {
		states = append(states, st.Status)
	}
	if got := fmt.Sprint(states); got != "[stored rejected duplicate stored rejected]" || out[2].ID != "m-one" {
		t.Errorf("%s %+v", got, out)
	}
	if got := find(t, c, Query{Text: "first"}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// A secret in any field reaches no byte of the file, is not repeated, and is
// not found.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	const secret = "9f86d081884c7d659a2feaa0c55ad015"
	st := keep(t, c, Memory{Content: "The nightly job logs in with api_key = " + secret + " against the metrics host in Frankfurt",
		Source: "https://ops:" + secret + "@wiki/x", Tags: []string{"token=" + secret}, Session: "api_key=" + secret})
	if len(st.Redactions) == 0 || strings.Contains(fmt.Sprintf("%+v", st), secret) {
		t.Errorf("%+v", st)
	}
	if got := find(t, c, Query{Text: secret}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if b, _ := json.Marshal(list(t, c, Query{})); strings.Contains(string(b), secret) {
		t.Errorf("%s", b)
	}
	c.Close()
	for _, suffix := range journals {
		if b := readOrNil(t, s.path+suffix); strings.Contains(string(b), secret) {
			t.Errorf("%s holds it", s.path+suffix)
		}
	}

	// A row from before, or from another program, is cut on its way out.
	c, s = open(t, s.path)
	if _, err := s.Ingest(t.Context(), []Memory{{Content: "old row with api_key = " + secret, Kind: "fact", Scope: "p", Time: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	if got := find(t, c, Query{Text: "old row"}); len(got) != 1 || strings.Contains(got[0], secret) {
		t.Errorf("%q", got)
	}
}

func TestAutomaticMemories(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	c, _ := open(t, path)
	record := func(c *Client, text string) Status {
		st, err := c.Record(t.Context(), Memory{Content: text, Scope: "p", Kind: "turn", Importance: Importance(text)})
		if err != nil {
			t.Fatal(err)
		}
		return st.Status
	}
	if got := record(c, "ok, thanks"); got != BelowThreshold {
		t.Errorf("a greeting: %s", got)
	}
	if got := record(c, "remember that the staging bucket is read-only"); got != Kept {
		t.Errorf("a wish: %s", got)
	}
	s := DefaultSettings()
	s.AutoIngest, s.AutoSearch = false, false
	off, err := New(Config{Settings: s, File: path})
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	if got := record(off, "remember that the other bucket is not"); got != Disabled {
		t.Errorf("switched off: %s", got)
	}
	if f := off.Recall(t.Context(), Query{Text: "staging bucket"}); len(f.Hits) != 0 {
		t.Errorf("switched off: %+v", f)
	}
	if got := find(t, off, Query{Text: "staging bucket"}); len(got) != 1 {
		t.Errorf("a search that somebody asks for goes on: %q", got)
	}
}

func TestIndexOfPrompts(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	index := func() string {
		t.Helper()
		s, err := c.Index(t.Context(), []string{"p", UserScope})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got := index(); got != "" {
		t.Errorf("%q", got)
	}
	id := keep(t, c, Memory{Content: "Always run\nthe linter first", Importance: 0.9}).ID
	user := keep(t, c, Memory{Content: "prefers short answers", Importance: 1, Scope: UserScope}).ID
	keep(t, c, Memory{Content: "not important enough", Importance: 0.7})
	keep(t, c, Memory{Content: "a turn is never in it", Importance: 1, Kind: "turn"})
	keep(t, c, Memory{Content: "of another project", Importance: 1, Scope: "q"})
	if st, err := c.Record(t.Context(), Memory{Content: "never automatic ones", Importance: 1, Scope: "p"}); err != nil || st.Status != Kept {
		t.Fatal(st, err)
	}
	want := fmt.Sprintf("- %s: prefers short answers\n- %s: Always run the linter first\n", user, id)
	if got := index(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	keep(t, c, Memory{Content: "never automatic ones", Importance: 1}) // now somebody has said it
	if got := index(); !strings.Contains(got, "never automatic ones") {
		t.Errorf("%q", got)
	}
	for i := range 40 {
		keep(t, c, Memory{Content: fmt.Sprint("规则", i, strings.Repeat("长", 300)), Importance: 0.85})
	}
	if got := []rune(index()); len(got) > indexChars || len(got) < indexChars/2 {
		t.Errorf("%d characters", len(got))
	}
	if first := index(); first != index() {
		t.Error("it changes by itself")
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	s := DefaultSettings()
	s.Enabled = false
	path := filepath.Join(t.TempDir(), "memory.db")
	c, err := New(Config{Settings: s, File: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), Query{Text: "x"}); !errors.Is(err, ErrDisabled) {
		t.Error(err)
	}
	if _, err := c.Ingest(t.Context(), Memory{Content: "x", Scope: "p"}); !errors.Is(err, ErrDisabled) {
		t.Error(err)
	}
	if f := c.Recall(t.Context(), Query{Text: "x"}); len(f.Hits)+len(f.Note) != 0 {
		t.Errorf("%+v", f)
	}
	if err := c.Close(); err != nil || readOrNil(t, path) != nil {
		t.Error("a file was made", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	changed := func(f func(*Settings)) Settings {
		s := DefaultSettings()
		f(&s)
		return s
	}
	for _, test := range []struct {
		user, project string
		env           map[string]string
		want          Settings
		fault         string
	}{
		{want: DefaultSettings()},
		{user: `{"auto_ingest": false, "limit": 12}`, want: changed(func(s *Settings) { s.AutoIngest, s.Limit = false, 12 })},
		{
			user: `{"backend": "memex", "memex": {"url": "https://m.example.com/v1", "key_env": "K"}}`,
			env:  map[string]string{"FERRULE_MEMORY_BACKEND": "sqlite", "FERRULE_MEMORY_RECALL_GATE": "0.5", "FERRULE_MEMORY_AUTO_SEARCH": "0"},
			want: changed(func(s *Settings) {
				s.Memex, s.RecallGate, s.AutoSearch = Memex{"https://m.example.com/v1", "K"}, 0.5, false
			}),
		},
		{
			project: `{"auto_search": false, "limit": 50, "backend": "memex", "memex": {"url": "https://evil.example"}}`,
			want:    changed(func(s *Settings) { s.AutoSearch = false }),
		},
		{project: `{"auto_ingest": false, "enabled": false}`, want: changed(func(s *Settings) { s.AutoIngest, s.Enabled = false, false })},
		{user: `{"auto_ingest": false}`, project: `{"auto_ingest": true}`, want: changed(func(s *Settings) { s.AutoIngest = false })},
		{user: `{"auto_serach": false}`, fault: `the settings have a mistake under memory: unknown field "auto_serach"`},
		{user: `{"limit": "many"}`, fault: "the settings have a mistake under memory: limit cannot be a string"},
		{user: `{"limit": 51}`, fault: "the memory setting limit must be from 1 to 50, not 51"},
		{user: `{"backend": "postgres"}`, fault: `the memory setting backend must be sqlite or memex, not "postgres"`},
		{user: `{"backend": "memex", "memex": {"url": "http://m.example.com"}}`, fault: "the memory setting memex.url must begin with https:// unless the server is on this machine"},
		{user: `{"backend": "memex", "memex": {"url": "https://me:pw@m.example.com"}}`, fault: "the memory setting memex.url must hold no user, query or fragment; the key is read from the variable that memex.key_env names"},
		{env: map[string]string{"FERRULE_MEMORY_LIMIT": "x"}, fault: `FERRULE_MEMORY_LIMIT cannot be "x"`},
	} {
		got, err := LoadSettings([]byte(test.user), []json.RawMessage{[]byte(cmp.Or(test.project, "{}"))}, func(k string) string { return test.env[k] })
		switch {
		case test.fault != "":
			if err == nil || err.Error() != test.fault {
				t.Errorf("%+v: the error is %v", test, err)
			}
		case err != nil || got != test.want:
			t.Errorf("%+v: got %+v %v", test, got, err)
		}
	}
}

func TestImportance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want float64
	}{
		{"谢谢", 0.1}, {"ok", 0.1}, {"continue", 0.1}, {"跑一下", 0.1}, {"hello!", 0.1}, {"thanks so much!", 0.1}, {"", 0.1},
		{"这个函数是做什么的？", 0.3}, {"why does the build use two caches?", 0.3}, {"必须用 pnpm 吗", 0.3},
		{"给列表页加上分页和排序按钮", 0.5}, {"add a progress bar to the export dialog", 0.5},
		{"the panic comes from internal/store/tx.go", 0.6}, {"修复了上传大文件时的报错", 0.6},
		{"we switched the queue to NATS last week", 0.7}, {"报表慢的原因是少了一个索引", 0.7},
		{"从现在起所有接口都返回 camelCase", 0.8}, {"never push to main directly", 0.8}, {"我喜欢先看测试再看实现", 0.8},
		{"请记住测试库在 5433 端口", 0.9}, {"remember that the staging bucket is read-only", 0.9},
	} {
		if got := Importance(c.text); got != c.want {
			t.Errorf("%q: %.1f, want %.1f", c.text, got, c.want)
		}
	}
	got := Facts("帮我改一下登录页。以后都用英文写提交信息。Also never touch vendor/. What is left?")
	if len(got) != 2 || got[0] != "以后都用英文写提交信息。" || got[1] != "Also never touch vendor/." {
		t.Errorf("%q", got)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Time{
		"2026-06-11":                time.Date(2026, 6, 11, 0, 0, 0, 0, time.Local),
		"2026-06-11T14:30:00Z":      time.Date(2026, 6, 11, 14, 30, 0, 0, time.UTC),
		"2026-06-11T14:30:00+08:00": time.Date(2026, 6, 11, 6, 30, 0, 0, time.UTC),
		"yesterday":                 {},
	} {
		got, err := ParseTime(s)
		if !got.Equal(want) || (err != nil) != want.IsZero() {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
}

package memory

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// weights are tried in order; the first whose words occur counts.
var weights = []struct {
	weight float64
	words  *regexp.Regexp
}{
	{0.9, regexp.MustCompile(`(?i)请?(?:记住|记下|记得|牢记|别忘了|不要忘记)|\b(?:please )?(?:remember|keep in mind|don't forget|do not forget|note that)\b`)},
	{0.8, regexp.MustCompile(`(?i)以后(?:都|不|要|请|就|一律)|今后|从现在(?:起|开始)|从今(?:天|以后)|(?:不要|别)再|一律|始终|禁止|必须|我(?:更|比较)?(?:喜欢|偏好|习惯|不喜欢|讨厌)|优先(?:用|使用)|` +
		`\b(?:always|never|from now on|i(?:'d)? prefer|i (?:do not|don't) like|we (?:always|never)|do not ever|must (?:not )?(?:be|use|run)|our convention)\b`)},
	{0.7, regexp.MustCompile(`(?i)因为|原因(?:是|在于)|决定|根因|改成了|换成了|迁移到|弃用|` +
		`\b(?:because|root cause|decided|decision|the reason|turned out|we (?:use|switched|moved|chose)|replaced|deprecated)\b`)},
	{0.6, regexp.MustCompile(`(?i)[\w-]+/[\w./-]+\.\w{1,5}\b|\b[\w-]+\.(?:go|py|ts|tsx|js|rs|c|h|cpp|java|md|ya?ml|json|toml|sql|sh)\b|` +
		`(?:error|panic|exception|fixed|修复|报错|异常|失败)`)},
}

var greeting = regexp.MustCompile(`(?i)^\s*(?:你好|您好|嗨|早上好|谢谢你?|多谢|辛苦了|好的?|可以|继续|嗯+|ok(?:ay)?|thanks?(?: you)?(?: so much)?|hi|hello|hey|yes|no|go on|continue|great|nice|done|perfect|lgtm|收到|明白)[\s,.!?。！？，~]*$`)

// shortText is the length in characters below which a text says too little.
const shortText = 12

// Importance guesses how much a text is worth keeping, from 0 to 1, by the words
// that people use when something should last.
func Importance(text string) float64 {
	text = strings.TrimSpace(text)
	if greeting.MatchString(text) {
		return 0.1
	}
	question := strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "吗")
	for i, w := range weights {
		if w.words.MatchString(text) {
			if question && i > 0 {
				return 0.3
			}
			return w.weight
		}
	}
	switch {
	case question:
		return 0.3
	case utf8.RuneCountInString(text) < shortText:
		return 0.1
	}
	return 0.5
}

// sentence is one sentence or line with what ends it.
var sentence = regexp.MustCompile(`[^\n。！？；]+?(?:[。！？；\n]|[.!?](?:\s|$)|$)`)

// lasting is the weight from which on a sentence of a user states something
// meant to last.
const lasting = 0.8

// Facts returns the sentences of a user's message that state something meant to
// last. Each becomes a memory of its own.
func Facts(message string) (out []string) {
	for _, s := range sentence.FindAllString(message, -1) {
		if s = strings.TrimSpace(s); Importance(s) >= lasting {
			out = append(out, s)
		}
	}
	return out
}

// Asked is the importance of a memory that somebody asked to keep, unless they
// say another: at least a half.
func Asked(text string) float64 { return max(0.5, Importance(text)) }

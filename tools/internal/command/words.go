package command

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is a word of a command after quote removal.
type word struct {
	text    string // of a dynamic word: what is fixed at its beginning
	source  string // as it was written; set only where it cannot be rebuilt from text
	dynamic bool   // it depends on the state of the shell, and may become several words or none
	pattern bool   // it holds an unquoted file name pattern
	lead    bool   // it begins with a pattern, so it can become an option
	brace   bool   // it holds a brace expansion
	tilde   bool   // it begins with an unquoted tilde
	dollar  bool   // it holds $'…' or $"…"
	slot    bool   // it holds a place that xargs, find or parallel fills in
}

// fixed tells whether the text is what the command will get, in every state of the shell.
func (w word) fixed() bool {
	return !w.dynamic && !w.pattern && !w.brace && !w.tilde && !w.dollar && !w.slot
}

// vague tells whether the word can become another one than its text.
func (w word) vague() bool { return w.dynamic || w.pattern || w.brace || w.slot }

// couldBe tells whether a vague word can become s.
func (w word) couldBe(s string) bool {
	switch {
	case w.dynamic:
		return strings.HasPrefix(s, w.text)
	case w.brace || w.slot:
		return true
	case w.pattern:
		ok, err := path.Match(w.text, s)
		return ok || err != nil
	}
	return false
}

var (
	braces     = regexp.MustCompile(`\{.*(,|\.\.).*\}`)
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*\+?=`)
)

func readWord(w *syntax.Word) word {
	var out word
	var text, bare strings.Builder
	if len(w.Parts) == 1 { // nearly every word is one plain literal
		if l, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\*?[{~") {
			return word{text: l.Value}
		}
	}
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			bare.WriteString(p.Value)
			out.tilde = out.tilde || i == 0 && strings.HasPrefix(p.Value, "~")
			for j := 0; j < len(p.Value); j++ {
				switch c := p.Value[j]; c {
				case '\\':
					j++
				case '*', '?', '[':
					out.pattern = true
					out.lead = out.lead || j == 0 && text.Len() == 0
				}
			}
			text.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				out.dollar = true
				text.WriteString(unescapeC(p.Value))
			} else {
				text.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			out.dollar = out.dollar || p.Dollar
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					out.dynamic = true
					break
				}
				text.WriteString(unescape(l.Value, "$`\"\\\n"))
			}
		default:
			out.dynamic = true
		}
		if out.dynamic {
			break
		}
	}
	out.text = text.String()
	out.brace = braces.MatchString(bare.String())
	return out
}

// unescape removes backslashes before any character, or before those in only.
func unescape(s, only string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// unescapeC decodes the inside of $'…'. As bash does, it stops at a NUL.
func unescapeC(s string) string {
	const plain, meaning = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
	var out []byte
	number := func(i, digits, base int) (value, next int) {
		end := i
		for end < len(s) && end-i < digits {
			if _, err := strconv.ParseUint(s[end:end+1], base, 8); err != nil {
				break
			}
			end++
		}
		v, _ := strconv.ParseUint(s[i:end], base, 32) // no digits: 0
		return int(v), end
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		v, next := 0, i
		switch c := s[i]; {
		case strings.IndexByte(plain, c) >= 0:
			out = append(out, meaning[strings.IndexByte(plain, c)])
			continue
		case c >= '0' && c <= '7':
			v, next = number(i, 3, 8)
		case c == 'x':
			v, next = number(i+1, 2, 16)
		case c == 'u' || c == 'U':
			v, next = number(i+1, map[byte]int{'u': 4, 'U': 8}[c], 16)
			if next > i+1 && v >= utf8.RuneSelf {
				out = utf8.AppendRune(out, rune(v))
				i = next - 1
				continue
			}
		case c == 'c' && i+1 < len(s):
			v, next = int(s[i+1]&0x1f), i+2
		}
		if next <= i+1 && !(s[i] >= '0' && s[i] <= '7') { // no escape after all
			out = append(out, '\\', s[i])
			continue
		}
		if byte(v) == 0 {
			break
		}
		out = append(out, byte(v))
		i = next - 1
	}
	return string(out)
}

// oddCharacter finds a character that shells, parsers and people may take for different things, and returns its offset
// or -1.
func oddCharacter(text string) (int, rune) {
	for i, c := range text {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			continue
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || unicode.IsSpace(c) || c == utf8.RuneError {
			return i, c
		}
	}
	return -1, 0
}

// quote writes a word so that bash reads it as such.
func (w word) quote() string {
	switch {
	case w.source != "":
		return w.source
	case w.text != "" && !strings.ContainsAny(w.text, " \t\n'\"\\$`|&;<>()*?[]{}~#!^"):
		return w.text
	case w.text == "[" || w.text == "]" || w.text == "{}":
		return w.text
	}
	return "'" + strings.ReplaceAll(w.text, "'", `'\''`) + "'"
}

// scanWords takes a text apart that cannot be read: quotes and backslashes are dropped, names lose their directory.
func scanWords(text string) []string {
	text = strings.NewReplacer("\\\n", "", `\`, "", `'`, "", `"`, "").Replace(text)
	words := strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./-", c)
	})
	for i, w := range words {
		words[i] = baseName(w)
	}
	return words
}

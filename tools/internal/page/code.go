package page

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// langClass finds the class that names a language, as highlighters and generators write it.
var langClass = regexp.MustCompile(`(?i)(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|` +
	`brush:\s*|sourceCode\s+|src-)([a-z0-9+#_.-]+)`)

// gutterClass marks line numbers.
var gutterClass = regexp.MustCompile(`(?i)(?:^|[\s_-])(?:linenos?|line-?numbers?|gutter|ln-num|ln-numbers|blob-num|rouge-gutter)(?:[\s_-]|$)`)

// langNames has the names that readers know better under another, and the words of classes that name no language.
var langNames = map[string]string{"python3": "python", "py": "python", "ipython3": "python", "pycon3": "pycon",
	"shell": "sh", "default": "", "none": "", "text": "", "plain": "", "plaintext": "", "source": "", "block": "",
	"example": "", "wrapper": "", "box": "", "group": "", "tabs": "", "wrap": "", "inline": "", "container": "",
	"toolbar": "", "copy": ""}

// bareLangs are languages that are named by a class of their own.
var bareLangs = words("rust go python java js javascript typescript ts tsx jsx c cpp csharp cs sql bash sh json yaml toml " +
	"cjs mjs ruby php perl kotlin swift scala haskell lua r xml html css diff dockerfile makefile ini powershell console")

// codeLang returns the language of a code block, or "".
func codeLang(n *html.Node) string {
	if l := langBelow(n); l != "" {
		return l
	}
	p := n.Parent
	for range 3 {
		if p == nil || p.DataAtom == atom.Body || p.DataAtom == atom.Main || p.DataAtom == atom.Article || p.DataAtom == atom.Section {
			break // their classes name the language of people
		}
		if l := ownLang(p); l != "" {
			return l
		}
		p = p.Parent
	}
	return ""
}

func langBelow(n *html.Node) string {
	if n.DataAtom == atom.Code || isPre(n) {
		if l := ownLang(n); l != "" {
			return l
		}
		for c := range strings.FieldsSeq(strings.ToLower(attr(n, "class"))) {
			if bareLangs[c] {
				return c
			}
		}
	}
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode {
			continue
		}
		if l := langBelow(c); l != "" {
			return l
		}
	}
	return ""
}

func ownLang(n *html.Node) string {
	for _, a := range n.Attr {
		switch a.Key {
		case "data-lang", "data-language":
			if l := langName(a.Val); l != "" {
				return l
			}
		case "class":
			for _, m := range langClass.FindAllStringSubmatch(a.Val, -1) {
				if l := langName(m[1]); l != "" {
					return l
				}
			}
		}
	}
	return ""
}

func langName(l string) string {
	l = strings.ToLower(strings.TrimSpace(l))
	if known, ok := langNames[l]; ok {
		return known
	}
	if len(l) > 20 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789+#_.-") != "" {
		return ""
	}
	return l
}

// preText returns the text of a code block byte for byte. A br, and each element that sets one line of code, ends in
// exactly one line feed; line numbers and buttons are left out, and so is what cannot be seen.
func preText(n *html.Node) string {
	var sb strings.Builder
	end := func() {
		if s := sb.String(); s != "" && s[len(s)-1] != '\n' {
			sb.WriteByte('\n')
		}
	}
	var walk func(*html.Node)
	walk = func(x *html.Node) {
		switch x.DataAtom {
		case atom.Br:
			sb.WriteByte('\n')
			return
		case atom.Button, atom.Script, atom.Style, atom.Svg:
			return
		case atom.Div, atom.P, atom.Li, atom.Tr:
			end()
			defer end()
		case atom.Span, atom.Code: // made a line by a style sheet
			if isLine(x) && x.PrevSibling != nil && isLine(x.PrevSibling) {
				end()
			}
		}
		if x != n && isNumbers(x) {
			return
		}
		for c := range x.ChildNodes() {
			if c.Type == html.TextNode {
				sb.WriteString(c.Data)
			} else {
				walk(c)
			}
		}
	}
	walk(n)
	return seen(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00A0", " ").Replace(sb.String()))
}

// isLine reports whether n, in a code block, is one line of it.
func isLine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Code:
		return true
	case atom.Span:
		_, data := lookup(n, "data-line")
		return data || strings.Contains(" "+attr(n, "class")+" ", " line ")
	}
	return false
}

// isNumbers reports whether n holds nothing but the number of a line.
func isNumbers(n *html.Node) bool {
	return len(n.Attr) > 0 && gutterClass.MatchString(attr(n, "class")) && strings.Trim(rawText(n), "0123456789 \t\r\n") == ""
}

// isGutter reports whether a pre holds nothing but counting numbers.
func isGutter(pre *html.Node) bool {
	fields := strings.Fields(rawText(pre))
	if len(fields) < 2 && !isNumbers(pre) {
		return false
	}
	start := 0
	for i, f := range fields {
		v, err := strconv.Atoi(f)
		if i == 0 {
			start = v
		}
		if err != nil || v != start+i {
			return false
		}
	}
	return true
}

// codeSpan quotes s, a single line, with more backticks than it holds in a row.
func codeSpan(s string) string {
	s = cropRuns(s, '`')
	mark := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return mark + s + mark
}

func longestRun(s string, c byte) int {
	best, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		best = max(best, n)
	}
	return best
}

// maxRun is the longest run of backticks that is kept. A longer one would make fences longer than a window.
const maxRun = 200

// cropRuns shortens the runs of c in s to maxRun.
func cropRuns(s string, c byte) string {
	if longestRun(s, c) <= maxRun {
		return s
	}
	out := make([]byte, 0, len(s))
	n := 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
		} else if n++; n > maxRun {
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

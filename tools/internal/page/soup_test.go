package page

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// soup returns a page of elements that are seldom closed and of words that look like Markdown.
func soup(seed uint64) string {
	tags := strings.Fields("html head body title base div p span a b i em code pre ul ol li dl dt dd table tr td th thead caption " +
		"blockquote h1 h2 br hr img input button form select option nav header footer aside main article section details " +
		"summary script style noscript template svg math annotation figure iframe textarea q sup del font address xmp frameset")
	attrs := strings.Split(`id="x"|class="highlight-go"|class="anchor"|class="line"|class="lineno"|class="markdown-body"|class="sig"|`+
		`href="#x"|href="/a(b)"|hidden|aria-hidden="true"|style="display:none"|style="opacity:0"|colspan=3|rowspan=4|start=7|`+
		`type=checkbox|alt="pic"|role=main|data-line|name=generator content="Docutils"|name=x`, "|")
	texts := []string{"word ", "```", "```go\n", "~~~", "- x", "1. y", "> ", "# h", "|", "\n\n", "\u00A0", "\u200B\u202E", "1 2 3", "*",
		"Plain sentences, for the body of the page, long enough to be its text. ", "¶", "`", "1234567890. ", "[x](y)", "![", "字。"}
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var sb strings.Builder
	for range r.IntN(300) {
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			sb.WriteString("<" + pick(tags))
			for range r.IntN(3) {
				sb.WriteString(" " + pick(attrs))
			}
			sb.WriteString([]string{">", ">", ">", "/>"}[r.IntN(4)])
		case 4, 5, 6:
			sb.WriteString(pick(texts) + pick(texts))
		default:
			sb.WriteString("</" + pick(tags) + ">")
		}
	}
	return sb.String()
}

// TestSoup converts pages that no generator makes. One of them once put a heading into itself.
func TestSoup(t *testing.T) {
	t.Parallel()
	n := uint64(300)
	if os.Getenv("FERRULE_NIGHTLY") != "" {
		n = 50_000
	}
	for seed := range n {
		body := soup(seed)
		p := convert(t, body, []string{"text/html", "application/xhtml+xml"}[seed%2])
		var open fence
		for line := range strings.Lines(p.Markdown) {
			open = open.after(line)
		}
		if open.mark != "" || strings.IndexFunc(p.Markdown, unseen) >= 0 {
			t.Fatalf("seed %d: fence %q:\n%s\n%s", seed, open.mark, body, p.Markdown)
		}
		checkWindows(t, p, 1000)
	}
}

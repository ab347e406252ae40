package page

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

func address(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func convert(t testing.TB, body, contentType string) *Page {
	t.Helper()
	p, err := Convert(t.Context(), []byte(body), contentType, address(t, "https://host.test/dir/page.html"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPages converts the pages of testdata, one for each rule. The comment of each says which, and what was once broken.
func TestPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			at, kind := "https://host.test/dir/page.html", "text/html"
			for line := range strings.Lines(string(ar.Comment)) {
				if v, ok := strings.CutPrefix(line, "url: "); ok {
					at = strings.TrimSpace(v)
				}
				if v, ok := strings.CutPrefix(line, "type: "); ok {
					kind = strings.TrimSpace(v)
				}
			}
			p, err := Convert(t.Context(), ar.Files[0].Data, kind, address(t, at))
			if err != nil {
				t.Fatal(err)
			}
			facts := fmt.Sprintf("kind: %s (%s)\ntitle: %s\n", p.Kind, p.why, p.Title)
			for _, n := range p.Notes {
				facts += "note: " + n + "\n"
			}
			got := []txtar.File{ar.Files[0], {Name: "facts", Data: []byte(facts)}, {Name: "want.md", Data: []byte(p.Markdown + "\n")}}
			if *update {
				if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: ar.Comment, Files: got}), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) != 3 {
				t.Fatal("run with -update")
			}
			for i, f := range got {
				if want := string(ar.Files[i].Data); string(f.Data) != want {
					t.Errorf("%s of\n%s\nis\n%s\nwant\n%s", f.Name, ar.Files[0].Data, f.Data, want)
				}
			}
		})
	}
}

func skipRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector multiplies time and memory; nothing here runs concurrently")
	}
}

// TestHostile converts pages that are made to be slow or large. DOC17, H094 (half of its links, for time).
func TestHostile(t *testing.T) {
	skipRace(t)
	t.Parallel()
	var bold strings.Builder
	for i := range 400 {
		fmt.Fprintf(&bold, "<b id=%d>", i)
	}
	for name, body := range map[string]string{
		"nested div":       strings.Repeat("<div>", 50_000) + "<p>deep words</p>",
		"nested dl":        strings.Repeat("<dl><dd>", 5_000) + "deep words",
		"nested table":     strings.Repeat("<table><tr><td>", 3_000) + "deep words",
		"items in items":   strings.Repeat("<li><dd>", 5_000) + "deep words",
		"nested quotes":    strings.Repeat("<blockquote>", 500) + strings.Repeat("deep words<br>", 10_000),
		"nested links":     strings.Repeat("<a <a <a", 100_000),
		"open formatting":  "<p>" + bold.String() + strings.Repeat("<p>deep words", 10_000),
		"hidden in hidden": strings.Repeat("<div style=display:none aria-hidden=true>", 300) + strings.Repeat("<p>deep words", 10_000),
		"long nested text": strings.Repeat("<table><tr><td>", 100) + strings.Repeat("<p>"+strings.Repeat("deep words, ", 8), 20_000),
		"end tags":         strings.Repeat("</p>deep words", 50_000),
		"spans":            "<table>" + strings.Repeat("<tr><td colspan=999 rowspan=999>deep words<td>y", 20_000),
		"many attributes":  "<p " + strings.Repeat("a ", 500_000) + ">deep words",
		"backticks":        "<pre>" + strings.Repeat("`", 500_000) + "</pre>deep words",
		"unending meta":    strings.Repeat("<meta ", 100_000) + ">deep words",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			p := convert(t, body, "text/html")
			if d := time.Since(start); d > 20*time.Second { // 0.5 s at most, if the machine is not busy
				t.Errorf("took %v", d)
			}
			if name != "nested links" && !strings.Contains(p.Markdown, "deep words") {
				t.Errorf("the text is lost: %.200q", p.Markdown)
			}
			if w := p.Window(0, 45_000); utf8.RuneCountInString(w.Text) > 45_000 {
				t.Errorf("the window has %d characters", utf8.RuneCountInString(w.Text))
			}
		})
	}
}

// TestTooLarge cuts a page of more elements than memory should hold, and says so.
func TestTooLarge(t *testing.T) {
	skipRace(t)
	t.Parallel()
	p := convert(t, strings.Repeat("<p>word", maxElements+50_000), "text/html")
	if n := strings.Count(p.Markdown, "word"); n < maxElements-10 || n > maxElements || len(p.Notes) != 1 {
		t.Errorf("%d words, notes %q", n, p.Notes)
	}
	// Relative links of a page with a long address make it grow without end.
	at := address(t, "https://host.test/"+strings.Repeat("a/", 900))
	p, err := Convert(t.Context(), []byte("<p>"+strings.Repeat("<a href=x>a</a> ", 20_000)), "text/html", at)
	if err != nil || len(p.Markdown) > room(strings.Repeat("x", 340_000)) {
		t.Error(len(p.Markdown), err)
	}
	p = convert(t, strings.Repeat("<ul><li>", 100)+"<pre>"+strings.Repeat("a\n", 300_000)+"</pre>", "text/html")
	if len(p.Markdown) > 17<<20 || len(p.Notes) != 1 {
		t.Error(len(p.Markdown), p.Notes)
	}
}

// TestHeadingAroundContainer once made the heading a child of itself.
func TestHeadingAroundContainer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<h1>Top<div class="markdown-body">` + strings.Repeat("<pre>x</pre>", 200) + "</div>",
		`<h1 class="markdown-body">` + strings.Repeat("word ", 100) + "<pre>x</pre></h1>",
	} {
		if p := convert(t, body, "text/html"); !strings.Contains(p.Markdown, "x") {
			t.Errorf("%s: %q", body, p.Markdown)
		}
	}
}

// TestReopenedFormatting counts the elements that a parser opens again in every paragraph.
func TestReopenedFormatting(t *testing.T) {
	skipRace(t)
	t.Parallel()
	var body strings.Builder
	body.WriteString("<p>")
	for i := range 40 {
		fmt.Fprintf(&body, "<b id=%d>", i)
	}
	body.WriteString(strings.Repeat("<p>x", 50_000))
	src := newSource(body.String(), false, nil)
	n := 0
	for d := range src.doc.Descendants() {
		if d.Type == html.ElementNode {
			n++
		}
	}
	if n > maxElements+10 || n < maxElements/2 || !src.cut {
		t.Errorf("%d elements, cut %v", n, src.cut)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := Convert(ctx, []byte("<p>x"), "text/html", nil); p != nil || err != context.Canceled {
		t.Error(p, err)
	}
}

// TestText leaves answers that are no HTML as they are. DOC19.
func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, body, want string }{
		{"application/json", `{"a":1,"b":["x"]}`, "```json\n{\"a\":1,\"b\":[\"x\"]}\n```"},
		{"application/ld+json; charset=utf-8", "[\"```\"]\n", "````json\n[\"```\"]\n````"},
		{"text/plain", "a < b\n  c_d\n", "a < b\n  c_d\n"},
		{"text/markdown", "# T\n\n[x](y)\n", "# T\n\n[x](y)\n"},
		{"text/plain; charset=iso-8859-1", "na\xefve", "naïve"},
	} {
		p := Text([]byte(c.body), c.kind)
		if p.Markdown != c.want || p.Kind != Plain {
			t.Errorf("%s %q: %q, want %q", c.kind, c.body, p.Markdown, c.want)
		}
	}
	if p := Text([]byte("# T\n\ntext\n"), "text/markdown"); !slices.Equal(p.Headings, []Heading{{1, "T", 0}}) {
		t.Error(p.Headings)
	}
}

// TestMarkdown renders a page of a book as a whole.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	got, err := Markdown([]byte(`<?xml version="1.0"?><html><head><title>Chapter</title></head><body><nav><p>In</p></nav>` +
		`<h1>One</h1><p>See <a href="two.xhtml">two</a>.<span hidden="hidden">x</span></p><pre>a  b</pre></body></html>`))
	if want := "In\n\n# One\n\nSee two.\n\n```\na  b\n```"; got != want || err != nil {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	body := `<main><h1>Über</h1><pre>a</pre><pre id="code">b</pre>` + strings.Repeat("<p>Some words.</p>", 200) +
		`<h2 id="one">One</h2><p>x</p><section id="two"><h2>Two</h2></section><a name="three"></a><h2>Three</h2>
<dl><dt id="four">f</dt><dd>F</dd><dt>g</dt><dd><p id="five">G</p></dd></dl><h2>Six<a class="headerlink" href="#six">¶</a></h2>
<div><h2>Seven</h2><a id="user-content-seven" class="anchor" href="#seven"></a></div></main>`
	p := convert(t, body, "text/html")
	runes := []rune(p.Markdown)
	for id, want := range map[string]string{"one": "## One", "two": "## Two", "three": "## Three", "four": "- **f**", "five": "  G",
		"six": "## Six", "seven": "## Seven", "code": "```", "six:~:text=x": "## Six"} {
		at := p.Start(id, 1000)
		if got, _, _ := strings.Cut(string(runes[at:]), "\n"); got != want || at == 0 {
			t.Errorf("#%s begins with %q, want %q", id, got, want)
		}
	}
	for _, h := range p.Headings {
		if line, _, _ := strings.Cut(string(runes[h.Offset:]), "\n"); line != strings.Repeat("#", h.Level)+" "+h.Text {
			t.Errorf("heading %v stands at %q", h, line)
		}
	}
	if at := p.Start("one", 100_000); at != 0 {
		t.Error("a page that fits begins at", at)
	}
	if p.Start("none", 1000) != 0 || p.Start("", 1000) != 0 || new(Page).Start("x", 1) != 0 {
		t.Error("an unknown fragment has a place")
	}
}

// manual returns a page of documentation of about n bytes.
func manual(n int) string {
	const part = `<h2 id="s">Part</h2><p>Some <em>words</em> on <a href="/f"><code>f</code></a> and <b>other</b> things that matter.</p>
<pre class="language-go"><code><span class="k">func</span> <span class="n">f</span>() {
	<span class="k">return</span> <span class="mi">1</span>
}
</code></pre><ul><li>one</li><li>two <code>x</code></li></ul><table><tr><th>a<th>b<tr><td>1<td>2</table>
`
	return "<html><head><title>Manual</title></head><body><nav>Home</nav><main><h1>Manual</h1>" + strings.Repeat(part, n/len(part)) + "</main></body></html>"
}

// news returns an article of about n bytes.
func news(n int) string {
	const part = `<p class="text">Plain sentences, for the body of the page, long enough to be <a href="/x">its text</a>. They go on for a while.</p>
<div class="share"><a href="/s">Share</a> <a href="/t">Tweet</a></div>
`
	return "<html><head><title>News</title></head><body><nav>Home</nav><article><h1>News</h1>" + strings.Repeat(part, n/len(part)) + "</article></body></html>"
}

// TestCost holds what a large page may allocate: 80 MB for 1.6 MB.
func TestCost(t *testing.T) {
	skipRace(t)
	body := manual(1_600_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	convert(t, body, "text/html")
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 80 {
		t.Errorf("%d MB allocated", mb)
	}
}

func BenchmarkConvert(b *testing.B) {
	for _, c := range []struct{ name, body string }{
		{"documentation-100kB", manual(100_000)}, {"documentation-1.6MB", manual(1_600_000)},
		{"article-100kB", news(100_000)}, {"article-1.6MB", news(1_600_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				convert(b, c.body, "text/html")
			}
		})
		b.Run(c.name+"-parser-alone", func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				(&source{text: c.body}).fresh()
			}
		})
	}
}

func FuzzConvert(f *testing.F) {
	for _, pattern := range []string{"testdata/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(ar.Files[0].Data, "text/html", "s1")
		}
	}
	f.Add([]byte("<table><b><tr><td><pre><ul><li>```"), "application/xhtml+xml; charset=gbk", "x")
	f.Fuzz(func(t *testing.T, body []byte, contentType, fragment string) {
		base, _ := url.Parse("https://host.test/d/p")
		p, err := Convert(t.Context(), body, contentType, base)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(p.Markdown) || strings.IndexFunc(p.Markdown, unseen) >= 0 || strings.ContainsAny(p.Title, "\n\r") {
			t.Errorf("title %q, Markdown %q", p.Title, p.Markdown)
		}
		checkWindows(t, p, 1000)
		if at := p.Start(fragment, 10); at < 0 || at > utf8.RuneCountInString(p.Markdown) {
			t.Errorf("%q starts at %d", fragment, at)
		}
		for _, h := range p.Headings {
			if !strings.HasPrefix(p.Markdown[byteAt(p.Markdown, h.Offset):], "#") {
				t.Errorf("no heading at %v", h)
			}
		}
		if _, err := Markdown(body); err != nil {
			t.Error(err)
		}
	})
}

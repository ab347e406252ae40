package permit

import (
	"slices"
	"strings"
	"testing"
)

// S336-S347.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, url string
		ok        bool
	}{
		{"example.com", "https://example.com/x", true},
		{"example.com", "https://example.com.evil.com/", false},
		{"example.com", "https://evilexample.com/", false},
		{"example.com", "https://www.example.com/", false},
		{"*.example.com", "https://a.example.com/", true},
		{"*.example.com", "https://a.b.example.com/", true},
		{"*.example.com", "https://example.com/", false},
		{"*.example.com", "https://evilexample.com/", false},
		{"EXAMPLE.com.", "https://example.COM./", true},
		{"xn--bcher-kva.example", "https://bücher.example/", true},
		{"bücher.example", "https://XN--BCHER-KVA.example/", true},
		{"docs.python.org", "https://docs.python.org.evil.com/", false},
		{"example.com", "https://example.com@evil.com/", false},
		{"example.com", "https://evil.com/?x=example.com", false},
		{"example.com", "https://ex\u00adample.com/", false},
		{"example.com", "https://ｅｘａｍｐｌｅ。com/", true},
		{"example.com:8080", "http://example.com:8080/", true},
		{"example.com:8080", "http://example.com/", false},
		{"example.com:443", "https://example.com/", true},
		{"example.com", "http://example.com:1/", true},
		{"127.0.0.1", "http://127.0.0.1:5/about/", true},
		{"127.0.0.1", "http://127.1:5/", false},
		{"127.0.0.1", "http://①②⑦.0.0.1/", true}, // what a resolver makes of it
		{"[::1]:80", "http://[::1]/", true},
		{"::1", "http://[0:0::1]:9/", true},
		{"::1", "http://[::1%25eth0]/", false},
		{"*.0.1", "http://127.0.0.1/", false},
	} {
		p, err := New(Config{Rules: rules("allow WebFetch(domain:" + c.rule + ")")})
		if err != nil {
			if c.rule != "*.0.1" {
				t.Errorf("%s: %v", c.rule, err)
			}
			continue
		}
		if d := p.Decide(fetching(c.url)); (d.Verdict == Allow) != c.ok {
			t.Errorf("%s, %s: %+v", c.rule, c.url, d)
		}
		deny, err := New(Config{Rules: rules("deny WebFetch(domain:"+c.rule+")", "allow WebFetch")})
		if err != nil {
			t.Fatal(err)
		}
		if d := deny.Decide(fetching(c.url)); d.Verdict == Allow && c.ok {
			t.Errorf("deny %s, %s: %+v", c.rule, c.url, d)
		}
	}
	for _, u := range []string{"", "x", "file:///etc/passwd", "https://", "https:///x", "http://0x7f.1/", "http://2130706433/", "http://a b/", "http://a..b/", "http://%zz/", "javascript:1"} {
		p := policy(t, Config{Rules: rules("allow WebFetch"), Mode: BypassPermissions})
		if d := p.Decide(fetching(u)); d.Verdict != Deny {
			t.Errorf("%q: %+v", u, d)
		}
	}
}

func TestNamesHost(t *testing.T) {
	t.Parallel()
	p := policy(t, Config{Rules: rules("allow WebFetch(domain:localhost)", "allow WebFetch(domain:*.test)", "allow WebFetch(domain:box:81)", "deny WebFetch(domain:10.0.0.1)")})
	for url, want := range map[string][2]bool{
		"http://localhost:5/": {true, false}, "http://127.0.0.1:5/": {false, false}, "http://a.test/": {false, false},
		"http://box:81/": {true, true}, "http://box/": {false, false}, "http://10.0.0.1/": {false, false}, "::": {false, false},
	} {
		if named, port := p.NamesHost(url); named != want[0] || port != want[1] {
			t.Errorf("%s: %v %v", url, named, port)
		}
	}
}

func TestPunycode(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{ // RFC 3492, 7.1, and names that are in use
		"bücher": "bcher-kva", "münchen": "mnchen-3ya", "他们为什么不说中文": "ihqwcrb4cv8a8dqg056pqjye",
		"ü": "tda", "pročprostěnemluvíčesky": "proprostnemluvesky-uyb24dma41a", "例え": "r8jz45g",
	} {
		if got := punycode([]rune(label)); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"http://example.com", "http://[::1]:1/", "http://１２７.０.０.１/", "http://a@b\\c/", "https://bücher.例え/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := hostOf(s)
		if err != nil {
			return
		}
		if slices.ContainsFunc([]byte(h.name), func(c byte) bool { return c >= 0x80 || c >= 'A' && c <= 'Z' || c <= ' ' || c == '/' || c == '@' }) ||
			strings.HasSuffix(h.name, ".") || h.name == "" {
			t.Errorf("%q: %q", s, h.name)
		}
		if again, err := spell(h.name); err != nil || again.name != h.name {
			t.Errorf("%q: %q is spelled %q, %v", s, h.name, again.name, err)
		}
	})
}

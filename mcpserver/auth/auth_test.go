package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ferrule/mcpserver/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) (tokens *auth.Tokens, own string) {
	t.Helper()
	tokens, _, err := auth.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	return tokens, strings.TrimSpace(string(b))
}

var here = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7117}

func guard(t testing.TB, r auth.Rules) *auth.Guard {
	t.Helper()
	r.MaxBody = 16 << 20
	g, err := auth.NewGuard(r, here)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func request(method, token string) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:7117/mcp", nil)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = 2
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// who returns the name of who is let through, or the status of the denial.
func who(g *auth.Guard, r *http.Request) string {
	p, err := g.Check(r)
	if d := (*auth.Denial)(nil); errors.As(err, &d) {
		return fmt.Sprint(d.Status)
	}
	return p.Name
}

// S370, S380, CVE-2025-49596: a token is made at the first start, for the user
// alone, and stays; one that others could read is refused.
func TestOwnToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	_, made, err := auth.Open(dir)
	if err != nil || made != filepath.Join(dir, "token") {
		t.Fatalf("%q %v", made, err)
	}
	fi, err := os.Stat(made)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(made)
	if runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 || len(strings.TrimSpace(string(first))) != 43 {
		t.Errorf("%v, %d bytes", fi.Mode(), len(first))
	}
	if _, made, err := auth.Open(dir); made != "" || err != nil {
		t.Errorf("the second start: %q %v", made, err)
	}
	if again, _ := os.ReadFile(made); string(again) != string(first) {
		t.Error("the token has changed")
	}
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660} {
		os.Chmod(made, mode)
		if _, _, err := auth.Open(dir); err == nil || !strings.Contains(err.Error(), "others can read") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	os.Chmod(made, 0o600)
	os.Chmod(dir, 0o777)
	if _, _, err := auth.Open(dir); err == nil {
		t.Error("a directory that others can write to is taken")
	}
	os.Chmod(dir, 0o700)
	for name, plant := range map[string]func(){
		"link":   func() { os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), made) },
		"empty":  func() { os.WriteFile(made, nil, 0o600) },
		"short":  func() { os.WriteFile(made, []byte("password"), 0o600) },
		"folder": func() { os.Mkdir(made, 0o700) },
	} {
		os.Remove(made)
		plant()
		if _, _, err := auth.Open(dir); err == nil {
			t.Errorf("%s: taken for a token", name)
		}
	}
	if _, _, err := auth.Open(""); err == nil {
		t.Error("tokens without a place for them")
	}
}

// Several servers that start together make one token.
func TestOwnTokenRace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var wg sync.WaitGroup
	var made [8]string
	for i := range made {
		wg.Go(func() {
			var err error
			if _, made[i], err = auth.Open(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(made[:], func(s string) bool { return s == "" })); n != 1 {
		t.Errorf("%d have made one", n)
	}
}

func TestNamedTokens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	tokens, own := open(t, dir)
	g := guard(t, auth.Rules{Tokens: tokens})
	ann, err := auth.Add(dir, auth.Principal{Name: "ann", Roots: []string{"/w"}, ReadOnly: true, Deny: []string{"Bash(rm:*)"}})
	if err != nil || len(ann) != 43 {
		t.Fatal(ann, err)
	}
	bob, err := auth.Add(dir, auth.Principal{Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{own: "default", ann: "ann", bob: "bob", ann[1:]: "401", ann + "x": "401", "": "401", strings.ToLower(ann): "401"} {
		if got := who(g, request("POST", token)); got != want {
			t.Errorf("token of %s lets %s in", want, got)
		}
	}
	p, err := g.Check(request("POST", ann))
	if err != nil || !p.ReadOnly || !slices.Equal(p.Roots, []string{"/w"}) || !slices.Equal(p.Deny, []string{"Bash(rm:*)"}) {
		t.Errorf("ann is %+v %v", p, err)
	}
	stored, _ := os.ReadFile(filepath.Join(dir, "tokens.json"))
	fi, _ := os.Stat(filepath.Join(dir, "tokens.json"))
	if strings.Contains(string(stored), ann) || strings.Contains(string(stored), own) || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %s", fi.Mode(), stored)
	}
	for name, want := range map[string]string{"ann": "already a token ann", "": "letters", "a b": "letters", "../x": "letters", strings.Repeat("a", 65): "letters", "default": "take another"} {
		if _, err := auth.Add(dir, auth.Principal{Name: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := auth.Revoke(dir, "carl"); err == nil || !strings.Contains(err.Error(), "ann, bob") {
		t.Errorf("revoking nobody's: %v", err)
	}
	if !tokens.Valid(p.Owner()) {
		t.Error("ann is not known")
	}
	if err := auth.Revoke(dir, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := who(g, request("POST", ann)); got != "401" || tokens.Valid(p.Owner()) {
		t.Errorf("a revoked token lets %s in", got)
	}
	if list, err := auth.List(dir); err != nil || len(list) != 1 || list[0].Name != "bob" {
		t.Errorf("%+v %v", list, err)
	}
	if got := who(g, request("POST", bob)); got != "bob" {
		t.Errorf("bob is %s", got)
	}
	// What cannot be read or understood holds no good token.
	if runtime.GOOS != "windows" {
		os.Chmod(filepath.Join(dir, "tokens.json"), 0o644)
		if got := who(g, request("POST", bob)); got != "401" {
			t.Errorf("others can read it, and it lets %s in", got)
		}
		if _, err := auth.Add(dir, auth.Principal{Name: "dora"}); err == nil {
			t.Error("added to a file that others can read")
		}
		os.Chmod(filepath.Join(dir, "tokens.json"), 0o600)
	}
	for _, text := range []string{`{`, `{"tokens":[{"name":"x","sum":"00"}]}`, `{"others":[]}`} {
		os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(text), 0o600)
		if got := who(g, request("POST", bob)); got != "401" {
			t.Errorf("%s lets %s in", text, got)
		}
		if _, _, err := auth.Open(dir); err == nil {
			t.Errorf("%s: a server starts", text)
		}
	}
	if got := who(g, request("POST", own)); got != "default" {
		t.Errorf("the own token lets %s in", got)
	}
}

// Many at once add and revoke, and a running server looks on: nothing is lost,
// and no reader sees half a file.
func TestNamedTokensRace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	tokens, _ := open(t, dir)
	g := guard(t, auth.Rules{Tokens: tokens})
	keep, err := auth.Add(dir, auth.Principal{Name: "keep"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for round := range 5 {
				name := fmt.Sprintf("n%d-%d", i, round)
				if _, err := auth.Add(dir, auth.Principal{Name: name}); err != nil {
					t.Error(err)
				}
				if got := who(g, request("POST", keep)); got != "keep" {
					t.Errorf("meanwhile %s", got)
				}
				if round > 0 {
					if err := auth.Revoke(dir, name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if list, err := auth.List(dir); err != nil || len(list) != 9 {
		t.Errorf("%d are left, %v", len(list), err)
	}
	for i := range 100 {
		if _, err = auth.Add(dir, auth.Principal{Name: fmt.Sprint("more", i)}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "already 64 tokens") {
		t.Errorf("there is no end: %v", err)
	}
}

// The order in which a request is judged, and what each part takes.
func TestGuardOrder(t *testing.T) {
	tokens, own := open(t, filepath.Join(t.TempDir(), "state"))
	g := guard(t, auth.Rules{Tokens: tokens, Origins: []string{"https://good.example"}, Hosts: []string{"name.example", "port.example:8443", "[2001:db8::1]"}})
	steps := []struct {
		status string
		worsen func(*http.Request)
	}{
		{"413", func(r *http.Request) { r.ContentLength = 16<<20 + 1 }},
		{"415", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
		{"401", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }},
		{"403", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		{"403", func(r *http.Request) { r.Host = "evil.example" }},
	}
	for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS", "PUT", "HEAD", "X"} {
		r := request(method, own)
		r.Header.Set("Content-Type", "application/json")
		if got := who(g, r); got != "default" {
			t.Errorf("%s: %s", method, got)
		}
		for _, s := range steps { // each comes before those above it
			s.worsen(r)
			if got := who(g, r); got != s.status {
				t.Errorf("%s: %s, want %s", method, got, s.status)
			}
		}
	}
	for host, ok := range map[string]bool{
		"127.0.0.1:7117": true, "localhost:7117": true, "LOCALHOST:7117": true, "[::1]:7117": true,
		"name.example": true, "name.example:7117": true, "port.example:8443": true, "[2001:db8::1]:7117": true,
		"": false, "127.0.0.1": false, "localhost": false, "localhost:80": false, "127.0.0.2:7117": false, "127.1:7117": false, "0.0.0.0:7117": false,
		"localhost.:7117": false, "name.example.": false, "x.name.example": false, "name.example:1": false, "port.example": false, "localhost:7117@evil.com": false,
		" localhost:7117": false, "localhost:7117,evil.com": false, "localhost:07117": false, "[::ffff:127.0.0.1]:7117": false,
	} {
		r := request("POST", own)
		r.Host = host
		if got := who(g, r); (got == "default") != ok {
			t.Errorf("Host %q: %s", host, got)
		}
	}
	for _, test := range []struct {
		name   string
		values []string
		ok     bool
	}{
		{"Origin", []string{"https://good.example"}, true},
		{"Origin", []string{"https://good.example", "https://good.example"}, false},
		{"Origin", []string{""}, false},
		{"Origin", []string{"null"}, false},
		{"Origin", []string{"https://good.example/"}, false},
		{"Origin", []string{"http://good.example"}, false},
		{"Origin", []string{"https://good.example.evil.com"}, false},
		{"Authorization", []string{"bearer " + own}, true},
		{"Authorization", []string{"Bearer " + own, "Bearer " + own}, false},
		{"Authorization", []string{own}, false},
		{"Authorization", []string{"Bearer  " + own}, false},
		{"Authorization", []string{"Bearer " + own + " "}, false},
		{"Content-Type", []string{"application/json;charset=utf-8"}, true},
		{"Content-Type", []string{"Application/JSON"}, true},
		{"Content-Type", []string{"application/json", "text/plain"}, false},
		{"Content-Type", []string{"application/json-patch+json"}, false},
		{"Content-Type", []string{"text/plain; application/json"}, false},
	} {
		r := request("POST", own)
		r.Header[test.name] = test.values
		if got := who(g, r); (got == "default") != test.ok {
			t.Errorf("%s %q: %s", test.name, test.values, got)
		}
	}
	for _, r := range []auth.Rules{{Hosts: []string{"http://x"}}, {Hosts: []string{"*.example"}}, {Hosts: []string{""}}, {Origins: []string{"good.example"}}, {Origins: []string{"*"}}, {Origins: []string{"https://x/y"}}} {
		if _, err := auth.NewGuard(r, here); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}

// FuzzGuard looks for a request that is let through though its Host, Origin or
// token is not one of those that were allowed.
func FuzzGuard(f *testing.F) {
	tokens, own := open(f, filepath.Join(f.TempDir(), "state"))
	g := guard(f, auth.Rules{Tokens: tokens, Origins: []string{"https://good.example"}})
	f.Add("localhost:7117", "https://good.example", "Bearer "+own)
	f.Add("LocalHost:7117.", "null", "Basic x")
	f.Fuzz(func(t *testing.T, host, origin, given string) {
		r := request("POST", "")
		r.Host = host
		r.Header["Origin"], r.Header["Authorization"] = []string{origin}, []string{given}
		if _, err := g.Check(r); err != nil {
			return
		}
		scheme, token, _ := strings.Cut(given, " ")
		if !slices.Contains([]string{"localhost:7117", "127.0.0.1:7117", "[::1]:7117"}, strings.ToLower(host)) || origin != "https://good.example" || token != own || !strings.EqualFold(scheme, "bearer") {
			t.Errorf("let through: %q %q %q", host, origin, given)
		}
	})
}

// The target is 5 µs a request.
func BenchmarkGuard(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "state")
	tokens, own := open(b, dir)
	var named string
	for i := range 64 {
		var err error
		if named, err = auth.Add(dir, auth.Principal{Name: fmt.Sprint("n", i)}); err != nil {
			b.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour) // soon after a change the file is read again and again
	os.Chtimes(filepath.Join(dir, "tokens.json"), long, long)
	g := guard(b, auth.Rules{Tokens: tokens})
	for name, token := range map[string]string{"own": own, "of64": named, "wrong": "x"} {
		b.Run(name, func(b *testing.B) {
			r := request("POST", token)
			b.ReportAllocs()
			for b.Loop() {
				g.Check(r)
			}
		})
	}
}

// What is stored can be read by a later version: the form is fixed.
func TestStoredForm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := auth.Add(dir, auth.Principal{Name: "ann", Roots: []string{"/a"}, ReadDirs: []string{"/b"}, ReadOnly: true, Allow: []string{"x"}, Ask: []string{"y"}, Deny: []string{"z"}}); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(dir, "tokens.json"))
	var f struct{ Tokens []map[string]any }
	if err := json.Unmarshal(data, &f); err != nil || len(f.Tokens) != 1 {
		t.Fatalf("%v %s", err, data)
	}
	for _, name := range []string{"name", "roots", "read_dirs", "read_only", "allow", "ask", "deny", "made", "sum"} {
		if f.Tokens[0][name] == nil {
			t.Errorf("%s is missing in %s", name, data)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tokens-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

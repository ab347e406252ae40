// Package auth decides which requests over HTTP are served, and for whom.
//
// A page in the user's browser can send requests to this machine, and whoever
// can reach the port can do more. So a [Guard] judges each request by its head
// alone, for every method and path, in this order: Host, Origin, token,
// Content-Type, length. Until all are right nothing of the body may be read.
// [Tokens] says whose token it is. Begin with [Guard.Check].
//
// What is served to whom, and everything after the head, is decided elsewhere.
package auth

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Rules say which requests a [Guard] lets through.
type Rules struct {
	Hosts   []string // values of Host beside the names of loopback
	Origins []string // values of Origin; of pages from elsewhere nothing is served
	TLS     bool     // clients speak TLS
	Tokens  *Tokens  // nil: everybody is let through as [Main]
	MaxBody int64    // bytes
}

// A Guard lets requests through. It may be used concurrently.
type Guard struct {
	rules   Rules
	hosts   map[string]bool // in lower case
	origins map[string]bool
	cross   *http.CrossOriginProtection
	tooLong string
}

// NewGuard returns the guard of a server that listens on addr.
func NewGuard(r Rules, addr net.Addr) (*Guard, error) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, err
	}
	g := &Guard{rules: r, hosts: make(map[string]bool), origins: make(map[string]bool), cross: http.NewCrossOriginProtection(),
		tooLong: fmt.Sprintf("the message is longer than %d bytes", r.MaxBody)}
	add := func(name string) {
		g.hosts[net.JoinHostPort(name, port)] = true
		if port == "80" && !r.TLS || port == "443" && r.TLS { // then clients leave it out
			g.hosts[bracketed(name)] = true
		}
	}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		add(name)
	}
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		add(host)
	}
	for _, h := range r.Hosts {
		h = strings.ToLower(h)
		if strings.ContainsAny(h, "/@*, ") || h == "" {
			return nil, fmt.Errorf("--host %q must be a name or an address, with or without a port", h)
		}
		g.hosts[h] = true // as a proxy on a standard port would hand it on
		if _, _, err := net.SplitHostPort(h); err != nil {
			add(strings.Trim(h, "[]"))
		}
	}
	for _, o := range r.Origins {
		if err := g.cross.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("--origin %q must be a scheme and a host, such as https://example.com", o)
		}
		g.origins[o] = true
	}
	return g, nil
}

// bracketed returns a name as it stands in a URL.
func bracketed(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// A Denial is why a request is not served.
type Denial struct {
	Status int // of HTTP
	Text   string
}

func (d *Denial) Error() string { return d.Text }

// Check returns who sends the request, or an error of type [*Denial]. It reads
// nothing of the body.
func (g *Guard) Check(r *http.Request) (Principal, error) {
	if !g.hosts[strings.ToLower(r.Host)] {
		return Principal{}, &Denial{http.StatusForbidden, "this Host is not served here; allow it with --host"}
	}
	if !g.sameSite(r) {
		return Principal{}, &Denial{http.StatusForbidden, "pages of this Origin may not call the server; allow it with --origin"}
	}
	who, ok := g.principal(r.Header)
	if !ok {
		return Principal{}, &Denial{http.StatusUnauthorized, "a valid token is needed: Authorization: Bearer TOKEN"}
	}
	kinds := r.Header.Values("Content-Type")
	if r.Method == http.MethodPost || r.ContentLength != 0 || len(kinds) > 0 {
		if len(kinds) != 1 || !isJSON(kinds[0]) {
			return Principal{}, &Denial{http.StatusUnsupportedMediaType, "the Content-Type must be application/json"}
		}
	}
	if r.ContentLength > g.rules.MaxBody {
		return Principal{}, &Denial{http.StatusRequestEntityTooLarge, g.tooLong}
	}
	return who, nil
}

// sameSite reports whether the request comes from no page, or from one that may
// send it.
func (g *Guard) sameSite(r *http.Request) bool {
	switch origin := r.Header.Values("Origin"); {
	case len(origin) > 1:
		return false
	case len(origin) == 1:
		return g.origins[origin[0]]
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return g.cross.Check(r) == nil
	default: // which the check allows for methods that should change nothing
		return false
	}
}

func isJSON(kind string) bool {
	if kind == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(kind)
	return err == nil && kind == "application/json"
}

func (g *Guard) principal(h http.Header) (Principal, bool) {
	if g.rules.Tokens == nil {
		return Principal{Name: Main}, true
	}
	given := h.Values("Authorization")
	if len(given) != 1 {
		return Principal{}, false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Principal{}, false
	}
	return g.rules.Tokens.find(token)
}

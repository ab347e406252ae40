package permit

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// hostRule is what stands behind domain:. A port of "" means every port.
type hostRule struct {
	name, port string
	below      bool // the names below name, not name itself
}

// host is where a URL leads, in the one spelling that rules are compared with.
type host struct {
	name, port string
	address    bool
}

// maxHost is the length of the longest name of a host, in bytes.
const maxHost = 253

var errHost = errors.New("that is no usual name or address of a host")

// parseHost reads domain:example.com, domain:*.example.com, domain:host:8080 and domain:[::1]:8080.
func parseHost(spec string) (*hostRule, error) {
	text, ok := strings.CutPrefix(spec, "domain:")
	if !ok {
		return nil, errors.New("a rule for pages is written WebFetch(domain:example.com), or WebFetch for all hosts")
	}
	if strings.ContainsAny(text, "/@ \t") {
		return nil, errors.New("behind domain: stands a host, perhaps with a port, and nothing else")
	}
	name, port := splitPort(text)
	if strings.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' }) || len(port) > 5 {
		return nil, errors.New("the port is no number")
	}
	r := &hostRule{port: port}
	name, r.below = strings.CutPrefix(name, "*.")
	h, err := spell(name)
	switch {
	case err != nil:
		return nil, err
	case r.below && h.address:
		return nil, errors.New("nothing is below an address")
	}
	r.name = h.name
	return r, nil
}

// splitPort takes the port off; an IPv6 address has one only behind brackets.
func splitPort(s string) (name, port string) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		name, port, _ = strings.Cut(rest, "]")
		return name, strings.TrimPrefix(port, ":")
	}
	if strings.Count(s, ":") == 1 {
		name, port, _ = strings.Cut(s, ":")
		return name, port
	}
	return s, ""
}

// hostOf returns the host of a URL that a page may be fetched from.
func hostOf(raw string) (host, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return host{}, errors.New("that is no URL")
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" {
		return host{}, errors.New("only http and https URLs are fetched")
	}
	h, err := spell(u.Hostname())
	if h.port = u.Port(); h.port == "" {
		h.port = port
	}
	return h, err
}

// spell brings a host into the one spelling: lower case, no final dot, names in ASCII, addresses as netip writes them.
// What some resolver might take for an address although it is not written as one is refused, as are characters that
// are left out of names when they are looked up.
func spell(name string) (host, error) {
	if len(name) > maxHost*4 {
		return host{}, errHost
	}
	name = strings.ToLower(norm.NFKC.String(name))
	name = strings.TrimSuffix(strings.ReplaceAll(name, "。", "."), ".")
	if a, err := netip.ParseAddr(name); err == nil && a.Zone() == "" {
		return host{name: a.Unmap().String(), address: true}, nil
	}
	labels := strings.Split(name, ".")
	for i, l := range labels {
		odd := func(r rune) bool {
			return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) ||
				unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
		}
		if l == "" || strings.ContainsFunc(l, odd) {
			return host{}, errHost
		}
		if strings.ContainsFunc(l, func(r rune) bool { return r >= 0x80 }) {
			labels[i] = "xn--" + punycode([]rune(l))
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' { // 0177.1, 0x7f.1, 2130706433
		return host{}, errHost
	}
	if name = strings.Join(labels, "."); len(name) > maxHost {
		return host{}, errHost
	}
	return host{name: name}, nil
}

// punycode writes a label in ASCII (RFC 3492, 6.3).
func punycode(label []rune) string {
	const base, low, high, skew, damp = 36, 1, 26, 38, 700
	var out []byte
	for _, r := range label {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	done := len(out)
	first := done
	if done > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for done < len(label) {
		next := rune(unicode.MaxRune)
		for _, r := range label {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, low), high)
				if q < t {
					break
				}
				out = append(out, digit(t+(q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out = append(out, digit(q))
			if done == first {
				delta /= damp
			} else {
				delta /= 2
			}
			done++
			delta += delta / done
			k := 0
			for ; delta > (base-low)*high/2; k += base {
				delta /= base - low
			}
			bias = k + (base-low+1)*delta/(delta+skew)
			delta = 0
		}
		delta++
		n++
	}
	return string(out)
}

func digit(d int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[d] }

// holds reports whether the rule speaks of the host.
func (r *hostRule) holds(h host) bool {
	if r.port != "" && r.port != h.port {
		return false
	}
	if r.below {
		return strings.HasSuffix(h.name, "."+r.name)
	}
	return h.name == r.name
}

func hostHit(rules []*rule, h host) *rule {
	for _, r := range rules {
		if r.host.holds(h) {
			return r
		}
	}
	return nil
}

// fetch judges getting a page. A host that no rule allows is new and asks.
func (p *Policy) fetch(f *finding, a *Access) {
	h, err := hostOf(a.URL)
	if err != nil {
		f.what = err.Error()
		f.refuse(nil, isUnclear)
		return
	}
	f.what = h.name
	f.refuse(hostHit(p.deny.hosts, h), byRule)
	f.must(hostHit(p.ask.hosts, h), byRule)
	if r := hostHit(p.allow.hosts, h); r != nil {
		f.allow = r
	}
	if f.allow == nil {
		f.must(nil, isNewHost)
	}
}

// NamesHost reports whether an allow rule names the host of a URL in full, which opens private addresses to it. port
// tells whether the rule names its port as well.
func (p *Policy) NamesHost(rawURL string) (named, port bool) {
	h, err := hostOf(rawURL)
	if err != nil {
		return false, false
	}
	for _, r := range p.allow.hosts {
		if !r.host.below && r.host.holds(h) {
			named, port = true, port || r.host.port != ""
		}
	}
	return named, port
}

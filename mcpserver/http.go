package mcpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/mcpserver/auth"
)

// The Streamable HTTP transport, on the path /mcp, for both eras at once.
//
// As on stdio, the library gets a message and gives an answer, and the rest is
// ours. Its own handler keeps one channel for all requests of a session, so
// that notifications are lost or reach another request, lets one client of the
// stateless era cancel another's call, takes ids for floating-point numbers,
// and serves sessions that nobody has begun.
//
// A request passes the guard (package auth), which says whose token it shows. Each
// such principal is served by a Server of his own, so that what differs between
// two of them, such as folders and tools, is fixed in the Server and is nowhere
// asked for again. What lasts longer than a request is a session (sessions.go).
// The response belongs to one request (stream.go).

// An HTTPConfig says how a server listens and whom it serves.
type HTTPConfig struct {
	Hosts       []string     // values of Host that are served beside the names of loopback
	Origins     []string     // values of Origin whose pages may call; others are refused
	Cert, Key   string       // files for TLS; "" for none
	BehindProxy bool         // something in front does TLS
	NoAuth      bool         // serve without a token; only on loopback
	Tokens      *auth.Tokens // unless NoAuth
	Legacy      bool         // offer only versions of the protocol that have sessions

	// Serve returns what a principal is served. An error refuses him with its
	// text.
	Serve func(auth.Principal) (Config, error)

	Ready func()        // called when requests are taken; may be nil
	Drain time.Duration // what calls get when the server ends; 0 means 10 s
	Log   io.Writer     // for what goes wrong beside requests; nil for nowhere
}

const (
	maxSessions = 256
	maxCalls    = 64                     // at once, of one principal
	bodyLimit   = time.Minute            // for a request to arrive
	keepEvery   = 10 * time.Second       // how often idle sessions are looked for
	lookEvery   = 500 * time.Millisecond // how often the time of the file of tokens is looked at
)

// ServeHTTP serves the clients that come to l until ctx is done. Then no new
// requests are taken, those at work get [HTTPConfig.Drain] and are cancelled,
// and ServeHTTP returns when nothing that they started is left. It closes l.
func ServeHTTP(ctx context.Context, l net.Listener, c HTTPConfig) error {
	defer l.Close()
	if err := c.check(l.Addr()); err != nil {
		return err
	}
	rules := auth.Rules{Hosts: c.Hosts, Origins: c.Origins, TLS: c.Cert != "", MaxBody: maxMessage}
	if !c.NoAuth {
		rules.Tokens = c.Tokens
	}
	g, err := auth.NewGuard(rules, l.Addr())
	if err != nil {
		return err
	}
	if c.Drain == 0 {
		c.Drain = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	t := newSite(c, g)
	srv := &http.Server{
		Handler: t, BaseContext: func(net.Listener) context.Context { return hard },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: bodyLimit, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ConnState: t.unused.note,
		ErrorLog:  log.New(c.Log, "ferrule: ", 0),
	}
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetHTTP1(true) // HTTP/2 gains nothing here and is where Go's server has had its weaknesses
	srv.RegisterOnShutdown(t.unused.close)
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return err
		}
		srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	served := make(chan error, 1)
	go func() {
		if c.Cert != "" {
			served <- srv.ServeTLS(l, "", "")
		} else {
			served <- srv.Serve(l)
		}
	}()
	if c.Ready != nil {
		c.Ready()
	}
	var keeper sync.WaitGroup
	keeper.Go(func() { t.keep(hard) })
	select {
	case err = <-served: // the listener broke
		t.end(srv, cancel)
	case <-ctx.Done():
		t.end(srv, cancel)
		<-served
	}
	keeper.Wait()
	return err
}

// check refuses what would open the tools to strangers if it listened on addr.
func (c *HTTPConfig) check(addr net.Addr) error {
	tcp, ok := addr.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	switch {
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("--cert and --key must be given together")
	case c.NoAuth && (!loopback || c.BehindProxy):
		return errors.New("--no-auth would let anybody run commands here; it is allowed only on a loopback address and without --behind-proxy")
	case !c.NoAuth && c.Tokens == nil:
		return errors.New("a token is needed")
	case !loopback && c.Cert == "" && !c.BehindProxy:
		return fmt.Errorf("%s can be reached from other machines and the token would cross the network in the clear; use --cert and --key, or --behind-proxy if something in front does TLS", addr)
	}
	return nil
}

// A site is all that is behind one listener.
type site struct {
	cfg      HTTPConfig
	guard    *auth.Guard
	unused   unused
	sessions *sessions
	closing  chan struct{} // closed when the server begins to end
	work     sync.WaitGroup

	mu      sync.Mutex         // guards tenants, and closing against work
	tenants map[string]*tenant // by owner
}

// A tenant is a principal that has come.
type tenant struct {
	owner   string
	srv     *Server // once ready has returned
	ready   func() error
	calls   gate // requests at work
	bodies  gate // messages being read
	streams gate // responses that stay open to listen
}

func newSite(c HTTPConfig, g *auth.Guard) *site {
	return &site{cfg: c, guard: g, sessions: newSessions(maxSessions), closing: make(chan struct{}), tenants: make(map[string]*tenant)}
}

func newTenant(owner string, serve func() (*Server, error)) *tenant {
	n := &tenant{owner: owner, calls: gate{max: maxCalls}, bodies: gate{max: maxCalls}, streams: gate{max: maxSessions}}
	n.ready = sync.OnceValue(func() (err error) { n.srv, err = serve(); return err })
	return n
}

func (t *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit)) // the one before is still set
	if !t.enter() {
		refuse(w, errClosing)
		return
	}
	defer t.work.Done()
	who, err := t.guard.Check(r)
	if err != nil {
		refuse(w, err)
		return
	}
	if r.URL.Path != "/mcp" {
		refuse(w, &auth.Denial{Status: http.StatusNotFound, Text: "only /mcp is served"})
		return
	}
	n, err := t.tenant(who)
	if err != nil {
		refuse(w, err)
		return
	}
	switch r.Method {
	case http.MethodPost:
		err = t.post(w, r, n)
	case http.MethodGet:
		err = t.listen(w, r, n)
	case http.MethodDelete:
		err = t.delete(w, r, n)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		err = &auth.Denial{Status: http.StatusMethodNotAllowed, Text: "only GET, POST and DELETE are served"}
	}
	if err != nil {
		refuse(w, err)
	}
}

// enter counts a request as work, unless the server is ending.
func (t *site) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.closing:
		return false
	default:
		t.work.Add(1)
		return true
	}
}

// tenant returns the tenant for a principal. What is served to him is looked at
// when he comes first, and again if it could not be served.
func (t *site) tenant(who auth.Principal) (*tenant, error) {
	owner := who.Owner()
	t.mu.Lock()
	n := t.tenants[owner]
	if n == nil {
		n = newTenant(owner, func() (*Server, error) {
			cfg, err := t.cfg.Serve(who)
			if err != nil {
				return nil, err
			}
			return newServer(cfg, t.sessions)
		})
		t.tenants[owner] = n
	}
	t.mu.Unlock()
	if err := n.ready(); err != nil {
		t.forget(n)
		return nil, &auth.Denial{Status: http.StatusForbidden, Text: err.Error()}
	}
	return n, nil
}

func (t *site) forget(n *tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tenants[n.owner] == n {
		delete(t.tenants, n.owner)
	}
}

// keep ends, again and again, what should no longer be there.
func (t *site) keep(ctx context.Context) {
	every, look := time.NewTicker(keepEvery), time.NewTicker(lookEvery)
	defer every.Stop()
	defer look.Stop()
	if t.cfg.NoAuth {
		look.Stop()
	}
	version := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			t.sessions.sweep(now)
		case <-look.C:
			if v := t.cfg.Tokens.Version(); v != version {
				version = v
				t.evict()
			}
		}
	}
}

var errRevoked = errors.New("the call was ended because its token has been revoked")

// evict ends the sessions of principals whose token has been revoked. Others go
// on meanwhile.
func (t *site) evict() {
	var wg sync.WaitGroup
	for _, owner := range t.sessions.owners() {
		if !t.cfg.Tokens.Valid(owner) {
			wg.Go(func() { t.sessions.endOf(owner, errRevoked) })
		}
	}
	t.mu.Lock()
	maps.DeleteFunc(t.tenants, func(owner string, _ *tenant) bool { return !t.cfg.Tokens.Valid(owner) })
	t.mu.Unlock()
	wg.Wait()
}

// end lets the requests at work come to their end, or ends them.
func (t *site) end(srv *http.Server, cancel context.CancelFunc) {
	t.mu.Lock()
	close(t.closing)
	t.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), t.cfg.Drain)
	defer stop()
	srv.Shutdown(ctx) // what it returns is told by the requests below, too
	cancel()
	srv.Close()
	done := make(chan struct{})
	go func() { t.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(lastWait):
	}
	t.sessions.close() // what was stuck ends with its session
	select {
	case <-done:
	case <-time.After(lastWait):
	}
}

// unused knows the connections on which nothing has been sent yet. A server that
// ends would wait five seconds for them.
type unused struct {
	mu    sync.Mutex // guards conns
	conns map[net.Conn]bool
}

func (u *unused) note(c net.Conn, is http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conns == nil {
		u.conns = make(map[net.Conn]bool)
	}
	if is == http.StateNew {
		u.conns[c] = true
	} else {
		delete(u.conns, c)
	}
}

func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		c.Close()
	}
}

// refuse answers a request that is not served. The rest of its body is not
// waited for.
func refuse(w http.ResponseWriter, err error) {
	d := &auth.Denial{Status: http.StatusInternalServerError, Text: err.Error()}
	switch {
	case errors.As(err, &d):
	case errors.Is(err, errNoSession):
		d.Status = http.StatusNotFound
	case errors.Is(err, errTooMany), errors.Is(err, errClosing):
		d.Status = http.StatusServiceUnavailable
	}
	h := w.Header()
	switch d.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "60")
	case http.StatusTooManyRequests:
		h.Set("Retry-After", "1")
	}
	if d.Status != http.StatusNotFound { // which is a client's way to a new session
		h.Set("Connection", "close")
	}
	http.Error(w, d.Text, d.Status)
}

// A gate lets a number of requests through at once.
type gate struct {
	max int32
	n   atomic.Int32
}

func (g *gate) enter() bool {
	if g.n.Add(1) > g.max {
		g.n.Add(-1)
		return false
	}
	return true
}

func (g *gate) leave() { g.n.Add(-1) }

// versions are those that are offered.
func (t *site) versions() []string {
	if t.cfg.Legacy {
		return mcp.LegacyProtocolVersions()
	}
	return mcp.ValidProtocolVersions
}

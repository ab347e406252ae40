package mcpserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"ferrule/mcpserver"
)

// A client that is not ours searches, reads, edits and runs commands, with the
// stream of a GET open all the while.
func TestHTTPForeignClient(t *testing.T) {
	w := serveWeb(t, nil)
	w.file("greet.txt", "hello\nworld\n")
	//lint:ignore SA1019 the stream of a GET is what is tested here
	listening := transport.WithContinuousListening()
	c, err := client.NewStreamableHttpClient("http://"+w.addr+"/mcp", transport.WithHTTPBasicClient(w.client), listening,
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + w.token()}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = "2025-11-25"
	req.Params.ClientInfo = mcp.Implementation{Name: "foreign", Version: "1"}
	if _, err := c.Initialize(ctx, req); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) < 8 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	file := filepath.Join(w.dir, "greet.txt")
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"Grep", map[string]any{"pattern": "wor", "output_mode": "content"}, "world"},
		{"Read", map[string]any{"file_path": file}, "2\tworld"},
		{"Edit", map[string]any{"file_path": file, "old_string": "world", "new_string": "there"}, "there"},
		{"Bash", map[string]any{"command": "cat greet.txt; pwd"}, "hello\nthere\n" + w.dir},
	} {
		var call mcp.CallToolRequest
		call.Params.Name, call.Params.Arguments = step.tool, step.args
		res, err := c.CallTool(ctx, call)
		if err != nil {
			t.Fatalf("%s: %v", step.tool, err)
		}
		if text := mcp.GetTextFromContent(res.Content[0]); res.IsError || !strings.Contains(text, step.want) {
			t.Errorf("%s: %q", step.tool, text)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// certificate makes one for 127.0.0.1.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ferrule"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	os.WriteFile(cert, text, 0o600)
	os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return cert, key, pool
}

// Over TLS, and HTTP/1 even for a client that would rather speak HTTP/2.
func TestHTTPOverTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	w := serveWeb(t, func(c *mcpserver.HTTPConfig) { c.Cert, c.Key = cert, key })
	w.file("f", "x\n")
	secure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer secure.CloseIdleConnections()
	c := w.caller(w.token()).modern("tools/call", "Read")
	r := c.request(t.Context(), "POST", strings.NewReader(modernCall(1, "Read", `{"file_path":"f"}`, "")))
	r.URL.Scheme = "https"
	res, err := secure.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got string
	messages(t, res.Body, false, func(a answer) { got, _ = a.text(t) })
	if res.ProtoMajor != 1 || res.StatusCode != 200 || got != "1\tx\n" {
		t.Errorf("%s %s %q", res.Proto, res.Status, got)
	}
	// In the clear nothing is served.
	plain, err := w.client.Do(c.request(t.Context(), "POST", strings.NewReader("{}")))
	if err == nil {
		plain.Body.Close()
		if plain.StatusCode != 400 {
			t.Errorf("in the clear: %s", plain.Status)
		}
	}
}

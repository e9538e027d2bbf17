package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

// TestHealthcheck (A101) checks servers with the options that they were started
// with. PORT is the one that the server took.
func TestHealthcheck(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir)
	files := strings.NewReplacer("SOCKET", filepath.Join(dir, "s"), "CERT", cert, "KEY", key)
	tests := []struct {
		name, in string
	}{
		{"loopback", "--listen 127.0.0.1:PORT"},
		{"name", "--listen localhost:PORT"},
		{"all interfaces", "--listen 0.0.0.0:PORT --insecure-no-auth"},
		{"no host", "--listen :PORT --insecure-no-auth"},
		{"token", "--listen 127.0.0.1:PORT --auth-token secret"},
		{"allowed host", "--listen 127.0.0.1:PORT --allowed-host mcp.example --allowed-host other.example"},
		{"allowed port", "--listen 127.0.0.1:PORT --allowed-host mcp.example:8443"},
		{"allowed ports", "--listen 127.0.0.1:PORT --allowed-host mcp.example:*"},
		{"allowed names", "--listen 127.0.0.1:PORT --allowed-host *.mcp.example:*"},
		{"allowed address", "--listen 127.0.0.1:PORT --allowed-host [::1]:*"},
		{"socket", "--listen unix:SOCKET"},
		{"socket and host", "--listen unix:SOCKET --allowed-host mcp.example"},
		{"TLS", "--listen 127.0.0.1:PORT --tls-cert CERT --tls-key KEY"},
		{"client certificates", "--listen 0.0.0.0:PORT --tls-cert CERT --tls-key KEY --tls-client-ca CERT"},
		{"other path", "--listen 127.0.0.1:PORT --path /x --public-path /tools"},
		{"old transport", "--listen 127.0.0.1:PORT --transport sse"},
		{"full", "--listen 127.0.0.1:PORT --max-connections 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := files.Replace(tt.in)
			s := startHTTP(t, cli.Env{}, strings.Fields(strings.ReplaceAll(in, "PORT", "0"))...)
			port := ""
			if !strings.HasPrefix(s.url(), "unix:") {
				var err error
				if _, port, err = net.SplitHostPort(s.address()); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"healthcheck"}, strings.Fields(strings.ReplaceAll(in, "PORT", port))...)
			if diff := cmp.Diff(result{stdout: "ok\n"}, run(t, "", args...), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("%v (-want +got)\n%s", args, diff)
			}
		})
	}
}

// TestHealthcheck_environment is the check of a container, which is started
// without options.
func TestHealthcheck_environment(t *testing.T) {
	environment := func(address string) func(string) string {
		env := map[string]string{"CLOUDG_TRANSPORT": "http", "CLOUDG_LISTEN": address, "CLOUDG_ALLOWED_HOSTS": "mcp.example other.example", "CLOUDG_AUTH_TOKENS": "secret"}
		return func(name string) string { return env[name] }
	}
	s := startHTTP(t, cli.Env{Getenv: environment("127.0.0.1:0")}, "--transport", "http")
	if got := runEnv(t, cli.Env{Args: []string{"healthcheck"}, Getenv: environment(s.address())}); got.code != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestHealthcheck_fails is about servers that are not there or not well.
func TestHealthcheck_fails(t *testing.T) {
	gone := startHTTP(t, cli.Env{}, "--listen", "127.0.0.1:0")
	address := gone.address()
	gone.end()
	ill := listenOn(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	silent := listenOn(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"nobody there", []string{"--listen", address}, "the server does not answer: "},
		{"no socket", []string{"--listen", "unix:" + filepath.Join(t.TempDir(), "s")}, "the server does not answer: "},
		{"ill", []string{"--listen", ill}, "the server is not well: it answered 500"},
		{"no TLS", []string{"--listen", ill, "--tls-cert", "a", "--tls-key", "b"}, "the server does not answer: "},
		{"silent", []string{"--listen", silent, "--within", "50ms"}, "the server does not answer: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, "", append([]string{"healthcheck"}, tt.in...)...)
			if got.code != 1 || got.stdout != "" || !strings.HasPrefix(got.stderr, "cloudg healthcheck: "+tt.want) {
				t.Errorf("got %+v, want code 1 and %s", got, tt.want)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		var stderr strings.Builder
		code := cli.Run(ctx, cli.Env{Args: []string{"healthcheck", "--listen", silent}, Stderr: &stderr})
		if code != 1 || stderr.String() != "cloudg healthcheck: interrupted: enough\n" {
			t.Errorf("got %d, %s", code, stderr.String())
		}
	})
}

// listenOn serves with the function until the end of the test and returns the
// address.
func listenOn(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handle}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return l.Addr().String()
}

// writeCertificate writes a certificate for mcp.example, which is its own
// authority and good for a client as well, and its key.
func writeCertificate(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mcp.example"}, DNSNames: []string{"mcp.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// TestHTTP_clientCertificate lets in who has a certificate, and nobody else.
func TestHTTP_clientCertificate(t *testing.T) {
	cert, key := writeCertificate(t, t.TempDir())
	s := startHTTP(t, cli.Env{}, "--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert)
	if !strings.HasPrefix(s.url(), "https://") || s.line()["auth"] != "client certificates" {
		t.Errorf("got %v", s.line())
	}
	_, port, err := net.SplitHostPort(s.address())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	authority := x509.NewCertPool()
	text, err := os.ReadFile(cert)
	if err != nil || !authority.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		certs []tls.Certificate
		want  int
	}{{"with", []tls.Certificate{pair}, 200}, {"without", nil, 401}} {
		t.Run(tt.name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: authority, ServerName: "mcp.example", Certificates: tt.certs}}}
			body, headers := list()
			req, err := http.NewRequestWithContext(t.Context(), "POST", "https://127.0.0.1:"+port+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				req.Header.Set(headers[i], headers[i+1])
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("got %s, want %d", resp.Status, tt.want)
			}
		})
	}
}

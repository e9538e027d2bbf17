package transport_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// backend returns a server without anything.
func backend(t *testing.T) *session.Server {
	t.Helper()
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: registry.New(nil)}), Info: protocol.Implementation{Name: "t", Version: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func newHandler(t *testing.T, o transport.HTTPOptions) *transport.Handler {
	t.Helper()
	o.Backend = backend(t)
	h, err := transport.NewHandler(&o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// startServer serves on real sockets until the test ends.
func startServer(t *testing.T, addresses []string, o transport.ServerOptions) []net.Listener {
	t.Helper()
	listeners, err := transport.Listen(t.Context(), addresses, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Listeners = listeners
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- transport.Serve(ctx, &o) }() // until stop; the cleanup waits for it
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return listeners
}

func TestServeTCP(t *testing.T) {
	l := startServer(t, []string{"127.0.0.1:0"}, transport.ServerOptions{Handler: newHandler(t, transport.HTTPOptions{})})
	if !transport.Loopback(l) {
		t.Error("127.0.0.1 is no loopback address")
	}
	if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: l[0].Addr().String()}); err != nil {
		t.Error(err)
	}
	if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: l[0].Addr().String(), Path: "/readyz", Host: "localhost"}); err != nil {
		t.Error(err)
	}
	if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: l[0].Addr().String(), Host: "evil.example"}); err == nil || !strings.Contains(err.Error(), "421") {
		t.Errorf("a host that is not allowed: %v", err)
	}
	if _, err := transport.Listen(t.Context(), []string{"127.0.0.1:0", l[0].Addr().String()}, nil); err == nil {
		t.Error("an address that is in use was opened again")
	}
}

func TestProbeOfEveryBind(t *testing.T) {
	for _, bind := range []string{"0.0.0.0", "", "127.0.0.1"} {
		l := startServer(t, []string{net.JoinHostPort(bind, "0")}, transport.ServerOptions{
			Handler: newHandler(t, transport.HTTPOptions{Guard: guard(t, policy.GuardOptions{})}), InsecureNoAuth: true,
		})
		_, port, _ := net.SplitHostPort(l[0].Addr().String())
		if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: net.JoinHostPort(bind, port)}); err != nil {
			t.Errorf("%q: %v", bind, err)
		}
	}
}

func TestProbeFails(t *testing.T) {
	for address, want := range map[string]string{
		"systemd":             "cannot be probed",
		"127.0.0.1":           "want HOST:PORT or unix:PATH",
		"127.0.0.1:1":         "does not answer",
		"unix:/no/such/place": "does not answer",
	} {
		if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: address, Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestA44: without authentication nobody serves other machines by accident.
func TestA44RefusesToServeEverybody(t *testing.T) {
	resolver := func(policy.RequestInfo) (*policy.Principal, error) { return nil, nil }
	tests := []struct {
		name, address string
		http          transport.HTTPOptions
		insecure      bool
		refused       bool
	}{
		{name: "every interface", address: "0.0.0.0:0", refused: true},
		{name: "no host", address: ":0", refused: true},
		{name: "IPv6 wildcard", address: "[::]:0", refused: true},
		{name: "loopback", address: "127.0.0.1:0"},
		{name: "a name of loopback", address: "localhost:0"},
		{name: "tokens", address: ":0", http: transport.HTTPOptions{Tokens: tokens(t, "x")}},
		{name: "resolver", address: ":0", http: transport.HTTPOptions{Resolver: resolver}},
		{name: "insecure", address: ":0", insecure: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			listeners, err := transport.Listen(t.Context(), []string{test.address}, nil)
			if err != nil {
				t.Skipf("this machine has no %s: %v", test.address, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err = transport.Serve(ctx, &transport.ServerOptions{Handler: newHandler(t, test.http), Listeners: listeners, InsecureNoAuth: test.insecure})
			if refused := err != nil && strings.Contains(err.Error(), "--insecure-no-auth"); refused != test.refused {
				t.Errorf("Serve: %v", err)
			}
			if _, err := listeners[0].Accept(); err == nil {
				t.Error("the listener is open")
			}
		})
	}
}

func TestServeUnix(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.sock")
	address := "unix:" + path
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	t.Run("serving", func(t *testing.T) {
		l := startServer(t, []string{address}, transport.ServerOptions{Handler: newHandler(t, transport.HTTPOptions{})})
		if !transport.Loopback(l) || l[0].Addr().String() != path {
			t.Errorf("%v", l[0].Addr())
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: address}); err != nil {
			t.Error(err)
		}
		if _, err := transport.Listen(t.Context(), []string{address}, nil); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("a second server: %v", err)
		}
	})
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transport.Listen(t.Context(), []string{address}, nil); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestListenErrors(t *testing.T) {
	none := func(string) string { return "" }
	for address, want := range map[string]string{
		"127.0.0.1": "want HOST:PORT", "unix:": "unix:PATH", "systemd": "LISTEN_FDS", "unix:/no/such/folder/s": "no such file",
	} {
		if _, err := transport.Listen(t.Context(), []string{"127.0.0.1:0", address}, none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if _, err := transport.Listen(t.Context(), nil, none); err == nil {
		t.Error("no address is no error")
	}
}

// TestInheritedSocket runs this test again in a process that inherits a socket,
// as one that systemd starts does.
func TestInheritedSocket(t *testing.T) {
	if os.Getenv("INHERIT_SOCKET") != "" {
		serveInherited(t)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Skip("this system hands over no sockets:", err)
	}
	defer file.Close()
	notifications := filepath.Join(t.TempDir(), "n")
	told, err := net.ListenPacket("unixgram", notifications)
	if err != nil {
		t.Skip("this system has no datagram sockets with names:", err)
	}
	defer told.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInheritedSocket$")
	cmd.ExtraFiles = []*os.File{file}
	cmd.Env = append(os.Environ(), "INHERIT_SOCKET=1", "LISTEN_FDS=1", "NOTIFY_SOCKET="+notifications)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		b := make([]byte, 100)
		told.SetReadDeadline(time.Now().Add(30 * time.Second))
		n, _, err := told.ReadFrom(b)
		if err != nil || string(b[:n]) != want {
			t.Errorf("told %q, %v; want %q", b[:n], err, want)
		}
		if want == "READY=1" {
			if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: l.Addr().String()}); err != nil {
				t.Error(err)
			}
			stdin.Close()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// serveInherited serves until its standard input ends.
func serveInherited(t *testing.T) {
	listeners, err := transport.Listen(t.Context(), []string{"systemd"}, func(name string) string {
		if name == "LISTEN_PID" {
			return strconv.Itoa(os.Getpid()) // which our parent could not know
		}
		return os.Getenv(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { // until the parent closes it
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := transport.Serve(ctx, &transport.ServerOptions{
		Handler: newHandler(t, transport.HTTPOptions{}), Listeners: listeners, NotifySocket: os.Getenv("NOTIFY_SOCKET"),
	}); err != nil {
		t.Error(err)
	}
}

// identity is a certificate and its key.
type identity struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate that parent, or nobody else, has signed.
func issue(t *testing.T, name string, parent *identity) *identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, Organization: []string{"Example"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
		IsCA: parent == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signer := &identity{template, key}
	if parent != nil {
		signer = parent
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.cert, &key.PublicKey, signer.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &identity{cert, key}
}

// save writes the certificate and the key as PEM.
func (id *identity) save(t *testing.T, certFile, keyFile string) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(id.key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{keyFile: {Type: "EC PRIVATE KEY", Bytes: der}, certFile: {Type: "CERTIFICATE", Bytes: id.cert.Raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServeTLS(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile, caFile := filepath.Join(folder, "cert"), filepath.Join(folder, "key"), filepath.Join(folder, "ca")
	ca := issue(t, "authority", nil)
	ca.save(t, caFile, filepath.Join(folder, "ca-key"))
	issue(t, "first", ca).save(t, certFile, keyFile)
	store := session.NewStore(nil)
	defer store.Close()
	l := startServer(t, []string{"127.0.0.1:0", "127.0.0.1:0"}, transport.ServerOptions{
		Handler:  newHandler(t, transport.HTTPOptions{Resolver: transport.CertificateResolver, Store: store}),
		CertFile: certFile, KeyFile: keyFile, ClientCAFile: caFile,
	})
	address := l[1].Addr().String()
	if err := transport.Probe(t.Context(), &transport.ProbeOptions{Address: address, TLS: true}); err != nil {
		t.Error(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	client := func(id *identity) *http.Client {
		config := &tls.Config{RootCAs: roots, ServerName: "localhost"}
		if id != nil {
			config.Certificates = []tls.Certificate{{Certificate: [][]byte{id.cert.Raw}, PrivateKey: id.key}}
		}
		tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	post := func(c *http.Client, body string, h header) *http.Response {
		t.Helper()
		req, err := http.NewRequest("POST", "https://"+address+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range usual.with(h) {
			req.Header.Set(k, v)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	if resp := post(client(nil), initialize("2025-11-25"), nil); resp.StatusCode != 401 {
		t.Errorf("without a certificate: %s", resp.Status)
	}
	ada := client(issue(t, "ada", ca))
	resp := post(ada, initialize("2025-11-25"), nil)
	readAnswer(t, resp)
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || resp.TLS.PeerCertificates[0].Subject.CommonName != "first" {
		t.Errorf("%s %s", resp.Status, resp.Proto)
	}
	h := header{"Mcp-Session-Id": resp.Header.Get("Mcp-Session-Id"), "Accept": "text/event-stream"}
	if resp := post(client(issue(t, "bob", ca)), initialized, h); resp.StatusCode != 404 {
		t.Errorf("another subject: %s", resp.Status)
	}
	// A stream over HTTP/2.
	req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+address+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range h {
		req.Header.Set(k, v)
	}
	events, err := ada.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	if line, err := bufio.NewReader(events.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: ") {
		t.Errorf("%q, %v", line, err)
	}
	// A new certificate is used for new connections.
	issue(t, "second", ca).save(t, certFile, keyFile)
	deadline := time.Now().Add(30 * time.Second)
	for name := ""; name != "second"; {
		resp := post(client(nil), "{}", nil)
		resp.Body.Close()
		name = resp.TLS.PeerCertificates[0].Subject.CommonName
		if time.Now().After(deadline) {
			t.Fatalf("the certificate is still that of %q", name)
		}
	}
	// A broken one is not.
	if err := os.WriteFile(certFile, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		resp := post(client(nil), "{}", nil)
		resp.Body.Close()
		if name := resp.TLS.PeerCertificates[0].Subject.CommonName; name != "second" {
			t.Fatalf("the certificate is that of %q", name)
		}
	}
}

func TestServeTLSErrors(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(folder, "cert"), filepath.Join(folder, "key")
	issue(t, "x", nil).save(t, cert, key)
	resolver := transport.HTTPOptions{Resolver: transport.CertificateResolver}
	tests := []struct {
		name string
		http transport.HTTPOptions
		opts transport.ServerOptions
		want string
	}{
		{"no file", transport.HTTPOptions{}, transport.ServerOptions{CertFile: filepath.Join(folder, "none"), KeyFile: key}, "none"},
		{"no key", transport.HTTPOptions{}, transport.ServerOptions{CertFile: cert}, "TLS certificate"},
		{"no certificate in the file", transport.HTTPOptions{}, transport.ServerOptions{CertFile: empty, KeyFile: key}, "TLS certificate"},
		{"authorities without TLS", resolver, transport.ServerOptions{ClientCAFile: cert}, "needs CertFile"},
		{"authorities without a resolver", transport.HTTPOptions{}, transport.ServerOptions{CertFile: cert, KeyFile: key, ClientCAFile: cert}, "CertificateResolver"},
		{"no authorities in the file", resolver, transport.ServerOptions{CertFile: cert, KeyFile: key, ClientCAFile: empty}, "no certificate in PEM"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			listeners, err := transport.Listen(t.Context(), []string{"127.0.0.1:0"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			test.opts.Handler, test.opts.Listeners = newHandler(t, test.http), listeners
			if err := transport.Serve(t.Context(), &test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// The grace for requests in flight ends at once for a user who does not want to
// wait, and by itself for one who does.
func TestServeGrace(t *testing.T) {
	for _, impatient := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			s := siteWithoutServer(t)
			ctx, stop := context.WithCancel(t.Context())
			now, served := make(chan struct{}), make(chan error, 1)
			go func() { // until stop; its result is taken below
				served <- transport.Serve(ctx, &transport.ServerOptions{
					Handler: s.handler, Listeners: []net.Listener{s.listener}, Grace: time.Minute, Now: now,
				})
			}()
			h := s.open("2025-11-25", nil)
			st := s.stream(s.request("POST", "/mcp", call("1", "wait", "{}"), h))
			st.must()
			start := time.Now()
			stop()
			if impatient {
				time.AfterFunc(10*time.Second, func() { close(now) })
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			want := time.Minute
			if impatient {
				want = 10 * time.Second
			}
			if took := time.Since(start); took < want || took > want+2*time.Second {
				t.Errorf("it took %v, want %v", took, want)
			}
			if events := st.rest(); len(events) != 1 || !strings.Contains(events[0].data, "shutting down") {
				t.Errorf("%+v", events)
			}
		})
	}
}

func TestHandlerOptions(t *testing.T) {
	b := backend(t)
	for want, o := range map[string]transport.HTTPOptions{
		"Backend":    {},
		"Path":       {Backend: b, Path: "mcp"},
		"PublicPath": {Backend: b, PublicPath: "team"},
		"HealthPath": {Backend: b, HealthPath: "healthz"},
	} {
		if _, err := transport.NewHandler(&o); err == nil || !strings.Contains(err.Error(), "HTTPOptions."+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func ExampleServe() {
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: registry.New(nil)}),
		Info:  protocol.Implementation{Name: "example", Version: "1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := transport.NewHandler(&transport.HTTPOptions{Backend: server})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listeners, err := transport.Listen(ctx, []string{"127.0.0.1:0"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() {
		served <- transport.Serve(ctx, &transport.ServerOptions{Handler: handler, Listeners: listeners})
	}()
	err = transport.Probe(ctx, &transport.ProbeOptions{Address: listeners[0].Addr().String()})
	stop()
	fmt.Println(err, <-served)
	// Output: <nil> <nil>
}

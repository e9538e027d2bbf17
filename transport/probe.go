package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// DefaultProbeTimeout is how long a probe waits for an answer.
const DefaultProbeTimeout = 5 * time.Second

// ProbeOptions says which server to ask. Address is mandatory.
type ProbeOptions struct {
	Address string        // that the server listens on, in the forms of [Listen] except "systemd"
	TLS     bool          // the server speaks TLS
	Host    string        // for the Host header, if the server allows only certain ones; empty: that of Address
	Path    string        // empty: DefaultHealthPath
	Timeout time.Duration // 0: DefaultProbeTimeout
}

// Probe asks a server on this machine whether it is well. It needs no
// credential. The certificate of the server is not verified: the probe reaches
// it by an address that the certificate need not name, sends nothing secret and
// believes nothing but that there was an answer.
func Probe(ctx context.Context, o *ProbeOptions) error {
	network, address, host, err := probeTarget(o)
	if err != nil {
		return err
	}
	timeout := o.Timeout
	setDefault(&timeout, DefaultProbeTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}
	defer transport.CloseIdleConnections()
	return probe(ctx, &http.Client{Transport: transport, CheckRedirect: noRedirect}, probeURL(o, host))
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func probeURL(o *ProbeOptions, host string) string {
	scheme, path := "http", o.Path
	if o.TLS {
		scheme = "https"
	}
	setDefault(&path, DefaultHealthPath)
	return scheme + "://" + host + path
}

func probe(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("the health path or host is not valid: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not well: it answered %s", resp.Status)
	}
	return nil
}

// probeTarget returns where to connect, and the value of the Host header.
func probeTarget(o *ProbeOptions) (network, address, host string, err error) {
	if o.Address == "systemd" {
		return "", "", "", errors.New(`the address "systemd" cannot be probed: name the one in the .socket unit`)
	}
	if path, ok := strings.CutPrefix(o.Address, "unix:"); ok {
		network, address, host = "unix", path, "localhost"
	} else {
		name, port, err := net.SplitHostPort(o.Address)
		if err != nil {
			return "", "", "", fmt.Errorf("address %q: %w: want HOST:PORT or unix:PATH", o.Address, err)
		}
		address = net.JoinHostPort(reachable(name), port)
		network, host = "tcp", address
	}
	if o.Host != "" {
		host = o.Host
	}
	return network, address, host, nil
}

// reachable returns a host by which a server can be reached that listens on
// host.
func reachable(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if ip.To4() != nil {
			return "127.0.0.1"
		}
		return "localhost"
	}
	return host
}

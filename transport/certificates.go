package transport

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateCheck is how often the files of a certificate are looked at, at
// most.
const certificateCheck = time.Second

// certificates is a certificate that is loaded again when its files change.
type certificates struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex // guards the fields below
	loaded  *tls.Certificate
	stamps  [2]stamp
	checked time.Time
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// loadCertificates loads the certificate. The error says which file is wrong.
func loadCertificates(certFile, keyFile string, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, log: log}
	c.mu.Lock()
	defer c.mu.Unlock()
	stamps, err := c.look()
	if err == nil {
		err = c.loadLocked(stamps)
	}
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	return c, nil
}

// get returns the certificate as the files have it now. One that cannot be
// loaded does not replace the one before, since files change one after the
// other.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certificateCheck {
		c.checked = now
		c.refreshLocked()
	}
	return c.loaded, nil
}

func (c *certificates) refreshLocked() {
	stamps, err := c.look()
	if err == nil && stamps == c.stamps {
		return
	}
	if err == nil {
		err = c.loadLocked(stamps)
	}
	if err != nil {
		c.log.Error("the TLS certificate was not loaded again; the one before stays in use", "error", err)
		return
	}
	c.log.Info("the TLS certificate was loaded again", "file", c.certFile)
}

func (c *certificates) loadLocked(stamps [2]stamp) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.loaded, c.stamps = &pair, stamps
	return nil
}

func (c *certificates) look() (stamps [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		var info fs.FileInfo
		if info, err = os.Stat(name); err != nil {
			return stamps, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}

// loadAuthorities loads the certificates of authorities from a PEM file.
func loadAuthorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("client authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("client authorities: %s has no certificate in PEM form", file)
	}
	return pool, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	startTries = 3 // the free ports that nginx is told may be taken meanwhile
	startLimit = 5 * time.Second
	stopLimit  = 5 * time.Second
)

// configuration is that of nginx, as a format for the address of each site and
// that of the server behind it. The first site is what nginx does when it is told
// nothing but where the server is.
const configuration = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	proxy_buffering on;
	server {
		listen %s;
		location / {
			proxy_pass http://%s;
		}
	}
	server {
		listen %s;
		location / {
			proxy_pass http://%s;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
		}
	}
}
`

// proxy is a running nginx.
type proxy struct {
	plain string // address of the site that speaks HTTP/1.0 to the server and tells it the server's own address as Host
	named string // of the one that speaks HTTP/1.1 and passes Host on

	command *exec.Cmd
	folder  string
	ended   chan struct{} // closed when the process has ended
}

// startNginx runs nginx in a folder of its own and returns once it listens.
func startNginx(ctx context.Context, server string) (*proxy, error) {
	var errs []error
	for range startTries {
		p, err := tryNginx(ctx, server)
		if err == nil {
			return p, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func tryNginx(ctx context.Context, server string) (*proxy, error) {
	folder, err := os.MkdirTemp("", "interop-nginx-")
	if err != nil {
		return nil, err
	}
	p := &proxy{folder: folder, ended: make(chan struct{})}
	p.plain, p.named, err = freeAddresses()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	text := fmt.Sprintf(configuration, p.plain, server, p.named, server)
	if err := os.WriteFile(filepath.Join(folder, "nginx.conf"), []byte(text), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	p.command = exec.Command("nginx", "-p", folder, "-c", "nginx.conf", "-e", "stderr")
	p.command.Stderr = os.Stderr
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	go func() {
		_ = p.command.Wait() // how it ended is seen in stop
		close(p.ended)
	}()
	if err := p.await(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// freeAddresses returns two addresses that nobody listens on.
func freeAddresses() (string, string, error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", errors.Join(err, first.Close())
	}
	return first.Addr().String(), second.Addr().String(), errors.Join(first.Close(), second.Close())
}

// await waits until nginx listens on both addresses.
func (p *proxy) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for _, address := range []string{p.plain, p.named} {
		for {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err == nil {
				if err := conn.Close(); err != nil {
					return err
				}
				break
			}
			select {
			case <-p.ended:
				return errors.New("nginx ended at once")
			case <-ctx.Done():
				return fmt.Errorf("nginx does not listen on %s: %w", address, err)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}

// stop ends nginx and removes its folder.
func (p *proxy) stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM) // one that has ended already needs none
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		_ = p.command.Process.Kill()
		<-p.ended
	}
	return os.RemoveAll(p.folder)
}

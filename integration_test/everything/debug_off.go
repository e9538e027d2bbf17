//go:build !benchdebug

package main

import "errors"

func serveDebug(addr string) error {
	if addr == "" {
		return nil
	}
	return errors.New("this binary was built without the tag benchdebug")
}

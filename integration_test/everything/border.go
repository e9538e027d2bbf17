package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"

	"cloudg.dev/cloudg/policy"
)

// border is who is let in over HTTP: the flags that the command of the same
// name has, too. Each may be given several times.
type border struct {
	tokens       []string
	corsOrigins  []string
	allowedHosts []string
}

func (b *border) flags(f *flag.FlagSet) {
	list := func(to *[]string) func(string) error {
		return func(v string) error { *to = append(*to, v); return nil }
	}
	f.Func("auth-token", "bearer `token` that clients over HTTP have to present: TOKEN[:ROLES[:ID]], env:VAR or file:PATH", list(&b.tokens))
	f.Func("cors-origin", "`origin` of the web pages that may read answers over HTTP", list(&b.corsOrigins))
	f.Func("allowed-host", "`name` that clients reach the server by over HTTP", list(&b.allowedHosts))
}

// policies returns what the flags ask for; without tokens everybody is served.
func (b *border) policies(loopback bool) (*policy.Guard, *policy.Tokens, error) {
	guard, err := policy.NewGuard(policy.GuardOptions{AllowedHosts: b.allowedHosts, CORSOrigins: b.corsOrigins, LoopbackBind: loopback})
	if err != nil || len(b.tokens) == 0 {
		return guard, nil, err
	}
	var list []policy.Token
	for _, spec := range b.tokens {
		t, err := policy.ParseToken(spec, os.Getenv, func(name string) (fs.File, error) { return os.Open(name) })
		if err != nil {
			return nil, nil, fmt.Errorf("-auth-token: %w", err)
		}
		list = append(list, t)
	}
	tokens, err := policy.NewTokens(list)
	return guard, tokens, err
}

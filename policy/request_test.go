package policy_test

import (
	"errors"
	"testing"

	"cloudg.dev/cloudg/policy"
	"github.com/google/go-cmp/cmp"
)

func TestResolver(t *testing.T) {
	ready := policy.NewPrincipal("alice", "admin")
	down := errors.New("directory is down")
	tests := []struct {
		name string
		p    *policy.Principal
		err  error
		want *policy.Principal // nil: an error
	}{
		{"ready", ready, nil, ready},
		{"no roles", &policy.Principal{ID: "alice"}, nil, policy.NewPrincipal("alice")},
		{"roles without default", &policy.Principal{ID: "alice", Roles: []string{"admin"}}, nil, ready},
		{"roles that are there twice", &policy.Principal{ID: "alice", Roles: []string{"admin", "admin", "default"}}, nil, ready},
		{"roles in disorder", &policy.Principal{ID: "alice", Roles: []string{"default", "admin"}}, nil, ready},
		{"error", nil, down, nil},
		{"error and principal", ready, down, nil},
		{"nothing", nil, nil, nil},
		{"no id", &policy.Principal{Roles: []string{"admin"}}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen string
			r := policy.Resolver(func(info policy.RequestInfo) (*policy.Principal, error) {
				seen = info.Header("x-user")[0]
				return tt.p, tt.err
			})
			got, err := r.Resolve(policy.RequestInfo{Header: func(name string) []string { return []string{"value of " + name} }})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("principal mismatch (-want +got):\n%s", diff)
			}
			if (err == nil) != (tt.want != nil) || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if seen != "value of x-user" {
				t.Errorf("the resolver saw %q", seen)
			}
		})
	}
}

func TestResolver_doesNotCopyWhatIsReady(t *testing.T) {
	p := policy.NewPrincipal("alice")
	got, err := policy.Resolver(func(policy.RequestInfo) (*policy.Principal, error) { return p, nil }).Resolve(policy.RequestInfo{})
	if err != nil || got != p {
		t.Errorf("Resolve = %p, %v, want %p", got, err, p)
	}
}

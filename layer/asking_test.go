package layer_test

import (
	"context"
	"errors"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// What a handler returns so that the client is asked reaches the session however
// it is wrapped, and all abilities that are missing are named at once.
func TestErrorsOfHandlersThatAsk(t *testing.T) {
	reg := registry.New(nil)
	tool := func(name string, err error) registry.Tool {
		return registry.Tool{Name: name, InputSchema: []byte(`{"type":"object"}`), Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, err
		}}
	}
	missing := errors.Join(&registry.MissingAbilityError{Missing: registry.CanSample}, registry.ErrInputRequired, &registry.MissingAbilityError{Missing: registry.CanListRoots})
	if err := reg.AddTool(tool("wrapped", registry.Failf("asking: %w", registry.ErrInputRequired)), tool("missing", missing)); err != nil {
		t.Fatal(err)
	}
	l := layer.New(&layer.Options{Registry: reg})
	r := &layer.Request{Principal: policy.Local(), Version: protocol.V20260728}
	if _, err := l.CallTool(t.Context(), r, []byte(`"wrapped"`), nil); !errors.Is(err, registry.ErrInputRequired) {
		t.Errorf("wrapped: %v, want ErrInputRequired", err)
	}
	_, err := l.CallTool(t.Context(), r, []byte(`"missing"`), nil)
	var wire *protocol.Error
	if !errors.As(err, &wire) || wire.Code != protocol.CodeMissingCapability {
		t.Fatalf("missing: %v, want code %d", err, protocol.CodeMissingCapability)
	}
	if want := `{"requiredCapabilities":{"sampling":{},"roots":{}}}`; string(wire.Data) != want {
		t.Errorf("data %s, want %s", wire.Data, want)
	}
}

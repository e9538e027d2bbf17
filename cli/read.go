package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// read prints what a resource holds, byte for byte.
func (inv *invocation) read(ctx context.Context) (err error) {
	c, err := inv.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	raw, err := c.request(ctx, protocol.MethodResourcesRead, jsonwire.AppendQuote([]byte(`"uri":`), inv.operands[0]))
	if err != nil {
		return err
	}
	var res struct{ Contents []resourceContents }
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	for _, part := range res.Contents {
		inv.out.WriteString(part.Text)
		inv.out.Write(part.Blob)
	}
	return nil
}

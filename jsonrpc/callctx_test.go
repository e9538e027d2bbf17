package jsonrpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// What ended a context first stays its end, whenever somebody looks, and nothing
// is left that would fire later.
func TestCallContextEndsOnce(t *testing.T) {
	overtime := errors.New("too late")
	synctest.Test(t, func(t *testing.T) {
		base, stop := context.WithCancel(t.Context())
		defer stop()
		var c jsonrpc.CallContext
		c.Derive(base)
		if !c.Limit(time.Second, overtime) {
			t.Fatal("it is too late for a limit")
		}
		c.Cancel(jsonrpc.ErrCancelled)
		time.Sleep(time.Minute)
		if c.Err() != context.Canceled || context.Cause(&c) != jsonrpc.ErrCancelled || c.Err() != context.Canceled {
			t.Errorf("cancelled, it ended by %v because of %v", c.Err(), context.Cause(&c))
		}
		if _, ok := c.Deadline(); ok {
			t.Error("cancelled, it has a deadline still, and so a timer")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var c jsonrpc.CallContext
		c.Derive(t.Context())
		c.Limit(time.Second, overtime)
		<-c.Done()
		c.Cancel(jsonrpc.ErrCancelled)
		if c.Err() != context.DeadlineExceeded || context.Cause(&c) != overtime {
			t.Errorf("its time over, it ended by %v because of %v", c.Err(), context.Cause(&c))
		}
	})
}

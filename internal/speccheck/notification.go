package speccheck

import (
	"encoding/json"
	"errors"
	"fmt"

	"cloudg.dev/cloudg/protocol"
)

// notificationLocked judges a notification of the server. It belongs to a
// request, to a listen, or to the session.
func (c *Checker) notificationLocked(raw []byte, m object) error {
	method, params := text(m["method"]), members(m["params"])
	subscription := string(members(params["_meta"])[protocol.MetaSubscriptionID])
	if method == protocol.NotifyTasks {
		if err := c.subscriptionLocked(method, subscription); err != nil {
			return err
		}
		return c.spec.ValidateTasks("TaskStatusNotification", raw)
	}
	name := notificationDefinition(method)
	if name == "" {
		return fmt.Errorf("notification %q, which no server sends", method)
	}
	var modern bool
	var err error
	switch {
	case method == protocol.NotifyProgress:
		modern, err = c.progressLocked(params)
	case method == protocol.NotifyMessage:
		modern, err = c.logLocked()
	case method == protocol.NotifyCancelled:
		err = c.cancelledLocked(params)
	case subscription != "":
		modern, err = true, c.subscriptionLocked(method, subscription)
	case method == protocol.NotifyAcknowledged:
		err = errors.New("an acknowledgement without subscription id")
	case !c.ready:
		err = fmt.Errorf("%s before the session is ready", method)
	}
	if err != nil {
		return err
	}
	v := c.versionLocked(modern)
	if err := c.spec.Validate(v, "JSONRPCNotification", raw); err != nil {
		return err
	}
	return c.spec.Validate(v, name, raw)
}

// progressLocked checks progress against the request that it belongs to. What
// crosses a cancellation on the way is in order.
func (c *Checker) progressLocked(params object) (modern bool, err error) {
	token := string(params["progressToken"])
	r := c.findLocked(func(r *request) bool { return r.token == token && token != "" })
	if r == nil {
		return false, fmt.Errorf("progress for token %s, which no request in flight has", token)
	}
	var progress float64
	if err := json.Unmarshal(params["progress"], &progress); err != nil {
		return false, err
	}
	if r.progress != nil && progress <= *r.progress {
		return false, fmt.Errorf("progress %v after %v", progress, *r.progress)
	}
	r.progress = &progress
	return r.modern, nil
}

// logLocked checks that somebody wants log messages. Which request a message
// belongs to cannot be told on a stream that all share.
func (c *Checker) logLocked() (modern bool, err error) {
	if c.negotiated != protocol.Unknown && c.findLocked(func(r *request) bool { return !r.modern }) != nil {
		return false, nil
	}
	if c.findLocked(func(r *request) bool { return r.modern && r.logs }) != nil {
		return true, nil
	}
	return false, errors.New("a log message although no request in flight asked for any")
}

// subscriptionLocked checks a message of a listen: the acknowledgement is the
// first, and comes once.
func (c *Checker) subscriptionLocked(method, id string) error {
	r := c.findLocked(func(r *request) bool { return r.id == id && r.method == protocol.MethodListen })
	switch {
	case r == nil:
		return fmt.Errorf("a notification for subscription %s, which is not open", id)
	case r.listening == (method == protocol.NotifyAcknowledged):
		return fmt.Errorf("%s is out of order in subscription %s", method, id)
	}
	r.listening = true
	return nil
}

// findLocked returns a request in flight for which ok is true, or nil.
func (c *Checker) findLocked(ok func(*request) bool) *request {
	for _, open := range c.requests {
		for _, r := range open {
			if ok(r) {
				return r
			}
		}
	}
	return nil
}

func notificationDefinition(method string) string {
	switch method {
	case protocol.NotifyProgress:
		return "ProgressNotification"
	case protocol.NotifyMessage:
		return "LoggingMessageNotification"
	case protocol.NotifyCancelled:
		return "CancelledNotification"
	case protocol.NotifyToolsListChanged:
		return "ToolListChangedNotification"
	case protocol.NotifyPromptsListChanged:
		return "PromptListChangedNotification"
	case protocol.NotifyResourcesListChanged:
		return "ResourceListChangedNotification"
	case protocol.NotifyResourceUpdated:
		return "ResourceUpdatedNotification"
	case protocol.NotifyAcknowledged:
		return "SubscriptionsAcknowledgedNotification"
	}
	return ""
}

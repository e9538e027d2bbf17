package steps

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Interaction is a step in which a tool asks the client for something.
type Interaction struct {
	Step   string
	Tool   string // takes no arguments
	Action string // what the user does with the form: accept, decline or cancel
	Want   string // text of the result
}

// Interactions returns these steps in order. The tools are the same in both eras.
func Interactions() []Interaction {
	const tool = "test_input_required_result_"
	return []Interaction{
		{"elicit-accept", tool + "elicitation", "accept", "Hello, Ada!"},
		{"elicit-decline", tool + "elicitation", "decline", "No name was given (decline)."},
		{"elicit-cancel", tool + "elicitation", "cancel", "No name was given (cancel)."},
		{"sample", tool + "sampling", "accept", "The model says: Paris"},
		{"roots", tool + "list_roots", "accept", "2 roots"},
		{"rounds", tool + "multi_round", "accept", "Ada likes green."},
		{"together", tool + "multiple_inputs", "accept", "Hello, Ada; 2 roots"},
	}
}

// Roots returns the URIs of the roots that the client has.
func Roots() []string { return []string{"file:///first", "file:///second"} }

// User is the user of a client, who does with a form what the step that runs is
// about.
type User struct{ action atomic.Value }

// Interact runs all interactions as steps. call calls a tool without arguments
// and returns the text of its result.
func (u *User) Interact(ctx context.Context, report *Report, call func(ctx context.Context, tool string) (string, error)) {
	for _, i := range Interactions() {
		report.Step(ctx, i.Step, func(ctx context.Context) error {
			u.action.Store(i.Action)
			got, err := call(ctx, i.Tool)
			if err != nil {
				return err
			}
			return Equal("text of "+i.Tool, got, i.Want)
		})
	}
}

// Fill returns what the user does with a form, and its content when that is to
// accept it.
func (u *User) Fill(message string) (action string, content map[string]any, err error) {
	action, _ = u.action.Load().(string)
	if action != "accept" {
		return action, nil, nil
	}
	switch message {
	case "What is your name?":
		return action, map[string]any{"name": "Ada"}, nil
	case "What is your favourite colour?":
		return action, map[string]any{"color": "green"}, nil
	default:
		return "", nil, fmt.Errorf("the form says %q, which no step is about", message)
	}
}

// Sample returns what the model of the client answers.
func Sample(prompt string) (string, error) {
	switch prompt {
	case "What is the capital of France?":
		return "Paris", nil
	case "Write a greeting.":
		return "Hello", nil
	default:
		return "", fmt.Errorf("the prompt is %q, which no step is about", prompt)
	}
}

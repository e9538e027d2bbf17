package catalog

import (
	"context"
	"slices"
	"strings"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// addDiagnose registers the prompt about the machine.
func (c *Catalog) addDiagnose(r *registrar) {
	const name = "diagnose_host"
	r.prompt(registry.Prompt{
		Name: name, Title: "Diagnose this machine",
		Description: "Find out what is wrong with the machine the server runs on, or that nothing is.",
		Arguments: []registry.PromptArgument{{
			Name: "focus", Title: "Focus", Description: "What to look at: cpu, memory, disk or network. Everything when left out.",
			Complete: oneOf(focuses()...),
		}},
		Category: CategoryHost, Sensitivity: policy.Public,
		Handler: func(_ context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
			focus := call.Strings["focus"]
			if focus != "" && !slices.Contains(focuses(), focus) {
				return nil, registry.Failf("focus: want one of %s, or nothing for everything", strings.Join(focuses(), ", "))
			}
			return c.expand(call, name, diagnosis(focus))
		},
	})
}

func focuses() []string { return []string{"cpu", "memory", "disk", "network"} }

// diagnosis is the guide for one focus, or for all if there is none.
func diagnosis(focus string) *guide {
	g := &guide{
		description: "How to diagnose this machine",
		task:        "Find out how the machine that this server runs on is doing, and what is wrong with it if anything is.",
		report: "Then report: one sentence with the verdict first, then each problem with the figures that show it and its likely cause, then what to do about it, the most urgent first. " +
			"Say what could not be read; the notes in the results tell. Claim nothing that no result shows.",
	}
	if focus != "" {
		g.task += " Look at the " + focus + " above all."
	}
	g.steps = append(g.steps, step{"host_status", nil,
		"compare the load with the number of processors, look for little available memory and for swap in use, for disks with more than 85 percent of their space or inodes used, and for limits of the control group that are close."})
	for _, s := range []struct {
		focus string
		step
	}{
		{"cpu", step{"list_processes", args{"sort": "cpu", "limit": 15}, "see which processes use the processors. cpu_percent is an average over the life of a process, so call it again and compare cpu_seconds to see the present."}},
		{"memory", step{"list_processes", args{"sort": "memory", "limit": 15}, "see which processes hold the memory, and compare their sum with what is in use."}},
		{"disk", step{"find_files", args{"kind": "file", "sort": "size", "limit": 20}, "if a disk is filling up, see which files are the largest in the allowed directory that lies on it, and which of them grew lately."}},
		{"network", step{"list_interfaces", nil, "look for links that are down although they should be up, and for errors and drops; call it again to see whether they grow."}},
		{"network", step{"list_listeners", args{"limit": 200}, "see which services listen and on which addresses, and whether one is missing or open to more than it should be."}},
	} {
		if focus == "" || focus == s.focus {
			g.steps = append(g.steps, s.step)
		}
	}
	return g
}

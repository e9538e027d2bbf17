package catalog

import (
	"context"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/host"
)

// pageOutput bounds a page of a listing in bytes. It is beyond what the bounds
// of the arguments allow for all but absurdly long names, so that a page that a
// schema permits is not refused for its size.
const pageOutput = 4 << 20

// hostTool is what the tools about the machine have in common.
func hostTool(name, title, description string, s policy.Sensitivity) registry.Tool {
	return registry.Tool{
		Name: name, Title: title, Description: description,
		Category: CategoryHost, Sensitivity: s, Capabilities: policy.ReadState, MaxOutput: pageOutput,
	}
}

// addHost registers the category host.
func (c *Catalog) addHost(r *registrar) {
	r.tool(registry.Typed(hostTool("host_status", "Host status",
		"State of the machine this server runs on: operating system and kernel, uptime, load, processors, memory, swap, disks, and the limits of the container or control group. "+
			"Start here when something is slow, full or out of memory; then list_processes says which process it is. "+
			"Sizes are bytes. A fact that could not be read is absent, and the notes say why.",
		policy.Internal), operation(c.host.Status)))
	r.tool(registry.Typed(hostTool("list_processes", "Processes",
		"Running processes with owner, state, command line, memory, threads and processor time, sorted and filtered, 50 to a page unless limit says otherwise. "+
			"Use it to find what uses the processor (sort cpu) or the memory (sort memory), or whether a program runs (filter). "+
			"For which process listens on a port use list_listeners. cpu_percent is the average since the process started, not the load of this moment. "+
			"Values on command lines that look secret are [redacted]. More pages: call again with offset set to next_offset.",
		policy.Confidential), operation(c.host.Processes)))
	r.tool(registry.Typed(hostTool("list_listeners", "Listening sockets",
		"Sockets that wait for peers (TCP and Unix sockets that listen, UDP sockets with an address), with the processes that hold them where that may be seen, 50 to a page unless limit says otherwise. "+
			"Use it to find what occupies a port, or whether a service is up. Established connections are not listed. "+
			"incomplete is true when owners could not be read for lack of rights. More pages: call again with offset set to next_offset.",
		policy.Confidential), operation(c.host.Listeners)))
	r.tool(registry.Typed(hostTool("list_interfaces", "Network interfaces",
		"Network interfaces of the machine with addresses, state, speed, and counters of bytes, packets, errors and drops since the interface was made. "+
			"Use it for the addresses of the machine or to see whether a link loses packets: call it twice and compare the counters. "+
			"It reaches no other machine, so it says nothing about whether the network beyond works.",
		policy.Internal), operation(func(ctx context.Context, _ nothing) (host.InterfaceList, error) { return c.host.Interfaces(ctx) })))
	c.addDiagnose(r)
}

// nothing is the arguments of a tool that takes none.
type nothing struct{}

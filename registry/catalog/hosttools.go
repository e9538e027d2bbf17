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
		policy.Confidential), operation(c.processes)))
	r.tool(registry.Typed(hostTool("list_listeners", "Listening sockets",
		"Sockets that wait for peers (TCP and Unix sockets that listen, UDP sockets with an address), with the processes that hold them where that may be seen, 50 to a page unless limit says otherwise. "+
			"Use it to find what occupies a port, or whether a service is up. Established connections are not listed. "+
			"incomplete is true when owners could not be read for lack of rights. More pages: call again with offset set to next_offset.",
		policy.Confidential), operation(c.listeners)))
	r.tool(registry.Typed(hostTool("list_interfaces", "Network interfaces",
		"Network interfaces of the machine with addresses, state, speed, and counters of bytes, packets, errors and drops since the interface was made. "+
			"Use it for the addresses of the machine or to see whether a link loses packets: call it twice and compare the counters. "+
			"It reaches no other machine, so it says nothing about whether the network beyond works.",
		policy.Internal), operation(func(ctx context.Context, _ nothing) (host.InterfaceList, error) { return c.host.Interfaces(ctx) })))
	c.addDiagnose(r)
}

// nothing is the arguments of a tool that takes none.
type nothing struct{}

// processQuery is a [host.ProcessQuery] as a model sees it.
type processQuery struct {
	Sort   string `json:"sort,omitempty" jsonschema:"description=Order: cpu or memory (highest first)\\, pid\\, name\\, start (newest first),enum=cpu|memory|pid|name|start,default=cpu"`
	Filter string `json:"filter,omitempty" jsonschema:"description=RE2 expression that is searched for in the name and the command line as shown; letter case does not matter,maxLength=512"`
	User   string `json:"user,omitempty" jsonschema:"description=Only processes of this user (name or numeric id)"`
	Limit  int    `json:"limit,omitempty" jsonschema:"description=Most processes to return,minimum=1,maximum=1000,default=50"`
	Offset int    `json:"offset,omitempty" jsonschema:"description=How many to skip: next_offset of the answer before,minimum=0,default=0"`
}

func (c *Catalog) processes(ctx context.Context, q processQuery) (host.ProcessList, error) {
	return c.host.Processes(ctx, host.ProcessQuery(q))
}

// listenerQuery is a [host.ListenerQuery] as a model sees it.
type listenerQuery struct {
	Protocol string `json:"protocol,omitempty" jsonschema:"description=Only tcp or udp (IPv4 and IPv6 alike) or unix; all when left out,enum=tcp|udp|unix"`
	Port     int    `json:"port,omitempty" jsonschema:"description=Only this port,minimum=1,maximum=65535"`
	Limit    int    `json:"limit,omitempty" jsonschema:"description=Most sockets to return,minimum=1,maximum=1000,default=50"`
	Offset   int    `json:"offset,omitempty" jsonschema:"description=How many to skip: next_offset of the answer before,minimum=0,default=0"`
}

// listenerList is a [host.ListenerList] as a model sees it.
type listenerList struct {
	Matched    int        `json:"matched" jsonschema:"description=Sockets that fit,minimum=0"`
	NextOffset int        `json:"next_offset,omitempty" jsonschema:"description=Offset of the next page; absent on the last one"`
	Incomplete bool       `json:"incomplete" jsonschema:"description=Whether a socket here has no known owner because this program may not see the open files of every process"`
	Listeners  []listener `json:"listeners" jsonschema:"description=This page"`
	Notes      []string   `json:"notes" jsonschema:"description=What could not be read and why"`
}

// listener is a [host.Listener] as a model sees it.
type listener struct {
	Protocol   string       `json:"protocol" jsonschema:"description=Protocol and address family,enum=tcp|tcp6|udp|udp6|unix"`
	Type       string       `json:"type" jsonschema:"description=Type of the socket,enum=stream|datagram|seqpacket"`
	Address    string       `json:"address" jsonschema:"description=Local IP address or path; a path that starts with @ is abstract and an empty one unnamed"`
	Port       int          `json:"port,omitempty" jsonschema:"description=Local port; absent for unix,minimum=1,maximum=65535"`
	State      string       `json:"state" jsonschema:"description=listening or unconnected (datagrams),enum=listening|unconnected"`
	Inode      uint64       `json:"inode" jsonschema:"description=Number of the socket"`
	UID        *uint32      `json:"uid,omitempty" jsonschema:"description=User id of who made it; not told for unix,minimum=0"`
	User       string       `json:"user,omitempty" jsonschema:"description=Name of that user; the id when it has no name here"`
	Owners     []host.Owner `json:"owners" jsonschema:"description=Processes that hold it open (at most 16) by id; empty when they are not known"`
	OwnerCount int          `json:"owner_count" jsonschema:"description=Processes that hold it open,minimum=0"`
}

func (c *Catalog) listeners(ctx context.Context, q listenerQuery) (listenerList, error) {
	got, err := c.host.Listeners(ctx, host.ListenerQuery(q))
	if err != nil {
		return listenerList{}, err
	}
	out := listenerList{
		Matched: got.Matched, NextOffset: got.NextOffset, Incomplete: got.Incomplete,
		Listeners: make([]listener, len(got.Listeners)), Notes: got.Notes,
	}
	for i, l := range got.Listeners {
		out.Listeners[i] = listener(l)
	}
	return out, nil
}

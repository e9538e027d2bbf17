package host

import (
	"cmp"
	"context"
	"slices"
)

// ListenerQuery says which sockets [Host.Listeners] tells about.
type ListenerQuery struct {
	Protocol string `json:"protocol,omitempty" jsonschema:"description=Only tcp or udp (IPv4 and IPv6) or unix; all when absent,enum=tcp|udp|unix"`
	Port     int    `json:"port,omitempty" jsonschema:"description=Only this port,minimum=1,maximum=65535"`
	Limit    int    `json:"limit,omitempty" jsonschema:"description=Most sockets to return,minimum=1,maximum=1000,default=50"`
	Offset   int    `json:"offset,omitempty" jsonschema:"description=How many to skip; next_offset of an earlier answer,minimum=0"`
}

// ListenerList is a page of sockets: TCP, then UDP, then Unix, by port or path.
type ListenerList struct {
	Matched    int        `json:"matched" jsonschema:"description=Sockets that fit,minimum=0"`
	NextOffset int        `json:"next_offset,omitempty" jsonschema:"description=Offset of the next page; absent on the last one"`
	Incomplete bool       `json:"incomplete" jsonschema:"description=True when a socket here has no known owner and this program may not see the open files of every process"`
	Listeners  []Listener `json:"listeners" jsonschema:"description=This page"`
	Notes      []string   `json:"notes" jsonschema:"description=What could not be read and why"`
}

// Listener is a socket that waits for peers: TCP and Unix sockets that listen, and
// UDP and Unix datagram sockets with an address and no peer.
type Listener struct {
	Protocol   string  `json:"protocol" jsonschema:"description=tcp or tcp6 or udp or udp6 or unix,enum=tcp|tcp6|udp|udp6|unix"`
	Type       string  `json:"type" jsonschema:"description=stream or datagram or seqpacket,enum=stream|datagram|seqpacket"`
	Address    string  `json:"address" jsonschema:"description=Local IP address or path; a path that starts with @ is abstract and empty is unnamed"`
	Port       int     `json:"port,omitempty" jsonschema:"description=Local port; absent for unix,minimum=1,maximum=65535"`
	State      string  `json:"state" jsonschema:"description=listening or unconnected (datagrams),enum=listening|unconnected"`
	Inode      uint64  `json:"inode" jsonschema:"description=Number of the socket"`
	UID        *uint32 `json:"uid,omitempty" jsonschema:"description=User id of who made it; not told for unix,minimum=0"`
	User       string  `json:"user,omitempty" jsonschema:"description=Name of that user; the id when it has no name here"`
	Owners     []Owner `json:"owners" jsonschema:"description=Processes that hold it open (at most 16) by id; empty when they are not known"`
	OwnerCount int     `json:"owner_count" jsonschema:"description=Processes that hold it open,minimum=0"`
}

// Owner is a process that holds a socket open.
type Owner struct {
	PID  int    `json:"pid" jsonschema:"description=Process id,minimum=1"`
	Name string `json:"name" jsonschema:"description=Short name the kernel keeps"`
}

// Listeners lists the sockets that wait for peers, in the network namespace of this
// process, and who holds them. It fails when ctx ends, on a query that makes no
// sense ([*QueryError]) and without procfs ([errors.ErrUnsupported]).
func (h *Host) Listeners(ctx context.Context, q ListenerQuery) (ListenerList, error) {
	if !h.src.hasProcfs() {
		return ListenerList{}, unsupported("listing listeners")
	}
	limit, err := q.check()
	if err != nil {
		return ListenerList{}, err
	}
	s := h.survey()
	var found []Listener
	for _, t := range tables(q) {
		if found, err = s.sockets(ctx, t, q.Port, found); err != nil {
			return ListenerList{}, err
		}
	}
	slices.SortStableFunc(found, compareListeners)
	list := ListenerList{Matched: len(found), Listeners: []Listener{}}
	page, next := cut(found, q.Offset, limit)
	list.NextOffset = next
	list.Listeners = append(list.Listeners, page...)
	s.nameUsers(list.Listeners)
	if list.Incomplete, err = s.findOwners(ctx, list.Listeners); err != nil {
		return ListenerList{}, err
	}
	list.Notes = s.notes
	return list, nil
}

func (q ListenerQuery) check() (limit int, err error) {
	switch q.Protocol {
	case "", "tcp", "udp", "unix":
	default:
		return 0, &QueryError{"protocol", "use tcp, udp or unix, or leave it out"}
	}
	if q.Port < 0 || q.Port > 65535 {
		return 0, &QueryError{"port", "use 1 to 65535"}
	}
	if q.Port > 0 && q.Protocol == "unix" {
		return 0, &QueryError{"port", "unix sockets have none; leave it out or use another protocol"}
	}
	return checkPage(q.Limit, q.Offset)
}

func compareListeners(a, b Listener) int {
	return cmp.Or(
		cmp.Compare(protocolRank(a.Protocol), protocolRank(b.Protocol)),
		cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Address, b.Address),
		cmp.Compare(a.Inode, b.Inode),
	)
}

func protocolRank(protocol string) int {
	return slices.Index([]string{"tcp", "tcp6", "udp", "udp6", "unix"}, protocol)
}

func (s *survey) nameUsers(page []Listener) {
	var names users
	for i := range page {
		if page[i].UID == nil {
			continue
		}
		if names == nil {
			if names = s.users(); names == nil {
				names = users{} // noted once
			}
		}
		page[i].User = names.name(*page[i].UID)
	}
}

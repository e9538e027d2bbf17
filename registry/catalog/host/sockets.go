package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"net/netip"
)

// maxListeners bounds the sockets one survey keeps.
const maxListeners = 65_536

// table is one of the kernel's tables of sockets.
type table struct {
	protocol string
	parse    func(line []byte) (Listener, verdict)
}

// verdict is what a line of a table turned out to be.
type verdict int

const (
	malformed verdict = iota
	connected         // a socket with a peer, or one that nobody can reach
	waiting           // a socket that waits for peers
)

// tables are those that a query needs.
func tables(q ListenerQuery) []table {
	inet := func(protocol, kind string, state uint64) table {
		return table{protocol, func(line []byte) (Listener, verdict) {
			return parseInet(line, protocol, kind, state)
		}}
	}
	var out []table
	if q.Protocol == "" || q.Protocol == "tcp" {
		out = append(out, inet("tcp", "stream", stateListen), inet("tcp6", "stream", stateListen))
	}
	if q.Protocol == "" || q.Protocol == "udp" {
		out = append(out, inet("udp", "datagram", stateClose), inet("udp6", "datagram", stateClose))
	}
	if q.Protocol == "unix" || q.Protocol == "" && q.Port == 0 {
		out = append(out, table{"unix", parseUnix})
	}
	return out
}

// States of /proc/net/tcp; UDP uses the latter for sockets without a peer.
const (
	stateClose  = 0x07
	stateListen = 0x0A
)

// sockets appends the waiting sockets of a table. A kernel without IPv6 has no
// table for it, which is not worth a note.
func (s *survey) sockets(ctx context.Context, t table, port int, found []Listener) ([]Listener, error) {
	bad, header := 0, true
	err := eachLine(ctx, s.src.proc("net/"+t.protocol), func(line []byte) error {
		if header {
			header = false
			return nil
		}
		l, v := t.parse(line)
		switch {
		case v == malformed:
			bad++
		case v == connected || port > 0 && l.Port != port:
		case len(found) == maxListeners:
			s.note("listeners: only %d were looked at", maxListeners)
			return errStop
		default:
			found = append(found, l)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	absent := errors.Is(err, fs.ErrNotExist) && (t.protocol == "tcp6" || t.protocol == "udp6")
	if err != nil && !absent {
		s.note("listeners: /proc/net/%s: %v", t.protocol, cause(err))
	}
	if bad > 0 {
		s.note("listeners: %d lines of /proc/net/%s are malformed", bad, t.protocol)
	}
	return found, nil
}

// parseInet reads a line of /proc/net/tcp and its kin:
//
//	sl: local remote state queues timer retransmissions uid timeout inode …
func parseInet(line []byte, protocol, kind string, wanted uint64) (Listener, verdict) {
	slot, rest := nextField(line)
	local, rest := nextField(rest)
	remote, rest := nextField(rest)
	state, rest := nextField(rest)
	uid, rest := nextField(skipFields(rest, 3))
	inode, _ := nextField(skipFields(rest, 1))

	index, colon := bytes.CutSuffix(slot, []byte(":"))
	_, okSlot := parseUint(index)
	addr, okAddr := parseAddrPort(local)
	peer, okPeer := parseAddrPort(remote)
	st, okState := parseHex(state)
	owner, okUID := parseUID(uid)
	number, okInode := parseUint(inode)
	is6 := protocol == "tcp6" || protocol == "udp6"
	if !colon || !okSlot || !okAddr || !okPeer || !okState || !okUID || !okInode || is6 != addr.Addr().Is6() {
		return Listener{}, malformed
	}
	if st != wanted || peer.Port() != 0 || addr.Port() == 0 {
		return Listener{}, connected
	}
	l := Listener{
		Protocol: protocol,
		Type:     kind,
		Address:  addr.Addr().String(),
		Port:     int(addr.Port()),
		State:    "listening",
		Inode:    number,
		UID:      ptr(owner),
		Owners:   []Owner{},
	}
	if kind == "datagram" {
		l.State = "unconnected"
	}
	return l, waiting
}

// parseAddrPort reads "0100007F:1F90": an address as the kernel has it in memory,
// printed word by word in the machine's own byte order, and a port.
func parseAddrPort(b []byte) (netip.AddrPort, bool) {
	host, port, ok := bytes.Cut(b, []byte(":"))
	if !ok || len(port) != 4 || len(host) != 8 && len(host) != 32 {
		return netip.AddrPort{}, false
	}
	var raw [16]byte
	for i := 0; i < len(host); i += 8 {
		word, ok := parseHex(host[i : i+8])
		if !ok {
			return netip.AddrPort{}, false
		}
		binary.NativeEndian.PutUint32(raw[i/2:], uint32(word))
	}
	number, ok := parseHex(port)
	addr, _ := netip.AddrFromSlice(raw[:len(host)/2])
	return netip.AddrPortFrom(addr, uint16(number)), ok
}

// Flags, types and states of /proc/net/unix.
const (
	unixAccepts     = 0x10000 // __SO_ACCEPTCON: it listens
	unixUnconnected = 1
)

// parseUnix reads a line of /proc/net/unix:
//
//	address: references protocol flags type state inode [path]
func parseUnix(line []byte) (Listener, verdict) {
	slot, rest := nextField(line)
	flags, rest := nextField(skipFields(rest, 2))
	kind, rest := nextField(rest)
	state, rest := nextField(rest)
	inode, rest := nextField(rest)

	flagBits, okFlags := parseHex(flags)
	kindNumber, okKind := parseHex(kind)
	stateNumber, okState := parseHex(state)
	number, okInode := parseUint(inode)
	if !bytes.HasSuffix(slot, []byte(":")) || !okFlags || !okKind || !okState || !okInode {
		return Listener{}, malformed
	}
	path := bytes.TrimPrefix(rest, []byte(" ")) // a path may begin with a blank of its own
	l := Listener{
		Protocol: "unix",
		Type:     unixType(kindNumber),
		Address:  text(path),
		State:    "listening",
		Inode:    number,
		Owners:   []Owner{},
	}
	switch {
	case l.Type == "":
		return Listener{}, malformed
	case flagBits&unixAccepts != 0:
		return l, waiting
	case l.Type == "datagram" && stateNumber == unixUnconnected && len(path) > 0:
		l.State = "unconnected"
		return l, waiting
	}
	return Listener{}, connected
}

func unixType(n uint64) string {
	switch n {
	case 1:
		return "stream"
	case 2:
		return "datagram"
	case 5:
		return "seqpacket"
	}
	return ""
}

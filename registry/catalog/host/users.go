package host

import (
	"bytes"
	"math"
	"strconv"
)

const maxUsers = 65_536

// users are the names of the local user database by id. Users of a directory
// service are not in it; they are shown by id.
type users map[uint32]string

// users reads /etc/passwd. Without it everybody has a number.
func (s *survey) users() users {
	b, err := s.read(s.src.root("etc/passwd"), maxStatFile)
	if err != nil {
		s.note("user names: /etc/passwd: %v", cause(err))
		return nil
	}
	names := make(users)
	for line := range bytes.Lines(b) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		_, rest, _ = bytes.Cut(rest, []byte(":"))
		id, _, ok := bytes.Cut(rest, []byte(":"))
		uid, isID := parseUID(id)
		if !ok || !isID || len(name) == 0 || name[0] == '#' {
			continue
		}
		if _, taken := names[uid]; !taken && len(names) < maxUsers {
			names[uid] = text(name) // the first name of an id is the one shown
		}
	}
	return names
}

// name is the name of a user, or the id in digits.
func (u users) name(uid uint32) string {
	if name, ok := u[uid]; ok {
		return name
	}
	return strconv.FormatUint(uint64(uid), 10)
}

// find looks a name up; digits are an id.
func (u users) find(name string) (uint32, bool) {
	if uid, ok := parseUID([]byte(name)); ok {
		return uid, true
	}
	for uid, n := range u {
		if n == name {
			return uid, true
		}
	}
	return 0, false
}

// parseUID reads an id; the topmost value means "nobody at all" to the kernel.
func parseUID(b []byte) (uint32, bool) {
	v, ok := parseUint(b)
	return uint32(v), ok && v < math.MaxUint32
}

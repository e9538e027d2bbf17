// Package sse takes event streams apart.
package sse

import "bytes"

// Splitter finds the events of a stream that arrives in pieces of any size. The
// zero value is ready.
type Splitter struct {
	line []byte   // of which the end has not come yet
	data [][]byte // lines of the event whose end has not come yet
}

// Add takes the next piece and returns the data of the events that it completes.
// Events without data, which only carry an id, are left out.
func (s *Splitter) Add(piece []byte) [][]byte {
	var events [][]byte
	s.line = append(s.line, piece...)
	for {
		line, rest, whole := bytes.Cut(s.line, []byte("\n"))
		if !whole {
			return events
		}
		s.line = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch data, isData := bytes.CutPrefix(line, []byte("data:")); {
		case isData:
			s.data = append(s.data, bytes.Clone(bytes.TrimPrefix(data, []byte(" "))))
		case len(line) == 0:
			if event := bytes.Join(s.data, []byte("\n")); len(event) > 0 {
				events = append(events, event)
			}
			s.data = nil
		}
	}
}

// Open reports whether the stream broke off within an event.
func (s *Splitter) Open() bool {
	return len(s.line) > 0 || len(s.data) > 0
}

package transporttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloudg.dev/cloudg/jsonrpc"
)

type rule struct {
	name  string
	text  string
	check func(*pair) error
	needs func(*Options) bool // nil: always tested
}

// rules returns the rules of the package comment.
func rules() []rule {
	return []rule{
		{name: "frames arrive", text: "frames must arrive as they were sent, in order, and not be changed afterwards", check: framesArrive},
		{name: "too long", text: "a frame that is too long must give a FrameError and leave the others alone", check: tooLong,
			needs: func(o *Options) bool { return o.TooLong != nil }},
		{name: "end", text: "after the end every Read must give io.EOF while writing still works", check: endOfStream},
		{name: "buffered", text: "while Buffered reports true, Read must not wait", check: buffered},
		{name: "done context", text: "a Read that begins when its context has ended must fail and lose nothing", check: doneContext},
		{name: "several frames", text: "a Write of several frames must arrive as these frames", check: severalFrames},
		{name: "write keeps nothing", text: "Write must neither change what it is given nor keep it", check: writeKeepsNothing},
		{name: "both ways", text: "one goroutine must be able to read while another writes", check: bothWays},
		{name: "close ends read", text: "Close must make a Read under way return, and later ones fail", check: closeEndsRead},
		{name: "close ends write", text: "Close must make a Write under way return, and later ones fail", check: closeEndsWrite},
	}
}

// samples are frames that a transport might stumble over.
func samples() [][]byte {
	texts := []string{
		`{}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`[{"a":1},{"b":2}]`,
		`{"text":"grüße, 世界, 🙂, \n \r \u2028"}`,
		`{"event":"data: id: retry: \\n\\n"}`,
		`{"long":"` + strings.Repeat("0123456789", 20_000) + `"}`,
		`1`,
	}
	var frames [][]byte
	for _, s := range texts {
		frames = append(frames, []byte(s))
	}
	for i := range 300 {
		frames = append(frames, fmt.Appendf(nil, `{"id":%d,"fill":"%s"}`, i, strings.Repeat("x", i*7)))
	}
	return frames
}

func framesArrive(p *pair) error {
	sent := samples()
	sending := p.sendAll(sent)
	var got [][]byte
	for range sent {
		frame, err := p.stream.Read(context.Background())
		if err != nil {
			return fmt.Errorf("read %d: %w", len(got), err)
		}
		got = append(got, frame)
	}
	for i := range sent {
		if err := same(i, sent[i], got[i]); err != nil {
			return err
		}
	}
	return <-sending
}

func tooLong(p *pair) error {
	sending := p.sendAll([][]byte{[]byte(`1`), p.opts.TooLong, []byte(`2`), p.opts.TooLong, p.opts.TooLong, []byte(`3`)})
	for i, want := range []string{`1`, ``, `2`, ``, ``, `3`} {
		frame, err := p.stream.Read(context.Background())
		var refused *jsonrpc.FrameError
		switch {
		case want == "" && (!errors.As(err, &refused) || refused.Err == nil):
			return fmt.Errorf("read %d gave %d bytes and the error %v, want a FrameError that says what to answer", i, len(frame), err)
		case want != "" && err != nil:
			return fmt.Errorf("read %d: %w", i, err)
		case want != "":
			if err := same(i, []byte(want), frame); err != nil {
				return err
			}
		}
	}
	return <-sending
}

func endOfStream(p *pair) error {
	sending := p.start(func() error {
		return errors.Join(p.far.Send([]byte(`1`)), p.far.CloseSend())
	})
	if _, err := p.stream.Read(context.Background()); err != nil {
		return fmt.Errorf("before the end: %w", err)
	}
	for range 3 {
		if frame, err := p.stream.Read(context.Background()); !errors.Is(err, io.EOF) {
			return fmt.Errorf("at the end Read gave %q and the error %v", frame, err)
		}
	}
	if err := p.exchange([]byte(`2`)); err != nil {
		return fmt.Errorf("after the end: %w", err)
	}
	return <-sending
}

func buffered(p *pair) error {
	const n = 50
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = []byte(`{"a":1}`)
	}
	sending := p.sendAll(frames)
	for left := n; left > 0; left-- {
		// Whether the promise is kept shows when nothing is left: a Read would
		// wait for ever.
		if _, err := p.stream.Read(context.Background()); err != nil {
			return err
		}
		if left == 1 && p.stream.Buffered() {
			return errors.New("all frames have been read, and nothing ended, but Buffered reports true")
		}
	}
	return <-sending
}

func doneContext(p *pair) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sending := p.sendAll([][]byte{[]byte(`1`), []byte(`2`)})
	for _, want := range []string{`1`, `2`} {
		if frame, err := p.stream.Read(ctx); err == nil || errors.Is(err, io.EOF) {
			return fmt.Errorf("a read with a context that has ended gave %q and the error %v", frame, err)
		}
		frame, err := p.stream.Read(context.Background())
		if err != nil {
			return err
		}
		if err := same(0, []byte(want), frame); err != nil {
			return err
		}
	}
	return <-sending
}

func severalFrames(p *pair) error {
	frames := samples()
	return p.exchange(frames...)
}

func writeKeepsNothing(p *pair) error {
	receiving := p.receiveAll([][]byte{[]byte(`{"n":0}`), []byte(`{"n":1}`), []byte(`{"n":2}`)})
	buf := make([]byte, 0, 64)
	for i := range 3 {
		buf = append(fmt.Appendf(buf[:0], `{"n":%d}`, i), p.stream.Delimiter()...)
		before := bytes.Clone(buf)
		if err := p.stream.Write(context.Background(), buf); err != nil {
			return err
		}
		if !bytes.Equal(buf, before) {
			return fmt.Errorf("what was given to Write is now %q, it was %q", buf, before)
		}
		for j := range buf {
			buf[j] = '#'
		}
	}
	return <-receiving
}

func bothWays(p *pair) error {
	frames := samples()
	writing := p.start(func() error {
		for _, f := range frames {
			if err := p.write(f); err != nil {
				return err
			}
		}
		return nil
	})
	receiving := p.receiveAll(frames)
	return errors.Join(framesArrive(p), <-writing, <-receiving)
}

func closeEndsRead(p *pair) error {
	begun := make(chan struct{})
	reading := p.start(func() error {
		close(begun)
		if frame, err := p.stream.Read(context.Background()); err == nil {
			return fmt.Errorf("the read under way gave %q and no error", frame)
		}
		return nil
	})
	<-begun
	p.close()
	if err := <-reading; err != nil {
		return err
	}
	if frame, err := p.stream.Read(context.Background()); err == nil {
		return fmt.Errorf("a later read gave %q and no error", frame)
	}
	return nil
}

func closeEndsWrite(p *pair) error {
	begun := make(chan struct{})
	writing := p.start(func() error { // nobody receives, so it fills what room there is
		frame := bytes.Repeat([]byte("1"), 64<<10)
		close(begun)
		for p.write(frame) == nil {
		}
		return nil
	})
	<-begun
	p.close()
	if err := <-writing; err != nil {
		return err
	}
	if p.write([]byte(`1`)) == nil {
		return errors.New("a later write gave no error")
	}
	return nil
}

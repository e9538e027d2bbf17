package host_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
)

// What is told on a system without procfs, by the standard library of this one.
func TestPortable(t *testing.T) {
	h := host.NewWithoutProc()
	st, err := h.Status(t.Context(), host.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if st.System != runtime.GOOS || st.Hostname == "" || st.CPU.Usable < 1 {
		t.Errorf("the standard library knows more than %+v", st)
	}
	if st.Memory != nil || !slices.Contains(st.Unsupported, "memory") {
		t.Errorf("memory %+v, unsupported %q: want none, and the word of it", st.Memory, st.Unsupported)
	}
	if len(st.Disks) == 0 != slices.Contains(st.Unsupported, "disks") {
		t.Errorf("disks %+v, unsupported %q", st.Disks, st.Unsupported)
	}
	if st.Notes == nil || st.Disks == nil {
		t.Errorf("nil slices become null: %+v", st)
	}
	links, err := h.Interfaces(t.Context())
	if err != nil || links.Interfaces == nil || !slices.Contains(links.Unsupported, "traffic") {
		t.Errorf("interfaces %+v, error %v", links, err)
	}
	_, errProcesses := h.Processes(t.Context(), host.ProcessQuery{})
	_, errListeners := h.Listeners(t.Context(), host.ListenerQuery{})
	for _, err := range []error{errProcesses, errListeners} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got error %v, want one that matches errors.ErrUnsupported", err)
		}
	}
}

package catalog_test

import (
	"encoding/json"
	"net"
	"os"
	"runtime"
	"strconv"
	"testing"

	"cloudg.dev/cloudg/registry/catalog"
)

func TestHostStatus(t *testing.T) {
	r := start(t, &catalog.Options{})
	res := r.ok("host_status", `{}`)
	equal(t, any(runtime.GOOS), structured(t, res)["system"])
	equal(t, string(res.StructuredContent), text(res))
}

func TestListProcesses(t *testing.T) {
	needProcfs(t)
	r := start(t, &catalog.Options{})
	pid := os.Getpid()
	found := false
	for offset := 0; ; {
		got := structured(t, r.ok("list_processes", `{"sort":"pid","limit":1000,"offset":`+strconv.Itoa(offset)+`}`))
		for _, p := range got["processes"].([]any) {
			found = found || p.(map[string]any)["pid"] == float64(pid)
		}
		next, more := got["next_offset"].(float64)
		if !more {
			break
		}
		offset = int(next)
	}
	if !found {
		t.Errorf("process %d, which this is, is not listed", pid)
	}
	contains(t, r.fails("list_processes", `{"filter":"("}`), "filter")
	contains(t, r.fails("list_processes", `{"sort":"size"}`), "sort", "memory")
}

func TestListListeners(t *testing.T) {
	needProcfs(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("this machine has no loopback interface: %v", err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	r := start(t, &catalog.Options{})
	var got struct {
		Listeners []struct {
			Protocol, Address, State string
			Port                     int
			Owners                   []struct{ PID int }
		}
	}
	res := r.ok("list_listeners", `{"protocol":"tcp","port":`+strconv.Itoa(port)+`}`)
	if err := json.Unmarshal(res.StructuredContent, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Listeners) != 1 {
		t.Fatalf("want the socket of this test, have %d", len(got.Listeners))
	}
	s := got.Listeners[0]
	equal(t, []any{"tcp", "127.0.0.1", "listening", port}, []any{s.Protocol, s.Address, s.State, s.Port})
	if len(s.Owners) != 1 || s.Owners[0].PID != os.Getpid() {
		t.Errorf("want this process as the owner, have %v", s.Owners)
	}
	contains(t, r.fails("list_listeners", `{"protocol":"sctp"}`), "protocol", "unix")
}

func TestListInterfaces(t *testing.T) {
	r := start(t, &catalog.Options{})
	if _, ok := structured(t, r.ok("list_interfaces", `{}`))["interfaces"].([]any); !ok {
		t.Error("there is no list of interfaces")
	}
	contains(t, r.fails("list_interfaces", `{"name":"lo"}`), "name")
}

func needProcfs(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes and sockets are read from procfs, which only Linux has")
	}
}

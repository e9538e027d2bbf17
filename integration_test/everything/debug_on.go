//go:build benchdebug

package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
)

// serveDebug serves what the benchmark reads: profiles and counters. It ends
// with the process.
func serveDebug(addr string) error {
	if addr == "" {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/stats", stats)
	go http.Serve(l, mux)
	return nil
}

func stats(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("gc") == "1" {
		runtime.GC()
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	json.NewEncoder(w).Encode(map[string]uint64{
		"goroutines":  uint64(runtime.NumGoroutine()),
		"mallocs":     m.Mallocs,
		"total_alloc": m.TotalAlloc,
		"heap_inuse":  m.HeapInuse,
		"stack_inuse": m.StackInuse,
		"num_gc":      uint64(m.NumGC),
	})
}

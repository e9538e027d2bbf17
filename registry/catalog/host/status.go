package host

import (
	"context"
	"os"
	"runtime"
)

// StatusQuery says what [Host.Status] looks at.
type StatusQuery struct {
	// AllDisks adds pseudo, memory and image file systems and repeated mounts of
	// one device, which are left out otherwise.
	AllDisks bool `json:"all_disks,omitempty" jsonschema:"description=Also list pseudo and memory file systems and repeated mounts of one device"`
}

// Status is the state of the machine at one moment.
type Status struct {
	System        string   `json:"system" jsonschema:"description=Operating system"`
	Architecture  string   `json:"architecture" jsonschema:"description=Processor architecture this program was built for"`
	Distribution  string   `json:"distribution,omitempty" jsonschema:"description=Distribution and its release"`
	Kernel        string   `json:"kernel,omitempty" jsonschema:"description=Kernel release"`
	KernelVersion string   `json:"kernel_version,omitempty" jsonschema:"description=Kernel build"`
	Hostname      string   `json:"hostname,omitempty" jsonschema:"description=Name of the machine"`
	UptimeSeconds *float64 `json:"uptime_seconds,omitempty" jsonschema:"description=Seconds since boot,minimum=0"`
	BootTime      string   `json:"boot_time,omitempty" jsonschema:"description=When the machine started (RFC 3339)"`
	Load          *Load    `json:"load,omitempty" jsonschema:"description=Load averages"`
	CPU           CPU      `json:"cpu" jsonschema:"description=Processors"`
	Memory        *Memory  `json:"memory,omitempty" jsonschema:"description=Main memory"`
	Swap          *Swap    `json:"swap,omitempty" jsonschema:"description=Swap space"`
	Disks         []Disk   `json:"disks" jsonschema:"description=Mounted file systems by mount point"`
	Cgroup        *Cgroup  `json:"cgroup,omitempty" jsonschema:"description=Limits of the control group this process runs in"`
	Unsupported   []string `json:"unsupported" jsonschema:"description=Fields that this operating system does not let this program read"`
	Notes         []string `json:"notes" jsonschema:"description=What could not be read and why"`
}

// Load is how many tasks wanted a processor, or waited for a disk, on average.
type Load struct {
	OneMinute      float64 `json:"one_minute" jsonschema:"description=Average over one minute,minimum=0"`
	FiveMinutes    float64 `json:"five_minutes" jsonschema:"description=Average over five minutes,minimum=0"`
	FifteenMinutes float64 `json:"fifteen_minutes" jsonschema:"description=Average over fifteen minutes,minimum=0"`
	RunnableTasks  int     `json:"runnable_tasks" jsonschema:"description=Tasks that could run now,minimum=0"`
	TotalTasks     int     `json:"total_tasks" jsonschema:"description=All tasks (threads) there are,minimum=0"`
}

// CPU describes the processors. A count that is not known is absent.
type CPU struct {
	Online int    `json:"online,omitempty" jsonschema:"description=Logical processors that are switched on,minimum=1"`
	Usable int    `json:"usable,omitempty" jsonschema:"description=Logical processors this process may run on,minimum=1"`
	Model  string `json:"model,omitempty" jsonschema:"description=Model of the first processor"`
}

// Status surveys the machine. It fails only when ctx ends; what cannot be read is
// absent and has a note.
func (h *Host) Status(ctx context.Context, q StatusQuery) (Status, error) {
	if !h.src.hasProcfs() {
		return h.portableStatus(ctx)
	}
	s := h.survey()
	st := Status{System: "linux", Architecture: runtime.GOARCH, Disks: []Disk{}, Unsupported: []string{}}
	var mounts []mount
	steps := []func(){
		func() { s.identity(&st) },
		func() { s.clock(&st) },
		func() { st.Load = s.load() },
		func() { st.CPU = s.cpu(ctx) },
		func() { st.Memory, st.Swap = s.memory() },
		func() { mounts = s.mounts(ctx) },
		func() { st.Disks = h.disks(ctx, s, mounts, q.AllDisks) },
		func() { st.Cgroup = s.cgroup(mounts) },
	}
	for _, step := range steps {
		if ctx.Err() != nil {
			break
		}
		step()
	}
	if ctx.Err() != nil {
		return Status{}, context.Cause(ctx)
	}
	st.Notes = s.notes
	return st, nil
}

// portableStatus is what the standard library knows about any system.
func (h *Host) portableStatus(ctx context.Context) (Status, error) {
	if ctx.Err() != nil {
		return Status{}, context.Cause(ctx)
	}
	s := h.survey()
	st := Status{
		System:       runtime.GOOS,
		Architecture: runtime.GOARCH,
		CPU:          CPU{Usable: runtime.NumCPU()},
		Disks:        []Disk{},
		Unsupported: []string{"distribution", "uptime_seconds", "boot_time", "load",
			"cpu.online", "cpu.model", "memory", "swap", "cgroup"},
	}
	if name, err := os.Hostname(); err == nil {
		st.Hostname = text([]byte(name))
	} else {
		s.note("hostname: %v", cause(err))
	}
	if st.Kernel, st.KernelVersion = kernel(); st.Kernel == "" {
		st.Unsupported = append(st.Unsupported, "kernel", "kernel_version")
	}
	disk, err := workingDisk()
	if err != nil {
		st.Unsupported = append(st.Unsupported, "disks")
		s.note("disks: %v", cause(err))
	} else {
		st.Disks = append(st.Disks, disk)
		s.note("disks: only the file system of the working directory can be measured on %s", runtime.GOOS)
	}
	st.Notes = s.notes
	return st, nil
}

package host

import "syscall"

// statfs measures the file system mounted at path.
func statfs(path string) (Usage, error) {
	var st syscall.Statfs_t
	if err := retryStatfs(path, &st); err != nil {
		return Usage{}, err
	}
	// Blocks are counted in fragments, whose size old kernels leave at zero when it
	// is that of a block. The widths of the fields differ by architecture.
	unit := uint64(st.Frsize)
	if unit == 0 {
		unit = uint64(st.Bsize)
	}
	return Usage{
		TotalBytes:     st.Blocks * unit,
		FreeBytes:      st.Bfree * unit,
		AvailableBytes: st.Bavail * unit,
		Inodes:         st.Files,
		InodesFree:     st.Ffree,
	}, nil
}

func retryStatfs(path string, st *syscall.Statfs_t) error {
	for {
		if err := syscall.Statfs(path, st); err != syscall.EINTR {
			return err
		}
	}
}

// kernel is read from procfs on Linux, which always has one.
func kernel() (release, version string) { return "", "" }

// workingDisk is only asked for where there is no procfs.
func workingDisk() (Disk, error) {
	usage, err := statfs(".")
	if err != nil {
		return Disk{}, err
	}
	d := Disk{MountPoint: "."}
	d.setUsage(usage)
	return d, nil
}

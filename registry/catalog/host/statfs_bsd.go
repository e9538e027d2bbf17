//go:build darwin || dragonfly || freebsd

package host

import "syscall"

// statfs measures the file system mounted at path.
func statfs(path string) (Usage, error) {
	var st syscall.Statfs_t
	if err := retryStatfs(path, &st); err != nil {
		return Usage{}, err
	}
	return usageOf(&st), nil
}

// workingDisk is the file system of the working directory.
func workingDisk() (Disk, error) {
	var st syscall.Statfs_t
	if err := retryStatfs(".", &st); err != nil {
		return Disk{}, err
	}
	d := Disk{
		MountPoint: cString(st.Mntonname[:]),
		Device:     cString(st.Mntfromname[:]),
		Type:       cString(st.Fstypename[:]),
		ReadOnly:   uint64(st.Flags)&mountReadOnly != 0,
	}
	d.setUsage(usageOf(&st))
	return d, nil
}

// mountReadOnly is MNT_RDONLY, which the BSDs agree on.
const mountReadOnly = 1

// usageOf converts what the systems declare with different widths and signs. What
// is available is negative when root has used the reserve.
func usageOf(st *syscall.Statfs_t) Usage {
	unit := uint64(st.Bsize)
	return Usage{
		TotalBytes:     uint64(st.Blocks) * unit,
		FreeBytes:      uint64(st.Bfree) * unit,
		AvailableBytes: uint64(max(int64(st.Bavail), 0)) * unit,
		Inodes:         uint64(st.Files),
		InodesFree:     uint64(max(int64(st.Ffree), 0)),
	}
}

func retryStatfs(path string, st *syscall.Statfs_t) error {
	for {
		if err := syscall.Statfs(path, st); err != syscall.EINTR {
			return err
		}
	}
}

func cString(chars []int8) string {
	b := make([]byte, 0, len(chars))
	for _, c := range chars {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return text(b)
}

// kernel is the release and the build of the kernel, empty when it does not tell.
func kernel() (release, version string) {
	release, err := syscall.Sysctl("kern.osrelease")
	if err != nil {
		return "", ""
	}
	version, _ = syscall.Sysctl("kern.version")
	return text([]byte(release)), text([]byte(version))
}

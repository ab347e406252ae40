//go:build !portable

package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter lets through the system calls that it knows, up to lastCall, except for these: each of them can bring a
// connection to the world outside without the call socket. A number above is one of a newer kernel, or of another way
// to call this one (x32), and does not exist for a command. Programs of another processor's kind, such as those of 32
// bits, whose calls have other numbers, are ended.
var channels = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // make sockets, past every filter
	unix.SYS_REQUEST_KEY,                               // has the kernel ask a name server
	unix.SYS_PIDFD_GETFD,                               // takes a socket out of another process
	unix.SYS_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, // network file systems
	unix.SYS_BPF, // filters packets, and can send them
}

// lastCall is the newest system call that was looked at, on all processors: rseq_slice_yield.
const lastCall = 471

// Places in what the filter looks at, struct seccomp_data.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16 // low half of the first argument
	atSecond = 24
)

// sockTypes are the bits of a socket's type that are no flags.
const sockTypes = 0xf

// closeNetwork leaves no sockets to this process, and all that come from it, but pairs that are connected to each
// other. A process that stands in a network of its own may use that.
func closeNetwork(ownNetwork bool) error {
	var families []uint32
	if ownNetwork {
		families = []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	return install(networkFilter(families))
}

// networkFilter is the filter in the kernel's words. Socket files (AF_UNIX) are in no list of families: a service
// behind one may well have a network.
func networkFilter(families []uint32) []unix.SockFilter {
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	f := []unix.SockFilter{
		load(atArch),
		skip(unix.BPF_JEQ, nativeArch, 1, 0), result(unix.SECCOMP_RET_KILL_PROCESS),
		load(atNumber),
		skip(unix.BPF_JGT, lastCall, 0, 1), result(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
	}
	for _, call := range channels {
		f = append(f, skip(unix.BPF_JEQ, call, 0, 1), result(refuse))
	}
	f = append(f,
		skip(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 7),
		load(atFirst),
		skip(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), result(refuse),
		load(atSecond),
		unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: sockTypes},
		skip(unix.BPF_JEQ, unix.SOCK_DGRAM, 0, 1), result(refuse), // it could write to any socket file
		load(atNumber),
		skip(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), result(allow),
		load(atFirst))
	for _, family := range families {
		f = append(f, skip(unix.BPF_JEQ, family, 0, 1), result(allow))
	}
	return append(f, result(refuse))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// skip compares and leaves out so many of what follows.
func skip(compare uint16, k uint32, ifTrue, ifFalse uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jt: ifTrue, Jf: ifFalse}
}

func result(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
}

// install sets a filter on every thread of this process.
func install(filter []unix.SockFilter) error {
	if err := noNewPrivileges(); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno != 0:
		return fmt.Errorf("the network cannot be closed: %v", errno)
	case r != 0:
		return fmt.Errorf("the network cannot be closed: thread %d has another filter", r)
	}
	return nil
}

func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return nativeArch != 0 && errno == 0
}

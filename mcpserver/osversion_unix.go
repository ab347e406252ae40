//go:build linux || darwin

package mcpserver

import "golang.org/x/sys/unix"

// osVersion returns the name and release of the running kernel, or "".
func osVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

//go:build linux || darwin

package project

import "golang.org/x/sys/unix"

// OSVersion returns the name and release of the running kernel, or "".
func OSVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

//go:build !windows

package project

import "syscall"

// nonblock keeps an open from waiting, should a pipe have taken the place of the
// file that was looked at.
const nonblock = syscall.O_NONBLOCK

//go:build unix && (!linux || portable)

package roots

import "syscall"

const (
	readFlags = syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY
	dirFlags  = readFlags | syscall.O_DIRECTORY
)

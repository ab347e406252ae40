package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// claimStdout takes standard output for the protocol. What else prints goes to
// standard error.
func claimStdout() (*os.File, error) {
	out := os.Stdout
	os.Stdout = os.Stderr
	return out, windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd()))
}

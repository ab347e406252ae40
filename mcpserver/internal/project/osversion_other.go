//go:build !linux && !darwin && !windows

package project

// OSVersion returns "": prompts do not mention the version here.
func OSVersion() string { return "" }

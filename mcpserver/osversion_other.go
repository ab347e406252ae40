//go:build !linux && !darwin && !windows

package mcpserver

// osVersion returns "": prompts do not mention the version here.
func osVersion() string { return "" }

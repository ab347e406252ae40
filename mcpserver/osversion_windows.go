package mcpserver

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// osVersion returns the version of Windows.
func osVersion() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

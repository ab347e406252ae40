package project

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// OSVersion returns the version of Windows.
func OSVersion() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

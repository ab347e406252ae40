//go:build linux && !amd64 && !arm64

package sandbox

const nativeArch = 0 // no filter has been tried on this processor

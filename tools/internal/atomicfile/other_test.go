//go:build !unix

package atomicfile

func umaskChild() {}

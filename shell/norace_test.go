//go:build !race && linux && !portable

package shell

const raceDetector = false

//go:build race && linux && !portable

package shell

const raceDetector = true // which takes memory and time

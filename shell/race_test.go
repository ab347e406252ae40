//go:build race

package shell

const raceDetector = true // which takes memory and time

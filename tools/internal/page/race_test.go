//go:build race

package page

const raceEnabled = true // it multiplies time and memory, which some tests bound

//go:build race

package mcpserver_test

// slack stretches time limits: programs under the race detector take a second
// to exit and run several times slower.
const slack = 10

//go:build !race

package mcpserver_test

const slack = 1

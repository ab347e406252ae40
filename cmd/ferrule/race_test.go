//go:build race

package main

const raceEnabled = true // compiling the PDF engine takes half a minute then

package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// DefaultResultChars is the cap of a result's text in characters, a little
	// below the smallest limit known of a client (50,000).
	DefaultResultChars = 48_000

	maxError = 8_000     // characters of an error's text: one client cuts at about 11,000
	maxFile  = 256 << 20 // bytes of a file that is read whole
)

// room is how many characters the main part of a result may have, so that
// notes fit behind it which show a path some times.
func (s *Session) room(path string) int {
	return max(s.cfg.MaxResultChars-noteRoom-2*len(path), s.cfg.MaxResultChars/2)
}

// noteRoom is what the notes behind a result may take of its cap, in
// characters.
const noteRoom = 1000

// clip cuts s to at most n characters, at a line's end where one is near, and
// says how much is missing.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	cut, left := 0, n-60 // room for the note
	for i := range s {
		if left--; left < 0 {
			cut = i
			break
		}
	}
	if nl := strings.LastIndexByte(s[:cut], '\n'); nl > cut/2 {
		cut = nl
	}
	return fmt.Sprintf("%s\n(%d more characters left out)", s[:cut], utf8.RuneCountInString(s[cut:]))
}

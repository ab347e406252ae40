package redact

import (
	"regexp"
	"sync"
)

// lazy returns an expression that is compiled when it is first used. All of
// them at once would take 5 MB and tens of milliseconds of every start, of
// servers, too, that never remember anything.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

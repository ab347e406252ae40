package pdf

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxPages   = 20 // that one call may name
	firstPages = 10 // that are read when none is named
)

// A RangeError says what is wrong with a choice of pages, as one sentence.
type RangeError struct{ reason string }

func (e *RangeError) Error() string { return e.reason }

// ParsePages reads a choice of pages such as "3", "1-5", "10-" or "1,3,5-7",
// counted from 1, for a document of so many pages. An open range ends where
// the limit of 20 pages is reached; "" stands for the first ten. In front,
// "image:" asks for pictures of the pages. Each page is named once, in the
// order of its first mention. Errors are [*RangeError].
func ParsePages(spec string, total int) (pages []int, pictures bool, err error) {
	list, pictures := strings.CutPrefix(strings.TrimSpace(spec), "image:")
	list = strings.TrimSpace(list)
	if list == "" && !pictures {
		list = fmt.Sprintf("1-%d", min(firstPages, total))
	}
	fail := func(format string, args ...any) ([]int, bool, error) {
		return nil, false, &RangeError{fmt.Sprintf("pages %q: ", spec) + fmt.Sprintf(format, args...)}
	}
	named := make(map[int]bool)
	for part := range strings.SplitSeq(list, ",") {
		first, last, open, ok := parseRange(part)
		if open {
			last = max(first, min(total, first+maxPages-1-len(pages)))
		}
		switch {
		case !ok:
			return fail("%q is no page; write for instance 3, 1-5, 10- or 2,4-6", strings.TrimSpace(part))
		case first < 1:
			return fail("pages are counted from 1, and there are %d", total)
		case last < first:
			return fail("%d comes before %d", last, first)
		case last > total:
			return fail("the document has %s", count(total))
		case last-first >= maxPages:
			return fail("at most %d pages at a time", maxPages)
		}
		for n := first; n <= last; n++ {
			if !named[n] {
				named[n] = true
				pages = append(pages, n)
			}
		}
	}
	if len(pages) > maxPages {
		return fail("at most %d pages at a time", maxPages)
	}
	return pages, pictures, nil
}

// parseRange reads "3", "1-5" or "10-".
func parseRange(s string) (first, last int, open, ok bool) {
	from, to, isRange := strings.Cut(s, "-")
	first, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil {
		return 0, 0, false, false
	}
	to = strings.TrimSpace(to)
	if !isRange || to == "" {
		return first, first, isRange, true
	}
	last, err = strconv.Atoi(to)
	return first, last, false, err == nil
}

func count(n int) string {
	if n == 1 {
		return "1 page"
	}
	return fmt.Sprintf("%d pages", n)
}

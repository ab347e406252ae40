package settings

import (
	"slices"
	"strings"
)

// A key that is not known may be a slip of the pen. In a project's file, where what is not known has no effect, a rule
// would be lost without a word: so there such a key is an error as well.

var ruleKeys = []string{"deny", "ask", "allow"}

// meant is the setting that a key on no list may stand for, "" if none comes to mind. within is "" for the top of the
// file, or the object that the key stands in, with a dot.
func meant(m member, within string, narrowing []string) string {
	known := narrowing
	switch within {
	case "":
		known = []string{"permissions", "memory"}
	case "permissions.":
		known = ruleKeys
	}
	for _, k := range known {
		if alike(m.name, k) {
			return within + k
		}
	}
	list := m.value.kind == '['
	for _, k := range ruleKeys { // in the wrong place
		switch {
		case within == "" && list && strings.EqualFold(m.name, k):
			return "permissions." + k
		case slices.ContainsFunc(m.value.members, func(in member) bool { return in.name == k && in.value.kind == '[' }):
			return "permissions." + k
		}
	}
	return ""
}

// alike reports whether a name is another one with a letter or two wrong, in another case, or with something added.
func alike(name, known string) bool {
	name = strings.ToLower(name)
	return len(known) > 3 && strings.Contains(name, known) || known == "deny" && strings.HasPrefix(name, "deni") ||
		distance(name, known) <= max(1, len(known)/5)
}

// distance counts the letters to put in, leave out, exchange or swap with their neighbour that make b of a.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

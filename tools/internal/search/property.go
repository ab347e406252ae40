package search

import (
	"strings"
	"sync"
	"unicode"
)

// Classes that the dialect knows by name: \w \d \s, [:alpha:], \p{Greek}.

var (
	wordRunes = sync.OnceValue(func() runes {
		return tableRunes(unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic).
			union(runes{0x200c, 0x200d})
	})
	digitRunes = sync.OnceValue(func() runes { return tableRunes(unicode.Nd) })
	spaceRunes = sync.OnceValue(func() runes { return tableRunes(unicode.White_Space) })
)

// perl returns the class \c for c in wWdDsS.
func perl(c byte, unicodeClass bool) runes {
	var rs runes
	switch c | 0x20 {
	case 'w':
		rs = asciiWord
		if unicodeClass {
			rs = wordRunes()
		}
	case 'd':
		rs = runes{'0', '9'}
		if unicodeClass {
			rs = digitRunes()
		}
	case 's':
		rs = runes{'\t', '\r', ' ', ' '}
		if unicodeClass {
			rs = spaceRunes()
		}
	}
	if c&0x20 == 0 {
		return negated(rs, unicodeClass)
	}
	return rs
}

func negated(rs runes, unicodeClass bool) runes {
	if unicodeClass {
		return rs.not(anyRune)
	}
	return rs.not(anySymbol)
}

var posixClasses = map[string]runes{
	"alnum":  {'0', '9', 'A', 'Z', 'a', 'z'},
	"alpha":  {'A', 'Z', 'a', 'z'},
	"ascii":  {0, 0x7f},
	"blank":  {'\t', '\t', ' ', ' '},
	"cntrl":  {0, 0x1f, 0x7f, 0x7f},
	"digit":  {'0', '9'},
	"graph":  {'!', '~'},
	"lower":  {'a', 'z'},
	"print":  {' ', '~'},
	"punct":  {'!', '/', ':', '@', '[', '`', '{', '~'},
	"space":  {'\t', '\r', ' ', ' '},
	"upper":  {'A', 'Z'},
	"word":   asciiWord,
	"xdigit": {'0', '9', 'A', 'F', 'a', 'f'},
}

// property looks up the inside of \p{…}: a general category, a script or a binary property, by any of its spellings.
// "sc=" and "gc=" and their long forms choose the kind; script extensions are taken as scripts.
func property(name string) (runes, bool) {
	kind, value, negate := "", name, false
	if k, v, ok := strings.Cut(name, "!="); ok {
		kind, value, negate = k, v, true
	} else if i := strings.IndexAny(name, "=:"); i >= 0 {
		kind, value = name[:i], name[i+1:]
	}
	var tables []map[string]*unicode.RangeTable
	switch loose(kind) {
	case "":
		tables = []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties}
	case "gc", "generalcategory":
		tables = []map[string]*unicode.RangeTable{unicode.Categories}
	case "sc", "script", "scx", "scriptextensions":
		tables = []map[string]*unicode.RangeTable{unicode.Scripts}
	default:
		return nil, false
	}
	rs, ok := named(loose(value), tables)
	if ok && negate {
		rs = rs.not(anyRune)
	}
	return rs, ok
}

func named(want string, tables []map[string]*unicode.RangeTable) (runes, bool) {
	switch want {
	case "any":
		return anyRune, true
	case "ascii":
		return runes{0, 0x7f}, true
	case "assigned":
		return tableRunes(unicode.Cn).not(anyRune), true
	case "alphabetic", "alpha":
		return tableRunes(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "uppercase", "upper":
		return tableRunes(unicode.Lu, unicode.Other_Uppercase), true
	case "lowercase", "lower":
		return tableRunes(unicode.Ll, unicode.Other_Lowercase), true
	case "whitespace", "space":
		return spaceRunes(), true
	}
	if long, ok := scriptCodes[want]; ok {
		want = long
	}
	for alias, short := range unicode.CategoryAliases {
		if loose(alias) == want {
			want = loose(short)
			break
		}
	}
	for _, names := range tables {
		for n, t := range names {
			if loose(n) == want {
				return tableRunes(t), true
			}
		}
	}
	return nil, false
}

// loose drops what names of properties may differ in: case, blanks, hyphens, underscores and a leading "is".
func loose(s string) string {
	s = strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))
	if t := strings.TrimPrefix(s, "is"); t != "" {
		return t
	}
	return s
}

// scriptCodes are the four-letter codes of the scripts met most.
var scriptCodes = map[string]string{
	"arab": "arabic", "armn": "armenian", "beng": "bengali", "cyrl": "cyrillic", "deva": "devanagari", "geor": "georgian",
	"grek": "greek", "gujr": "gujarati", "hang": "hangul", "hani": "han", "hebr": "hebrew", "hira": "hiragana",
	"kana": "katakana", "khmr": "khmer", "knda": "kannada", "laoo": "lao", "latn": "latin", "mlym": "malayalam",
	"mymr": "myanmar", "sinh": "sinhala", "taml": "tamil", "telu": "telugu", "tibt": "tibetan", "zyyy": "common",
	"zinh": "inherited", "qaai": "inherited", "ethi": "ethiopic", "mong": "mongolian", "copt": "coptic",
}

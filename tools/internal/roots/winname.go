package roots

import (
	"fmt"
	"slices"
	"strings"
)

// devices are the names that Windows takes for devices in every folder and with every extension; COM and LPT with a
// digit come to them.
var devices = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}

// CheckWindowsName refuses names that Windows would take for something other than the file they seem to be: devices,
// streams of a file, names that lose their last dots and blanks, short names for long ones, and the prefixes that
// switch all such rules off. It looks at the name only, so it gives the same answers on every system; Resolve applies
// it on Windows, to the part of a name below its root.
func CheckWindowsName(name string) error {
	slashed := strings.ReplaceAll(name, `\`, "/")
	for _, prefix := range []string{"//?/", "//./", "/??/"} {
		if strings.HasPrefix(slashed, prefix) {
			return fmt.Errorf(`%s begins with %s, which is not allowed; give the plain path`, Quoted(name),
				name[:len(prefix)])
		}
	}
	rest := slashed
	if len(rest) >= 2 && rest[1] == ':' && isLetter(rest[0]) {
		rest = rest[2:]
		if !strings.HasPrefix(rest, "/") {
			return fmt.Errorf(`%s depends on the current folder of the drive; begin with %s\`, Quoted(name), name[:2])
		}
	}
	for c := range strings.SplitSeq(rest, "/") {
		if fault := windowsFault(c); fault != "" {
			return fmt.Errorf("%s is not allowed on Windows: %s", Quoted(c), fault)
		}
	}
	return nil
}

// windowsFault says what is wrong with a component of a name, or "".
func windowsFault(c string) string {
	if c == "" || c == "." || c == ".." {
		return ""
	}
	base, ext, _ := strings.Cut(c, ".")
	switch {
	case strings.Contains(c, ":"):
		return "a colon names a stream inside a file"
	case strings.ContainsAny(c, `<>"|?*`) || strings.ContainsFunc(c, func(r rune) bool { return r < ' ' }):
		return "it holds a character that no file name may have"
	case strings.HasSuffix(c, ".") || strings.HasSuffix(c, " "):
		return "dots and blanks at the end are dropped, so it would be another file"
	case isDevice(strings.TrimRight(base, " ")):
		return "it is the name of a device"
	case isShort(base, ext):
		return "it looks like a short name; give the long one"
	}
	return ""
}

func isDevice(base string) bool {
	up := strings.ToUpper(base)
	if slices.Contains(devices, up) {
		return true
	}
	digit, ok := strings.CutPrefix(up, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(up, "LPT")
	}
	return ok && slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, digit)
}

// isShort recognises what Windows makes of long names: at most eight characters that end in "~" and a number, and at
// most three after the dot.
func isShort(base, ext string) bool {
	i := strings.LastIndexByte(base, '~')
	if i < 1 || len(base) > 8 || len(ext) > 3 || i == len(base)-1 {
		return false
	}
	return !strings.ContainsFunc(base[i+1:], func(r rune) bool { return r < '0' || r > '9' })
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

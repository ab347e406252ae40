package roots

import (
	"strings"
	"testing"
)

// TestWindowsNames: S012 S013 S014 S015 S016.
func TestWindowsNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"file.txt", `a\b\c`, "a/b/c", `C:\x\y`, "c:/x", ".", "..", `..\x`, ".git", "a..b", "a b", ".env.local", "",
		"CONSOLE", "con1", "COM", "COM10", "COMX", "LPTA", "nul-x", "xCON", "console.log", "aux_.c", `a\\b`, `a\`,
		"~", "~x", "x~", "file.txt~", "~1", "verylongname~1", "a~1.html", "PROGRA~x", "backup~2024-01.tar",
		`\\server\share\x`, "größe", "名前",
	} {
		if err := CheckWindowsName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, word := range map[string]string{
		"file.txt:stream": "stream", "ab:$DATA": "stream", "a:$DATA": "drive",
		`C:\x\f.txt::$DATA`: "stream", `dir:x\f`: "stream",
		"C:": "drive", "C:x": "drive", `c:..\x`: "drive", "1:x": "stream",
		"CON": "device", "con": "device", "nul.txt": "device", "NUL.tar.gz": "device", "COM1": "device",
		"lpt9.x": "device", "COM0": "device", "com¹": "device", "LPT³.txt": "device", "Aux": "device", "prn": "device",
		"CONIN$": "device", "conout$": "device", `C:\a\nul`: "device", "a/con/b": "device", "con .txt": "device",
		"a.": "end", "a ": "end", "...": "end", "a. .": "end", `a .\b`: "end", "dir./f": "end",
		`\\?\C:\x`: "begins with", `\\.\C:`: "begins with", `\??\C:\x`: "begins with", "//?/C:/x": "begins with",
		`\\.\pipe\x`: "begins with", `\\.\PhysicalDrive0`: "begins with",
		"PROGRA~1": "short", `C:\PROGRA~1\x`: "short", "a/FOO~12.TXT": "short", "x~1": "short", "GIT~1": "short",
		"a?": "character", "a*b": "character", "a|b": "character", `a"b`: "character", "a<b": "character",
		"a\x01b": "character", "a\nb": "character",
	} {
		if err := CheckWindowsName(name); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want %q", name, err, word)
		}
	}
}

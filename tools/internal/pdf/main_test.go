package pdf

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// reader is shared by the tests. The compiled engine is kept between runs.
var reader = New(options())

// options are those of a reader with compiled code on disk. A test does not
// know what it was built with and asks go.mod.
func options() Options {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Options{}
	}
	mod, _ := os.ReadFile("../../../go.mod")
	version := regexp.MustCompile(`wazero v\S+`).Find(mod)
	return Options{CacheDir: filepath.Join(dir, "ferrule-test", string(version)), wazero: "dev"}
}

func TestMain(m *testing.M) {
	code := m.Run()
	reader.Close()
	os.Exit(code)
}

// missing skips a test for want of a tool, except where all must be there.
func missing(t *testing.T, tool string) {
	t.Helper()
	if os.Getenv("FERRULE_CI") == "1" {
		t.Fatalf("%s is not installed", tool)
	}
	t.Skipf("%s is not installed", tool)
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if dir := filepath.Dir(built.path); dir != "." {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built is the command, built once for all tests that run it as a process.
var built struct {
	once sync.Once
	path string
	err  error
}

func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "ferrule-test-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "ferrule")
		var out []byte
		if out, built.err = exec.Command("go", "build", "-o", built.path, ".").CombinedOutput(); built.err != nil {
			t.Logf("%s", out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

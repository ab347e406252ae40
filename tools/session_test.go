package tools

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// H084: logs that a killed server left behind go after a week, others stay.
func TestSweepLogs(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": 8 * 24 * time.Hour, "young": 6 * 24 * time.Hour} {
		tasks := filepath.Join(dir, name, "tasks")
		if err := os.MkdirAll(tasks, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(tasks, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	sweepLogs(dir, now)
	if _, err := os.Stat(filepath.Join(dir, "old")); !os.IsNotExist(err) {
		t.Errorf("the old logs are still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "young")); err != nil {
		t.Error(err)
	}
}

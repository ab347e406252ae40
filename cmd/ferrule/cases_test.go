package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCases holds that every public bug report we know of is a test or stands
// in testdata/deferred.txt with the reason. A test names the reports it is
// about by their ids, such as H001, or H071–H073 for a run of them.
func TestCases(t *testing.T) {
	named := make(map[string]bool)
	id := regexp.MustCompile(`\b([HS])(\d{3})(?:[–-][HS]?(\d{3}))?\b`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") && !strings.HasSuffix(path, ".jsonl") && d.Name() != "deferred.txt" || d.Name() == "cases_test.go" {
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range id.FindAllStringSubmatch(string(b), -1) {
			first, _ := strconv.Atoi(m[2])
			last := first
			if m[3] != "" {
				last, _ = strconv.Atoi(m[3])
			}
			for n := first; n <= last && n < first+100; n++ {
				named[fmt.Sprintf("%s%03d", m[1], n)] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		kind        string
		first, last int
		what        string
	}{
		{"H", 1, 45, "files"}, {"H", 50, 64, "Glob and Grep"}, {"H", 65, 84, "commands"},
		{"H", 112, 125, "protocol and systems"}, {"S", 1, 62, "paths, writes, staleness"}, {"S", 383, 386, "stdio"},
		{"S", 63, 81, "trust"}, {"S", 82, 125, "commands, measured"}, {"S", 155, 294, "permissions"}, {"S", 359, 382, "HTTP"}, {"H", 103, 111, "rules and roots"},
	} {
		for n := run.first; n <= run.last; n++ {
			if name := fmt.Sprintf("%s%03d", run.kind, n); !named[name] {
				t.Errorf("report %s (%s) is in no test and not in testdata/deferred.txt", name, run.what)
			}
		}
	}
}

package history

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDamagedLog: lines that are cut off, changed or foreign are skipped, and those after them are found.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []string{"1", "2", "3"} {
		b.write("f", c, "")
	}
	b.log.Close()
	name := filepath.Join(b.state, "log.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for what, c := range map[string]struct {
		log  [][]byte
		want int
	}{
		"whole":              {lines, 3},
		"last line cut off":  {[][]byte{whole[:len(whole)-5]}, 3},
		"glued to the next":  {[][]byte{lines[0], lines[1], lines[2], lines[3][:20], lines[4], lines[5]}, 3},
		"half a begin":       {[][]byte{lines[0], lines[1], lines[2][:40], lines[4], lines[5]}, 2},
		"one letter changed": {[][]byte{bytes.Replace(whole, []byte(`"path":"f"`), []byte(`"path":"g"`), 1)}, 2},
		"rubbish":            {[][]byte{[]byte("\n\n{}\n\x00\xff\n{\"t\":\"begin\"}\n"), whole}, 3},
		"empty":              {nil, 0},
	} {
		if err := os.WriteFile(name, bytes.Join(c.log, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		b.log = b.open(0)
		same(t, what, len(b.entries("", "")), c.want)
		if what == "last line cut off" { // and writing goes on behind it
			b.write("g", "1", "")
			same(t, what+", one more", len(b.entries("g", "")), 1)
		}
		b.log.Close()
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	now := time.Now()
	add := func(i int, age time.Duration, s State) {
		content := []byte(randomText(i, 10_000))
		e, err := b.log.Begin(Entry{Path: fmt.Sprint(i), Before: sum(string(content)), After: sum("x"), Time: now.Add(-age)}, content)
		if err != nil {
			t.Fatal(err)
		}
		if s != Pending {
			if err := b.log.End(e.ID, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	paths := func() (s string) {
		for _, e := range b.entries("", "") {
			s += e.Path + " "
		}
		return s
	}
	blobs := func() int {
		names, err := os.ReadDir(filepath.Join(b.state, "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	add(1, maxAge+time.Hour, Pending)
	add(2, maxAge+time.Hour, Done)
	for i := 3; i < 10; i++ {
		add(i, maxAge-time.Hour, Done)
	}
	add(10, 0, Void)
	os.WriteFile(filepath.Join(b.state, "blobs", ".cut off"), nil, 0o600)
	b.reopen(0)
	same(t, "by age", paths(), "9 8 7 6 5 4 3 1 ")
	same(t, "blobs", blobs(), 8)
	b.reopen(35_000)
	same(t, "by size", paths(), "9 8 7 1 ")
	same(t, "blobs", blobs(), 4)
	for i := 11; i < 20; i++ { // the limit holds while it is open, too; only contents go
		add(i, 0, Done)
	}
	if n := blobs(); n > 4 {
		t.Errorf("%d blobs", n)
	}
	if _, err := b.log.Blob(*sum(randomText(19, 10_000))); err != nil {
		t.Error("the newest is gone:", err)
	}
	same(t, "entries", len(b.entries("", "")), 13)
	if e, err := b.log.Begin(Entry{Before: sum("?")}, []byte(randomText(0, 50_000))); err != nil || !e.NotKept {
		t.Error("beyond the whole limit:", e, err)
	}
}

// randomText is different for each seed and does not compress, so that sizes are known.
func randomText(seed, size int) string {
	var b []byte
	for i := 0; len(b) < size; i++ {
		s := sha256.Sum256(fmt.Append(nil, seed, " ", i))
		b = append(b, s[:]...)
	}
	return string(b[:size])
}

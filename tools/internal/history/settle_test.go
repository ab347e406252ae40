package history

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferrule/tools/internal/atomicfile"
)

const temp = ".ferrule-0123456789abcdef.tmp"

// crashes are what a crash can leave at each moment. "-" is no file.
var crashes = []struct {
	name           string
	before, after  string
	file, tempFile string
	state          State
	wantTemp       string
	tempName       string
}{
	{name: "before the write", before: "old", after: "new", file: "old", tempFile: "-", state: Void},
	{name: "named file half written", before: "old", after: "new", file: "old", tempFile: "n", state: Void, wantTemp: "-"},
	{name: "before the exchange", before: "old", after: "new", file: "old", tempFile: "new", state: Void, wantTemp: "-"},
	{name: "after the exchange", before: "old", after: "new", file: "new", tempFile: "old", state: Done, wantTemp: "-"},
	{name: "after the write", before: "old", after: "new", file: "new", tempFile: "-", state: Done},
	{name: "saved by another since", before: "old", after: "new", file: "his", tempFile: "-", state: Torn},
	{name: "saved by another, ours put back", before: "old", after: "new", file: "his", tempFile: "new", state: Torn, wantTemp: "-"},
	{name: "his save exchanged", before: "old", after: "new", file: "new", tempFile: "his", state: Torn, wantTemp: "his"},
	{name: "new, before", before: "-", after: "new", file: "-", tempFile: "-", state: Void},
	{name: "new, half", before: "-", after: "new", file: "-", tempFile: "n", state: Void, wantTemp: "-"},
	{name: "new, after", before: "-", after: "new", file: "new", tempFile: "-", state: Done},
	{name: "removal, before", before: "old", after: "-", file: "old", tempFile: "-", state: Void},
	{name: "removal, taken out", before: "old", after: "-", file: "-", tempFile: "old", state: Done, wantTemp: "-"},
	{name: "removal, his save taken out", before: "old", after: "-", file: "-", tempFile: "his", state: Torn, wantTemp: "his"},
	{name: "in place, half", before: "old", after: "new", file: "ned", tempFile: "-", state: Torn},
	{name: "not a temporary name", before: "old", after: "new", file: "old", tempFile: "new", tempName: "precious", state: Torn, wantTemp: "new"},
}

// TestSettle stages each crash.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, c := range crashes {
		for _, folder := range []string{"", "sub/"} {
			t.Run(c.name+" "+folder, func(t *testing.T) {
				b := newBench(t)
				tempName := temp
				if c.tempName != "" {
					tempName = c.tempName
				}
				e := Entry{Path: folder + "f", Temp: tempName}
				var old []byte
				if c.before != "-" {
					e.Before, old = sum(c.before), []byte(c.before)
				}
				if c.after != "-" {
					e.After = sum(c.after)
				}
				if folder != "" {
					e.MadeDirs = []string{"sub"}
					os.Mkdir(filepath.Join(b.dir, "sub"), 0o755)
				}
				if c.file != "-" {
					b.foreign(folder+"f", c.file)
				}
				if c.tempFile != "-" {
					b.foreign(folder+tempName, c.tempFile)
				}
				if _, err := b.log.Begin(e, old); err != nil {
					t.Fatal(err)
				}
				b.reopen(0)
				torn, err := b.log.Settle(b.root)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "torn", len(torn), map[bool]int{true: 1}[c.state == Torn])
				state := Void // those are not listed
				for _, e := range b.entries("", "") {
					state = e.State
				}
				same(t, "state", state, c.state)
				want := c.tempFile
				if c.wantTemp != "" {
					want = c.wantTemp
				}
				same(t, "temporary file", b.get(folder+tempName), want)
				same(t, "file", b.get(folder+"f"), c.file)
				_, err = os.Stat(filepath.Join(b.dir, "sub"))
				if empty := c.file == "-" && want == "-" && c.state == Void; folder != "" && errors.Is(err, os.ErrNotExist) != empty {
					t.Error("folder that was made:", err)
				}
				if torn, err := b.log.Settle(b.root); err != nil || len(torn) > 0 {
					t.Error("settled twice:", torn, err)
				}
			})
		}
	}
}

// sealed makes content that proves its own completeness.
func sealed(seed uint64, size int) []byte {
	b := make([]byte, size)
	src := rand.NewChaCha8([32]byte{byte(seed)})
	src.Read(b[32:])
	binary.LittleEndian.PutUint64(b[32:], seed)
	s := sha256.Sum256(b[32:])
	copy(b, s[:])
	return b
}

func whole(b []byte) bool {
	if len(b) < 40 {
		return false
	}
	s := sha256.Sum256(b[32:])
	return bytes.Equal(s[:], b[:32])
}

// writeForever is a server at work: arguments are the folder, that of the history, and the size of contents in bytes.
func writeForever() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	root, err := os.OpenRoot(os.Args[1])
	check(err)
	log, err := Open(os.Args[2], 64<<20)
	check(err)
	var size int
	_, err = fmt.Sscan(os.Args[3], &size)
	check(err)
	_, err = log.Settle(root)
	check(err)
	files := atomicfile.NewFiles(atomicfile.SyncNone)
	var content [8][]byte
	for i := range content {
		content[i] = sealed(uint64(i), size+i*size)
	}
	for i := rand.IntN(100); ; i++ {
		rel := "target"
		if i%4 == 3 {
			rel = filepath.Join(fmt.Sprint("d", i%7), "f")
		}
		var o atomicfile.Options
		o.Parents = true
		log.Record(&o, &Entry{Path: rel, Tool: "Write"})
		if i%28 == 27 {
			_, err = files.Remove(context.Background(), root, rel, o, []string{filepath.Dir(rel)}, func(atomicfile.Content) error { return nil })
			if errors.Is(err, os.ErrNotExist) {
				err = nil
			}
		} else {
			_, err = files.Update(context.Background(), root, rel, o, func(*atomicfile.Content) ([]byte, error) { return content[i%8], nil })
		}
		check(err)
		os.Stdout.Write([]byte{'.'})
	}
}

// TestKill kills a writing process again and again: no file is torn or missing, and after the history is settled no
// temporary file is left and the history is true. S041, S042.
func TestKill(t *testing.T) {
	t.Parallel()
	writes, size := 200, 8_000
	if nightly() {
		writes, size = 2_000, 100_000
	}
	b := newBench(t)
	b.foreign("target", string(sealed(99, size)))
	b.log.Close()
	done, kills, litter := 0, 0, 0
	for ; done < writes; kills++ {
		c := exec.CommandContext(t.Context(), os.Args[0], b.dir, b.state, fmt.Sprint(size))
		c.Env = append(os.Environ(), "HISTORY_CHILD=write")
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		for range 1 + rand.IntN(20) {
			if _, err := r.ReadByte(); err != nil {
				t.Fatal("the writer ended by itself:", err)
			}
			done++
		}
		<-time.After(rand.N(3 * time.Millisecond)) // nothing is waited for: the moment of the kill is random
		c.Process.Kill()
		c.Wait()
		if !whole([]byte(b.get("target"))) {
			t.Fatal("torn or missing")
		}
		litter += strings.Count(fmt.Sprint(b.names()), ".ferrule-")
		b.log = b.open(0)
		torn, err := b.log.Settle(b.root)
		if err != nil || len(torn) > 0 {
			t.Fatal("not settled: ", torn, err)
		}
		for _, n := range b.names() {
			if strings.Contains(n, ".ferrule-") {
				t.Error("left behind:", n)
			} else if fi, err := os.Stat(filepath.Join(b.dir, n)); err == nil && !fi.IsDir() && !whole([]byte(b.get(n))) {
				t.Error("torn:", n)
			}
		}
		if es := b.entries("target", ""); len(es) > 0 && !equal(es[0].After, sum(b.get("target"))) {
			t.Errorf("the history says %v", es[0])
		}
		b.log.Close()
	}
	t.Logf("%d writes, %d kills, temporary files left before settling %d", done, kills, litter)
}

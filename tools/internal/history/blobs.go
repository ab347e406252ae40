package history

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ferrule/tools/internal/atomicfile"
)

func (l *Log) blob(sum atomicfile.Sum) string { return filepath.Join(l.dir, "blobs", sum.String()) }

// store keeps a content under its hash and returns the size of its file. It is written under another name first, so
// that a crash leaves no half blob under a good one. l.mu is held.
func (l *Log) store(sum atomicfile.Sum, content []byte, flush bool) (int64, error) {
	name := l.blob(sum)
	fi, err := os.Stat(name)
	if err == nil && !flush {
		return fi.Size(), nil
	}
	known := err == nil
	var b bytes.Buffer
	l.zip.Reset(&b)
	if _, err := l.zip.Write(content); err != nil {
		return 0, err
	}
	if err := l.zip.Close(); err != nil {
		return 0, err
	}
	size := int64(b.Len())
	if size > l.limit {
		return 0, ErrNotKept
	}
	if l.stored+size > l.limit+l.limit/8 {
		if err := l.trim(l.limit - l.limit/8 - size); err != nil {
			return 0, err
		}
	}
	tmp := filepath.Join(l.dir, "blobs", "."+newID())
	if err := writeFile(tmp, b.Bytes(), flush); err != nil {
		os.Remove(tmp)
		return 0, err
	}
	if err := os.Rename(tmp, name); err != nil {
		os.Remove(tmp)
		return 0, err
	}
	if !known {
		l.stored += size
	}
	if flush {
		return size, syncDir(filepath.Dir(name))
	}
	return size, nil
}

func writeFile(name string, b []byte, flush bool) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && flush {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Blob returns a content that was kept, or ErrNotKept. What does not have its hash any more is not returned.
func (l *Log) Blob(sum atomicfile.Sum) ([]byte, error) {
	b, err := os.ReadFile(l.blob(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotKept
	}
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), MaxContent+1))
	if err != nil || sha256.Sum256(content) != sum {
		return nil, ErrNotKept
	}
	return content, nil
}

func (l *Log) has(sum atomicfile.Sum) bool {
	_, err := os.Stat(l.blob(sum))
	return err == nil
}

// trim removes blobs, those used longest ago first, until at most target bytes are left. Only content goes, no line:
// other processes may be reading the log. l.mu is held.
func (l *Log) trim(target int64) error {
	if err := l.refresh(); err != nil {
		return err
	}
	last := map[atomicfile.Sum]int{} // the newest entry that needs a blob
	total := int64(0)
	for i, e := range l.entries {
		if e.Size > 0 && e.Before != nil {
			if _, ok := last[*e.Before]; !ok && l.has(*e.Before) {
				total += e.Size
			}
			last[*e.Before] = i
		}
	}
	for i, e := range l.entries {
		if total <= target {
			break
		}
		if e.Size == 0 || e.Before == nil || last[*e.Before] != i || !l.has(*e.Before) {
			continue
		}
		if err := os.Remove(l.blob(*e.Before)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= e.Size
	}
	l.stored = max(total, 0)
	return nil
}

// prune removes entries that are too old or too many, and all blobs that no entry needs, and writes the log anew. No
// other process may have the log open.
func (l *Log) prune(now time.Time) error {
	kept, sizes := l.keep(now)
	if err := l.removeBlobs(sizes); err != nil {
		return err
	}
	l.stored = 0
	for _, n := range sizes {
		l.stored += n
	}
	if len(kept) == len(l.entries) {
		return nil
	}
	return l.rewrite(kept)
}

// keep chooses from the newest to the oldest, and returns the sizes of the blobs that are needed. An entry that waits to
// be settled stays whatever its age.
func (l *Log) keep(now time.Time) (kept []*Entry, sizes map[atomicfile.Sum]int64) {
	sizes = map[atomicfile.Sum]int64{}
	total, full := int64(0), false
	for _, e := range slices.Backward(l.entries) {
		if e.State == Void {
			continue
		}
		const line = 600 // bytes of an entry's lines, about
		need := int64(line)
		if e.Before != nil && sizes[*e.Before] == 0 {
			need += e.Size
		}
		full = full || total+need > l.limit || len(kept) >= maxEntries
		if e.State != Pending && (full || now.Sub(e.Time) > maxAge) {
			continue
		}
		total += need
		if e.Before != nil && e.Size > 0 {
			sizes[*e.Before] = e.Size
		}
		kept = append(kept, e)
	}
	slices.Reverse(kept)
	return kept, sizes
}

func (l *Log) removeBlobs(keep map[atomicfile.Sum]int64) error {
	names, err := os.ReadDir(filepath.Join(l.dir, "blobs"))
	if err != nil {
		return err
	}
	for _, n := range names {
		var sum atomicfile.Sum
		if sum.UnmarshalText([]byte(n.Name())) == nil {
			if _, ok := keep[sum]; ok {
				continue
			}
		} else if !strings.HasPrefix(n.Name(), ".") {
			continue // not ours
		}
		if err := os.Remove(filepath.Join(l.dir, "blobs", n.Name())); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces the log by one that holds only these entries.
func (l *Log) rewrite(kept []*Entry) error {
	name := filepath.Join(l.dir, "log.jsonl")
	tmp := name + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	next := &Log{file: f, byID: map[string]*Entry{}}
	for _, e := range kept {
		if err = next.append(event{What: begin, Entry: e}); err == nil && e.State != Pending {
			err = next.append(event{What: string(e.State), Entry: e})
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := l.file.Close(); err != nil { // before the rename, for Windows
		return err
	}
	rerr := os.Rename(tmp, name)
	if l.file, err = openLog(l.dir); err != nil {
		return errors.Join(rerr, err)
	}
	l.offset, l.entries, l.byID = 0, nil, map[string]*Entry{}
	return errors.Join(rerr, l.refresh())
}

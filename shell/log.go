package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// spillAt is how much of a foreground command's raw output is held back before a file is made for it. Most commands
// print less and never touch the disk.
const spillAt = 64 << 10

// logBudget and maxLogs bound the logs of everything that has ended. Beyond them the oldest are removed.
const (
	logBudget = 512 << 20
	maxLogs   = 2 * maxEnded
)

// A logDir owns the folder of raw output. The folder is made when the first file needs it, for the user only, and goes
// with close; so does every file in it that is ours, and none that is not.
type logDir struct {
	mu     sync.Mutex // guards what follows
	path   string     // "": a temporary folder
	root   *os.Root
	sizes  map[string]int64 // of all files; -1: still written
	order  []string         // finished files, oldest first
	total  int64            // bytes of the finished ones
	budget int64
	closed bool
}

// create makes a file with an unused name.
func (d *logDir) create(name string) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("no log file can be made in %s: %v", d.path, errors.Unwrap(err))
	}
	d.sizes[name] = -1
	return f, nil
}

func (d *logDir) open() (err error) {
	switch {
	case d.closed:
		return errClosed
	case d.root != nil:
		return nil
	}
	if d.path == "" {
		d.path, err = os.MkdirTemp("", "ferrule-")
	} else {
		err = os.MkdirAll(d.path, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the folder for logs cannot be made: %v", err)
	}
	fi, err := os.Lstat(d.path)
	if err != nil || !fi.IsDir() || !private(fi) {
		return fmt.Errorf("the folder for logs, %s, must be a folder that only its owner can enter", d.path)
	}
	if d.root, err = os.OpenRoot(d.path); err != nil {
		return fmt.Errorf("the folder for logs cannot be used: %v", err)
	}
	d.sizes = map[string]int64{}
	return nil
}

// name returns the full path of a file, or "" if it had to make room.
func (d *logDir) name(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.sizes[name]; !ok {
		return ""
	}
	return filepath.Join(d.path, name)
}

// finished says that nothing more is written to a file, and makes room where the budget is used up.
func (d *logDir) finished(name string, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root == nil {
		return
	}
	d.sizes[name] = size
	d.order = append(d.order, name)
	d.total += size
	for (d.total > d.budget || len(d.order) > maxLogs) && len(d.order) > 1 {
		oldest := d.order[0]
		d.order = d.order[1:]
		d.total -= d.sizes[oldest]
		d.drop(oldest)
	}
}

func (d *logDir) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(name)
}

func (d *logDir) drop(name string) {
	delete(d.sizes, name)
	if d.root != nil {
		d.root.Remove(name) // the user may have been faster
	}
}

func (d *logDir) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.root == nil {
		return nil
	}
	for name := range d.sizes {
		d.root.Remove(name)
	}
	d.root.Close()
	d.root = nil
	if err := os.Remove(d.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the folder of logs %s was left, something else is in it", d.path)
	}
	return nil
}

var errNoLog = errors.New("there is no log file")

// A logFile holds the raw bytes of one stream, at most max of them. The first quarter of that stays as it is. The rest
// is the end of the stream: when it is full, its older half is dropped and the younger moved down, so the file can be
// read in order at any time. A line between the two says how much was dropped.
//
// A write never fails: what the disk refuses is lost, and that is remembered. A logFile is safe for concurrent use.
type logFile struct {
	dir  *logDir
	name string
	max  int64

	mu      sync.Mutex // guards what follows
	held    []byte     // until there is a file
	f       *os.File
	size    int64
	dropped int64
	refused bool // the file could not be made or written
	closed  bool
}

// gapWidth is the length of the line that stands for what was dropped.
const gapWidth = 64

func (l *logFile) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.refused {
		return
	}
	if l.f == nil {
		if len(l.held)+len(p) <= spillAt {
			l.held = append(l.held, p...)
			return
		}
		if l.create() != nil {
			return
		}
	}
	l.put(p)
}

// create makes the file and moves into it what was held back.
func (l *logFile) create() (err error) {
	if l.f, err = l.dir.create(l.name); err != nil {
		l.refused = true
		return err
	}
	held := l.held
	l.held = nil
	l.put(held)
	return nil
}

func (l *logFile) put(p []byte) {
	for len(p) > 0 && !l.refused {
		if l.size >= l.max {
			l.shrink()
			continue
		}
		k := min(int64(len(p)), l.max-l.size)
		_, err := l.f.WriteAt(p[:k], l.size)
		l.refused = err != nil
		l.size += k
		p = p[k:]
	}
}

// shrink drops the older half of the file's second part.
func (l *logFile) shrink() {
	first := l.max / 4
	from := first // where the second part begins
	if l.dropped > 0 {
		from += gapWidth
	}
	to := first + gapWidth
	keep := (l.max - to) / 2
	l.dropped += l.size - keep - from
	gap := fmt.Sprintf("\n[... %d bytes left out ...]", l.dropped)
	gap += strings.Repeat(" ", gapWidth-1-len(gap)) + "\n"
	buf := make([]byte, min(keep, 256<<10))
	for at := l.size - keep; at < l.size; {
		n, err := l.f.ReadAt(buf[:min(int64(len(buf)), l.size-at)], at)
		if n == 0 {
			l.refused = err != nil
			return
		}
		if _, err := l.f.WriteAt(buf[:n], to); err != nil {
			l.refused = true
			return
		}
		at, to = at+int64(n), to+int64(n)
	}
	l.size = to
	_, err := l.f.WriteAt([]byte(gap), first)
	l.refused = err != nil || l.f.Truncate(l.size) != nil
}

// keep makes sure that there is a file and returns its path.
func (l *logFile) keep() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		if l.closed || l.refused {
			return "", errNoLog
		}
		if err := l.create(); err != nil {
			return "", err
		}
	}
	return l.dir.name(l.name), nil
}

// path returns where the file is, or "" if there is none.
func (l *logFile) path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return ""
	}
	return l.dir.name(l.name)
}

// full reports that the log lacks something.
func (l *logFile) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped > 0 || l.refused
}

// close ends writing. Without stay the file goes as well.
func (l *logFile) close(stay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.held = true, nil
	if l.f == nil {
		return
	}
	l.f.Close()
	if stay {
		l.dir.finished(l.name, l.size)
	} else {
		l.dir.remove(l.name)
	}
}

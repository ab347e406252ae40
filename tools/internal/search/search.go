// Package search finds the lines of files that match a regular expression, and renders them for a model.
//
// Begin with Compile, which reads a pattern in ripgrep's dialect, and Files, which searches a list of files in parallel
// and answers in a stable order, within a number of entries and of characters.
//
// The layers, from the bottom: runes and property (sets of symbols), parse, escape and class (pattern → nodes), prog
// (nodes → program), nfa and dfa (program → matches), literal and needle (what to look for first), scan (matching lines
// of a text), source (a file → its text in pieces), collect and show (matches → entries), search (many files → answer).
//
// The package does not list files, knows no ignore rules and keeps nothing between calls.
package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Mode is the shape of an answer.
type Mode int

const (
	FilesWithMatches Mode = iota // a file is an entry; the newest first, ties in path order
	Count                        // a file and its number of matching lines; in path order
	Content                      // a line; in path order
)

// DefaultChars is the length of an answer when Query.MaxChars is 0.
const DefaultChars = 48_000

// Query is what is asked of Files. Pattern is needed; the rest has useful zero values.
type Query struct {
	Pattern *Pattern
	Mode    Mode

	Before, After int  // lines of context; Content only
	Only          bool // an entry for each match and nothing of its line; Content only; then there is no context
	Numbers       bool // line numbers; Content only

	Limit    int  // entries shown; 0: no limit
	Offset   int  // entries skipped
	MaxChars int  // characters of the answer; 0: DefaultChars. One entry is always shown.
	Single   bool // the user named the one file: it is searched even if it is binary, and lines go without its name

	Name func(name string) string // how a file is called in the answer; called concurrently; nil: as in names
}

// Found is an answer.
type Found struct {
	Text  string // the entries, a line each; in Content groups are parted by "--" if context was asked for
	Shown int    // entries in Text
	Total int    // entries in all; -1 if the search ended before it knew
	Cut   bool   // there are entries behind those shown

	Files int // files with matches and
	Lines int // matching lines (matches, where they may cross lines), among those searched

	Complete   bool // false: the context ended first
	Searched   int  // files dealt with, whatever came of it
	Opened     int  // files whose content was looked at
	Binary     int  // files that hold no text; they were left out unless Single
	Unreadable Unreadable
}

// Unreadable tells about files that could not be read.
type Unreadable struct {
	Count int
	Names []string // the first five in path order, as Query.Name has them
}

const (
	chunkSize  = 64       // files that a worker takes at once
	maxWorkers = 8        // a worker holds up to 9 MB
	heldChars  = 16 << 20 // of entries that wait for their turn; beyond it they are only counted, and made again if needed
	namesTold  = 5
	maxContext = 1 << 20 // lines
	maxOffset  = 1 << 40
)

// Files searches the named files below dir, which are relative to it and in path order. It starts up to eight workers and
// waits for them.
//
// In Count and Content the search stops when the answer is known to be full. The answer does not depend on the number of
// workers or on chance. When ctx ends, the answer holds what was found until then.
//
// A file that is not there any more, or is not a regular file, is passed over. The error is about dir.
func Files(ctx context.Context, dir string, names []string, q Query) (*Found, error) {
	return files(ctx, dir, names, q, usual)
}

func files(ctx context.Context, dir string, names []string, q Query, sizes sizes) (*Found, error) {
	t, err := openTree(dir)
	if err != nil {
		return nil, err
	}
	defer t.close()
	q.MaxChars = cmp.Or(q.MaxChars, DefaultChars)
	q.Before, q.After, q.Offset = min(q.Before, maxContext), min(q.After, maxContext), min(q.Offset, maxOffset)
	if q.Only = q.Only && q.Mode == Content; q.Only {
		q.Before, q.After = 0, 0
	}
	r := &run{ctx: ctx, tree: t, names: names, q: q, sizes: sizes, big: make(chan struct{}, 1)}
	r.limit = q.MaxChars + 1 // every entry has a line break, so there is always a limit
	if q.Limit > 0 {
		r.limit = min(r.limit, q.Limit)
	}
	r.chunks = make([]chunk, (len(names)+chunkSize-1)/chunkSize)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(r.chunks)) {
		wg.Go(r.work)
	}
	wg.Wait()
	return r.answer(), nil
}

// run is one search. Workers take chunks of files in order; chunks may be finished in any order.
type run struct {
	ctx   context.Context
	tree  *tree
	names []string
	q     Query
	limit int
	sizes sizes
	big   chan struct{}

	next atomic.Int64 // chunk to be taken
	stop atomic.Bool  // the answer is full
	late atomic.Bool  // the context ended with work left
	held atomic.Int64 // characters of entries in chunks

	queue
}

// queue holds the chunks in order. What it says of the front, the finished chunks before the first unfinished one, can be
// shown.
type queue struct {
	mu      sync.Mutex // guards the rest until all workers have ended
	chunks  []chunk
	front   int // number of chunks
	entries int // their entries
	chars   int // length of these
}

// chunk is what came of chunkSize files.
type chunk struct {
	finished   bool
	hits       []hit
	entries    int
	chars      int
	searched   int
	opened     int
	binary     int
	unreadable []int // indexes of names
}

// worker is the state of one goroutine.
type worker struct {
	run  *run
	scan *scanner
	buf  buffers
}

func (r *run) worker(stop func() bool) *worker {
	return &worker{run: r, scan: newScanner(r.q.Pattern, stop), buf: buffers{sizes: r.sizes, big: r.big}}
}

// ended reports whether to stop at once.
func (r *run) ended() bool { return r.tooLate() || r.stop.Load() }

func (r *run) tooLate() bool {
	if r.ctx.Err() == nil {
		return false
	}
	r.late.Store(true)
	return true
}

func (r *run) work() {
	w := r.worker(r.ended)
	for {
		k := int(r.next.Add(1)) - 1
		if k >= len(r.chunks) || r.ended() {
			return
		}
		first := k * chunkSize
		c := w.chunk(first, min(len(r.names), first+chunkSize))
		r.finish(k, c)
	}
}

func (w *worker) chunk(first, last int) chunk {
	r := w.run
	var c chunk
	for i := first; i < last && !r.ended(); i++ {
		lim := limits{stop: r.q.Offset + r.limit + 1}
		if r.q.Mode == Content && r.q.Offset == 0 && r.held.Load() < heldChars {
			if c.chars > r.q.MaxChars && c.entries > 1 {
				break // these entries alone fill the answer
			}
			lim.chars, lim.full = max(1, r.q.MaxChars-c.chars), true
		}
		w.file(&c, i, lim)
	}
	r.held.Add(int64(c.chars))
	return c
}

// file searches one file and adds what came of it.
func (w *worker) file(c *chunk, i int, lim limits) {
	c.searched++
	h, binary, err := w.search(i, lim)
	if binary {
		c.binary++
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular):
		return
	case errors.Is(err, errBinary):
		c.opened++
		return
	case err != nil:
		c.unreadable = append(c.unreadable, i)
	default:
		c.opened++
	}
	if h.count == 0 || w.run.q.Only && h.entries == 0 {
		return
	}
	if w.run.q.Mode != Content {
		h.entries = 1
	}
	c.hits = append(c.hits, h)
	c.entries += h.entries
	c.chars += h.chars
}

func (w *worker) search(i int, lim limits) (h hit, binary bool, err error) {
	r := w.run
	f, err := r.tree.open(r.names[i])
	if err != nil {
		return hit{}, false, err
	}
	defer f.close()
	src := w.buf.open(f, &r.q)
	defer src.close()
	c := collector{q: &r.q, scan: w.scan, name: r.name(i), lim: lim, hit: hit{file: i, modified: f.modified}}
	err = c.collect(src)
	return c.hit, src.binary, err
}

// finish hands in a chunk, and stops the search when the finished chunks at the front fill the answer.
func (r *run) finish(k int, c chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.finished = true
	r.chunks[k] = c
	for r.front < len(r.chunks) && r.chunks[r.front].finished {
		r.entries += r.chunks[r.front].entries
		r.chars += r.chunks[r.front].chars
		r.front++
	}
	if r.q.Mode != FilesWithMatches && (r.entries > r.q.Offset+r.limit || r.chars > r.q.MaxChars && r.entries > 1) {
		r.stop.Store(true)
	}
}

// answer puts the finished chunks together.
func (r *run) answer() *Found {
	f := &Found{}
	var hits []hit
	known := !r.late.Load() && !r.stop.Load()
	for _, c := range r.chunks { // when the search was stopped, those at the front fill the answer
		hits = append(hits, c.hits...)
		f.Searched += c.searched
		f.Opened += c.opened
		f.Binary += c.binary
		f.Unreadable.Count += len(c.unreadable)
		for _, i := range c.unreadable {
			if len(f.Unreadable.Names) < namesTold {
				f.Unreadable.Names = append(f.Unreadable.Names, r.name(i))
			}
		}
	}
	for i := range hits {
		known = known && !(r.q.Mode == Content && hits[i].more)
		f.Total += hits[i].entries
		f.Lines += hits[i].count
	}
	f.Files = len(hits)
	if r.q.Mode == FilesWithMatches {
		slices.SortStableFunc(hits, func(a, b hit) int { return b.modified.Compare(a.modified) })
	}
	p := page{q: &r.q, left: r.limit, skip: r.q.Offset}
	if r.q.Mode == Content {
		r.content(&p, hits)
	} else {
		for _, h := range hits {
			p.add(entry{text: r.line(h)})
		}
	}
	f.Text, f.Shown, f.Cut, f.Complete = p.text.String(), p.shown, p.cut, !r.late.Load()
	if !known {
		f.Total = -1
	}
	return f
}

// name is what a file is called in the answer.
func (r *run) name(i int) string {
	if r.q.Name == nil {
		return r.names[i]
	}
	return r.q.Name(r.names[i])
}

// line is the entry of a file.
func (r *run) line(h hit) string {
	t := r.name(h.file)
	if r.q.Mode == Count {
		t += ":" + strconv.Itoa(h.count)
	}
	return t
}

// content fills the page with lines. Where entries were only counted, the file is searched again for those that the page
// shows.
func (r *run) content(p *page, hits []hit) {
	var w *worker
	for _, h := range hits {
		if p.cut {
			return
		}
		if p.skip >= h.entries {
			p.skip -= h.entries
			continue
		}
		if h.shown == nil {
			if w == nil {
				w = r.worker(r.tooLate)
			}
			again := limits{skip: p.skip, chars: r.q.MaxChars, stop: p.skip + p.left + 1, full: true}
			h, _, _ = w.search(h.file, again) // what cannot be read now shows nothing
			p.skip = 0
		}
		for _, e := range h.shown {
			p.add(e)
		}
	}
}

// page takes entries until it is full.
type page struct {
	q     *Query
	skip  int // entries still to be passed over
	left  int // entries still to be shown
	shown int
	chars int
	cut   bool
	text  strings.Builder
}

func (p *page) add(e entry) {
	if p.skip > 0 {
		p.skip--
		return
	}
	chars := cmp.Or(e.chars, utf8.RuneCountInString(e.text)+1)
	// A page that begins with a new group says so if it is not the first, so that pages put together are the whole.
	parted := e.group && p.q.Before+p.q.After > 0 && p.q.Mode == Content && p.shown+p.q.Offset > 0
	if parted {
		chars += len("--\n")
	}
	if p.cut = p.cut || p.left == 0 || p.shown > 0 && p.chars+chars > p.q.MaxChars; p.cut {
		return
	}
	if parted {
		p.text.WriteString("--\n")
	}
	p.text.WriteString(e.text)
	p.text.WriteByte('\n')
	p.left--
	p.shown++
	p.chars += chars
}

package tools

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"ferrule/tools/internal/roots"
	"ferrule/tools/internal/search"
	"ferrule/tools/internal/walk"
)

type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	Include    string `json:"include,omitempty" schema:"unlisted"` // an older spelling of glob
	Type       string `json:"type,omitempty"`
	OutputMode string `json:"output_mode,omitempty" schema:"enum=content|files_with_matches|count,default=files_with_matches"`
	After      *int   `json:"-A,omitempty" schema:"min=0"`
	Before     *int   `json:"-B,omitempty" schema:"min=0"`
	Around     *int   `json:"-C,omitempty" schema:"min=0"`
	Context    *int   `json:"context,omitempty" schema:"min=0"`
	Numbers    bool   `json:"-n,omitempty" schema:"default=true"`
	IgnoreCase bool   `json:"-i,omitempty"`
	Only       bool   `json:"-o,omitempty"`
	HeadLimit  int    `json:"head_limit,omitempty" schema:"min=0,default=250"`
	Offset     int    `json:"offset,omitempty" schema:"min=0"`
	Multiline  bool   `json:"multiline,omitempty"`
}

// Grep finds files and lines by regular expression.
var Grep = define(spec{
	name: "Grep", title: "Search file contents", toolset: "search", large: true,
	hints: Hints{ReadOnly: true, Idempotent: true},
}, grep)

func grep(ctx context.Context, r *request, in grepInput) (Result, error) {
	start := time.Now()
	pattern, err := search.Compile(in.Pattern, search.PatternOptions{IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	if err != nil {
		return Result{}, err
	}
	in.Glob = r.real(cmp.Or(in.Glob, in.Include))
	filter, err := in.filter()
	if err != nil {
		return Result{}, err
	}
	p, err := r.toRead(ctx, orHere(in.Path))
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	g := grepping{in: in, place: p, query: in.query(pattern)}
	g.query.MaxChars = r.room(p.Given)
	dir, names := p.Path, []string(nil)
	if p.Info.IsDir() {
		filter.Top, filter.Dir, filter.Allow = rootOf(p), p.Path, r.visibleIn(p.Path)
		if names, err = g.list(ctx, filter); err != nil {
			return Result{}, err
		}
	} else {
		if err := regular(p.Info, p.Given); err != nil {
			return Result{}, err
		}
		dir, names = filepath.Dir(p.Path), []string{filepath.Base(p.Path)}
		g.query.Single = true
	}
	g.query.Name = r.below(dir)
	if g.found, err = search.Files(ctx, dir, names, g.query); err != nil {
		return Result{}, fmt.Errorf("%s cannot be searched: %s", printable(p.Given), reason(err))
	}
	if g.query.Single && g.found.Unreadable.Count > 0 {
		return Result{}, g.unreadable()
	}
	g.files = len(names)
	notes := g.notes()
	if n := r.followed(p); n != "" {
		notes = append(notes, n)
	}
	return Result{Text: withNotes(g.found.Text, notes), Meta: g.meta(start)}, nil
}

// filter is which files the arguments choose in a directory.
func (in *grepInput) filter() (o walk.Options, err error) {
	if o.Globs, err = walk.ParseFilter(in.Glob); err != nil {
		return o, err
	}
	if in.Type != "" {
		o.Types = []string{in.Type}
		_, err = walk.LookupType(in.Type)
	}
	return o, err
}

// query is what the arguments ask for. -A and -B win over -C, which context is another name of.
func (in *grepInput) query(p *search.Pattern) search.Query {
	around := cmp.Or(in.Around, in.Context)
	lines := func(side *int) int {
		if side = cmp.Or(side, around); side != nil {
			return *side
		}
		return 0
	}
	mode := map[string]search.Mode{"content": search.Content, "count": search.Count}[in.OutputMode]
	return search.Query{
		Pattern: p, Mode: mode, Before: lines(in.Before), After: lines(in.After), Only: in.Only, Numbers: in.Numbers,
		Limit: in.HeadLimit, Offset: in.Offset,
	}
}

// grepping is one search and what came of it.
type grepping struct {
	in      grepInput
	place   roots.Place
	query   search.Query
	listing *walk.Listing // nil if path is a file
	files   int           // files to be searched
	found   *search.Found
}

// real writes absolute globs, which may begin with ~ or lead through a link,
// as they are without links: that is how files are compared with them.
func (r *request) real(globs string) string {
	if home, err := os.UserHomeDir(); err == nil {
		globs = replaceFront(globs, "~", home)
	}
	for _, dir := range slices.Concat(r.cfg.Roots, r.cfg.ReadDirs) {
		if strings.Contains(globs, filepath.ToSlash(dir)+"/") {
			if p, err := r.resolve(dir, toRead); err == nil {
				globs = replaceFront(globs, dir, p.Path)
			}
		}
	}
	return globs
}

// replaceFront replaces the directory that one of several globs begins with.
func replaceFront(globs, from, to string) string {
	from, to = filepath.ToSlash(from)+"/", filepath.ToSlash(to)+"/"
	if from == to || !strings.Contains(globs, from) {
		return globs
	}
	begin := regexp.MustCompile(`(^|[\s,!{])` + regexp.QuoteMeta(from))
	return begin.ReplaceAllString(globs, "${1}"+strings.ReplaceAll(to, "$", "$$"))
}

// list finds the files to search.
func (g *grepping) list(ctx context.Context, o walk.Options) (names []string, err error) {
	if g.listing, err = walk.List(ctx, o); err != nil {
		return nil, fmt.Errorf("%s cannot be listed: %s", printable(g.place.Given), reason(err))
	}
	names = make([]string, len(g.listing.Files))
	for i, f := range g.listing.Files {
		names[i] = f.Path
	}
	return names, nil
}

// unreadable is the error for a file that was named and cannot be read.
func (g *grepping) unreadable() error {
	f, err := g.place.Open()
	if err != nil {
		return openError(err, printable(g.place.Given))
	}
	f.Close()
	return fmt.Errorf("%s could not be read", printable(g.place.Given))
}

// notes are what stands behind the entries, the most important first.
func (g *grepping) notes() (notes []string) {
	f := g.found
	if told := g.summary(); told != "" {
		notes = append(notes, told)
	}
	if !f.Complete {
		notes = append(notes, fmt.Sprintf("(stopped after %v: %s of %s searched; narrow path, glob or pattern)",
			searchLimit, thousands(f.Searched), count(g.files, "file")))
	}
	if n := f.Unreadable.Count; n > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be read%s)", count(n, "file"), named(f.Unreadable.Names, n)))
	}
	if n := g.query.Pattern.Note(); n != "" {
		notes = append(notes, "("+n+")")
	}
	if f.Binary > 0 && g.query.Single {
		notes = append(notes, g.binary())
	}
	if f.Cut || f.Total == 0 {
		if f.Binary > 0 && !g.query.Single {
			notes = append(notes, fmt.Sprintf("(%s left out)", count(f.Binary, "binary file")))
		}
		if g.listing != nil {
			notes = append(notes, leftOut(g.listing, g.query.Name)...)
		}
	}
	if g.listing != nil {
		l := *g.listing
		l.Complete = l.Complete || !f.Complete // told above
		notes = append(notes, always(&l, g.query.Name)...)
	}
	return notes
}

// binary says that the file that was named holds no text.
func (g *grepping) binary() string {
	if g.query.Mode != search.Content || g.found.Shown == 0 {
		return "(the file is binary)"
	}
	return "(the file is binary; bytes that are no text are shown as \uFFFD or by their code)"
}

// summary says how much was found and how to go on.
func (g *grepping) summary() string {
	f, mode := g.found, g.query.Mode
	unit := "file"
	if mode == search.Content {
		unit = "line"
	}
	next := g.in.Offset + f.Shown
	switch {
	case f.Cut && f.Total >= 0:
		return fmt.Sprintf("(%s of %s; go on with offset %d)", thousands(f.Shown), count(f.Total, unit), next)
	case f.Cut:
		return fmt.Sprintf("(%s shown, there are more; go on with offset %d)", thousands(f.Shown), next)
	case f.Shown == 0 && f.Total > 0:
		return fmt.Sprintf("Nothing at offset %d: %s in all.", g.in.Offset, count(f.Total, "entry"))
	case f.Shown == 0 && f.Total < 0 && f.Files > 0:
		return fmt.Sprintf("Nothing at offset %d of what was found.", g.in.Offset)
	case f.Shown == 0:
		return g.nothing()
	case mode == search.Count:
		what := "matching line"
		if g.query.Pattern.CrossesLines() {
			what = "match"
		}
		return fmt.Sprintf("(%s in %s)", count(f.Lines, what), count(f.Files, "file"))
	case mode == search.FilesWithMatches:
		return fmt.Sprintf("(%s)", count(f.Total, "file"))
	}
	return ""
}

// nothing says that nothing was found, and where.
func (g *grepping) nothing() string {
	globs, kind := g.in.Glob, g.in.Type
	switch {
	case g.query.Single:
		return fmt.Sprintf("No match in %s.", printable(g.place.Given))
	case g.files > 0 || globs == "" && kind == "":
		return fmt.Sprintf("No match in %s.", count(g.found.Searched-g.found.Binary-g.found.Unreadable.Count, "file"))
	case globs == "":
		return fmt.Sprintf("No file there is of type %s.", kind)
	case kind == "":
		return fmt.Sprintf("No file there passes the glob %s.", printable(globs))
	}
	return fmt.Sprintf("No file there of type %s passes the glob %s.", kind, printable(globs))
}

// meta are the facts for programs.
func (g *grepping) meta(start time.Time) map[string]any {
	f := g.found
	meta := searchMeta(start, f.Shown, f.Total, f.Complete && (g.listing == nil || g.listing.Complete), g.listing)
	m := meta["search"].(map[string]any)
	m["cut"], m["searched"], m["opened"], m["binary"] = f.Cut, f.Searched, f.Opened, f.Binary
	m["unreadable"] = f.Unreadable.Count
	if g.listing != nil {
		m["unreadable"] = f.Unreadable.Count + g.listing.Unreadable.Count
	}
	return meta
}

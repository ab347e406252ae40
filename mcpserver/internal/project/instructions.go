// Package project finds what a project folder has to tell a model before it
// begins: the instruction files of the user and the project's authors, the
// prompts that they have written, and the state of git.
//
// Begin with [Sources.Instructions], [PromptDir.Read] and [GitSnapshot]. What is
// found is text of strangers: it is handed on with its path and never obeyed, and
// nothing of a project is run. How it stands in a prompt is for package prompts.
package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ferrule/prompts"
)

// Instruction files: AGENTS.md and its relatives, in which the user and the
// authors of a project say how to work. They are read as text of strangers; what
// they hold is put into a prompt under its path and means nothing to us, apart
// from the imports.

const (
	instructionBudget = 32 << 10 // bytes of all instruction files together
	importDepth       = 5
	importLimit       = 100 // imports that are looked up, found or not
)

// instructionNames are looked for in every directory, in this order: what a
// project shares, then what one user lays over it.
var instructionNames = []string{"AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"}

// Sources says where to look for instructions. Its paths are absolute and free of
// links.
type Sources struct {
	Home  string   // holds the user's own AGENTS.md; may be ""
	Roots []string // project folders
	Cwd   string
	// Open reads a file inside the roots. It must not follow a link out of them
	// nor block, and answers fs.ErrNotExist when there is no file. It is never
	// asked for a path outside of the roots.
	Open func(path string) ([]byte, error)
}

// Instructions collects the user's own file and those of every directory from the
// outermost root around cwd down to cwd, each followed by what it imports. leftOut
// names, with the reason, what was found and not taken.
//
// All together are at most 32 KiB. The user's own file is never crowded out by a
// project; then what is nearer to cwd goes before what is further away. The same
// content is taken once.
func (src Sources) Instructions() (files []prompts.File, leftOut []string) {
	c := &collector{read: readOwn, bases: []string{src.Home}, visited: make(map[string]bool)}
	var user []found
	if src.Home != "" {
		user = c.file(filepath.Join(src.Home, instructionNames[0]), 0)
		for i := range user {
			user[i].User = true
		}
	}
	c.read, c.bases = src.Open, src.Roots
	var nearestFirst [][]found
	for _, dir := range slices.Backward(chain(src.Roots, src.Cwd)) {
		var here []found
		for _, name := range instructionNames {
			here = append(here, c.file(filepath.Join(dir, name), 0)...)
		}
		nearestFirst = append(nearestFirst, here)
	}
	c.choose(slices.Concat([][]found{user}, nearestFirst))
	groups := append(nearestFirst, user)
	for _, group := range slices.Backward(groups) {
		for _, f := range group {
			if f.taken {
				files = append(files, f.File)
			}
		}
	}
	return files, c.leftOut
}

// Nested collects the files that concern Cwd and whose paths are not known, for a
// directory into which the work has moved after the session's instructions were
// read. The user's own file is not among them.
func (src Sources) Nested(known func(path string) bool) []prompts.File {
	src.Home = ""
	files, _ := src.Instructions()
	return slices.DeleteFunc(files, func(f prompts.File) bool { return known(f.Path) })
}

// chain returns the directories from the outermost root around dir down to dir,
// or nothing when no root is around it.
func chain(roots []string, dir string) []string {
	var dirs []string
	top := ""
	for _, root := range roots {
		if Within(root, dir) && (top == "" || Within(root, top)) {
			top = root
		}
	}
	if top == "" {
		return nil
	}
	for ; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == top || dir == filepath.Dir(dir) {
			slices.Reverse(dirs)
			return dirs
		}
	}
}

// Within reports whether path is root or lies in it. Both are absolute and free
// of links.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// A found is a file of instructions that may be taken.
type found struct {
	prompts.File
	taken bool
}

// A collector reads files of instructions and follows their imports.
type collector struct {
	read    func(path string) ([]byte, error)
	bases   []string // where imports may lead
	visited map[string]bool
	imports int
	leftOut []string
}

// file returns the file at path and what it imports, or nothing. No path is read
// twice, which also cuts cycles.
func (c *collector) file(path string, depth int) []found {
	if c.visited[path] {
		return nil
	}
	c.visited[path] = true
	data, err := c.read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if depth > 0 && slices.Contains([]string{".md", ".txt"}, filepath.Ext(path)) { // others may be meant otherwise
			c.leave(path, "an import that is not there")
		}
		return nil
	case err != nil:
		// In running text a folder's name can look like an import.
		if depth == 0 || filepath.Ext(path) != "" {
			c.leave(path, reason(err))
		}
		return nil
	case bytes.IndexByte(data, 0) >= 0:
		c.leave(path, "it is not a text")
		return nil
	}
	text := cut(data)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	out := []found{{File: prompts.File{Path: filepath.ToSlash(path), Text: text}}}
	for name := range importsIn(text) {
		target := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		inside := func(base string) bool { return Within(base, target) }
		c.imports++
		switch {
		case c.visited[target]:
			continue
		case c.imports > importLimit:
			c.leave(path, fmt.Sprintf("its further imports, since %d in all are followed", importLimit))
			return out
		case !slices.ContainsFunc(c.bases, inside):
			c.leave(target, "an import must stay inside the project folders")
		case depth == importDepth:
			c.leave(target, fmt.Sprintf("imports are followed %d deep", importDepth))
		default:
			out = append(out, c.file(target, depth+1)...)
		}
	}
	return out
}

func (c *collector) leave(path, reason string) {
	line := filepath.ToSlash(path) + ": " + reason
	if len(c.leftOut) < importLimit && !slices.Contains(c.leftOut, line) {
		c.leftOut = append(c.leftOut, line)
	}
}

// choose marks what is taken. Groups come in the order of their rank.
func (c *collector) choose(groups [][]found) {
	room := instructionBudget
	seen := make(map[string]bool)
	for _, group := range groups {
		for i := range group {
			f := &group[i]
			switch content := strings.TrimSpace(f.Text); {
			case seen[content]:
			case len(f.Text) > room:
				c.leave(f.Path, fmt.Sprintf("%.1f KiB, and the limit for all instructions is %d KiB",
					float64(len(f.Text))/1024, instructionBudget>>10))
			default:
				seen[content], f.taken = true, true
				room -= len(f.Text)
			}
		}
	}
}

// cut returns a text of at most the budget, with a mark at its end when it was
// longer. It ends at the end of a line, or at least of a character.
func cut(data []byte) string {
	if len(data) <= instructionBudget {
		return string(data)
	}
	mark := fmt.Sprintf("\n[The file goes on. It has %.1f KiB; read it for the rest.]\n", float64(len(data))/1024)
	end := instructionBudget - len(mark)
	for back := 1; back < utf8.UTFMax && !utf8.RuneStart(data[end]); back++ {
		end--
	}
	kept := string(data[:end])
	if i := strings.LastIndexByte(kept, '\n'); i > len(kept)/2 {
		kept = kept[:i]
	}
	return kept + mark
}

func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// readOwn reads a file of the user's own directory. The user may have put links
// there; what is no regular file is not opened, since that could block.
func readOwn(path string) ([]byte, error) {
	f, err := openRegular(os.Stat, os.OpenFile, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4*instructionBudget))
}

// importsIn yields the paths that a Markdown text imports: @path at the beginning
// of a word, outside of code, relative. Code is what stands between fences, in an
// indented block after an empty line, or in backticks. An absolute path is no
// import: "@/…" is how much JavaScript writes its modules.
func importsIn(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence, before := "", ""
		var paragraph strings.Builder
		flush := func() bool {
			p := paragraph.String()
			paragraph.Reset()
			for path := range importsInParagraph(p) {
				if !yield(path) {
					return false
				}
			}
			return true
		}
		for line := range strings.Lines(text) {
			trimmed := strings.TrimSpace(line)
			mark := fenceOf(line)
			empty := before == ""
			before = trimmed
			switch {
			case fence != "":
				if strings.HasPrefix(mark, fence) && mark == trimmed {
					fence, before = "", ""
				}
			case mark != "":
				fence = mark
				if !flush() {
					return
				}
			case trimmed == "":
				if !flush() {
					return
				}
			case empty && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")):
				before = "" // the next line may belong to the block
			default:
				paragraph.WriteString(line)
			}
		}
		flush()
	}
}

// fenceOf returns the row of backticks or tildes that opens or closes a block of
// code in line, or "".
func fenceOf(line string) string {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		row := s[:len(s)-len(strings.TrimLeft(s, c))]
		if len(row) >= 3 && !(c == "`" && strings.Contains(s[len(row):], "`")) {
			return row
		}
	}
	return ""
}

func importsInParagraph(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsSeq(withoutSpans(p)) {
			path, ok := strings.CutPrefix(strings.TrimLeft(word, "(\"'"), "@")
			path = strings.TrimRight(path, ".,;:!?)]}\"'`")
			if !ok || path == "" || strings.ContainsAny(path[:1], "/\\~@") || strings.ContainsAny(path, ":\x00") {
				continue
			}
			if !yield(path) {
				return
			}
		}
	}
}

// withoutSpans replaces each span of code by a NUL. A row of backticks that no
// row of the same length follows is text.
func withoutSpans(p string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(p, '`')
		if i < 0 {
			b.WriteString(p)
			return b.String()
		}
		rest := strings.TrimLeft(p[i:], "`")
		row := len(p) - i - len(rest)
		b.WriteString(p[:i])
		if end := closing(rest, row); end >= 0 {
			b.WriteByte(0)
			p = rest[end:]
		} else {
			b.WriteString(p[i : i+row])
			p = rest
		}
	}
}

// closing returns where in s the span ends that a row of n backticks has opened,
// or -1.
func closing(s string, n int) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		row := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		at += row
		if row == n {
			return at
		}
	}
}

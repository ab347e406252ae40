package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prompt file is Markdown that a user, or a project's authors, have written to
// be called by name. It may begin with front matter, of which four keys count:
//
//	---
//	title: Review
//	description: Look at the change at hand as a reviewer would
//	argument-hint: what to look at
//	name: review
//	---
//	Read the diff of the index …
//
// The name is that of the file unless the front matter gives another. Other keys
// are left alone, since other programs have their own. The text is not a
// template.

const (
	promptLimit = 64 << 10 // bytes of one prompt file
	promptCount = 200      // files of one folder
	promptLine  = 1000     // bytes of one value in front matter
)

// A PromptFile is a prompt that somebody has written.
type PromptFile struct {
	Name        string
	Title       string
	Description string
	Hint        string // what its one argument is for; "" if it takes none
	Text        string
	Path        string // for people
	User        bool   // the user's own, not the project's
}

// A PromptDir is a folder of prompt files.
type PromptDir struct {
	root string // what links may not lead out of; "" for the user's own, who may put links there
	path string // below root, or absolute
}

// UserPrompts is the folder of the user's own prompts, in the state directory.
func UserPrompts(home string) PromptDir { return PromptDir{path: filepath.Join(home, "prompts")} }

// ProjectPrompts is the folder of the prompts that a project brings along.
func ProjectPrompts(root string) PromptDir {
	return PromptDir{root: root, path: filepath.Join(".ferrule", "prompts")}
}

// Mark describes the folder in such a way that it changes when a file does. It is
// cheap. "" says that there is no folder, or that it cannot be read.
func (d PromptDir) Mark() string {
	var b strings.Builder
	err := d.each(func(name string, open func() (fs.File, error)) error {
		f, err := open()
		if err != nil {
			fmt.Fprintf(&b, "%q\n", name)
			return nil
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil {
			fmt.Fprintf(&b, "%q %d %d\n", name, fi.Size(), fi.ModTime().UnixNano())
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return "folder\n" + b.String()
}

// Read returns the prompts in the order of their names, what is wrong with files
// that are none, one sentence each, and a hash of all that was read, or "" when
// nothing was. A folder that is not there holds nothing.
func (d PromptDir) Read() (files []PromptFile, wrong []string, hash string) {
	sum := sha256.New()
	taken := make(map[string]string)
	err := d.each(func(name string, open func() (fs.File, error)) error {
		path := filepath.ToSlash(filepath.Join(d.root, d.path, name))
		data, err := readPrompt(open)
		if err == nil {
			fmt.Fprintf(sum, "%q %d\n", name, len(data))
			sum.Write(data)
			hash = "some"
		}
		var f PromptFile
		if err == nil {
			f, err = parsePrompt(strings.TrimSuffix(name, ".md"), string(data))
		}
		if err == nil && taken[f.Name] != "" {
			err = fmt.Errorf("%s has the name %s already", taken[f.Name], f.Name)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("the prompt file %s is not served: %s", path, reason(err)))
			return nil
		}
		taken[f.Name] = name
		f.Path, f.User = path, d.root == ""
		files = append(files, f)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		wrong = append(wrong, fmt.Sprintf("the prompts in %s are not served: %s", filepath.ToSlash(filepath.Join(d.root, d.path)), reason(err)))
	}
	if hash != "" {
		hash = hex.EncodeToString(sum.Sum(nil))
	}
	return files, wrong, hash
}

// each calls f for every Markdown file of the folder, in the order of the names.
func (d PromptDir) each(f func(name string, open func() (fs.File, error)) error) error {
	dir, openIn := d.path, func(path string) (*os.File, error) { return openRegular(os.Stat, os.OpenFile, path) }
	readDir := os.ReadDir
	if d.root != "" {
		r, err := os.OpenRoot(d.root)
		if err != nil {
			return err
		}
		defer r.Close()
		openIn = func(path string) (*os.File, error) { return openRegular(r.Stat, r.OpenFile, path) }
		readDir = func(path string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS(), filepath.ToSlash(path)) }
	}
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	n := 0
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".md" || strings.HasPrefix(name, ".") {
			continue
		}
		if n++; n > promptCount {
			return fmt.Errorf("it holds more than %d files; only the first ones count", promptCount)
		}
		if err := f(name, func() (fs.File, error) { return openIn(filepath.Join(dir, name)) }); err != nil {
			return err
		}
	}
	return nil
}

// openRegular opens what is a regular file; anything else could block.
func openRegular(stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error), path string) (*os.File, error) {
	fi, err := stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return open(path, os.O_RDONLY|nonblock, 0)
}

func readPrompt(open func() (fs.File, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, promptLimit+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > promptLimit:
		return nil, fmt.Errorf("it is larger than %d KiB", promptLimit>>10)
	case !utf8.Valid(data) || slices.Contains(data, 0):
		return nil, errors.New("it is not a text in UTF-8")
	}
	return data, nil
}

// isPromptName reports whether a name has 1 to 64 letters, digits and "_.-", and
// begins with one of the former. An expression for it would take 2.5 MB and 8 ms
// of every start.
func isPromptName(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || !strings.ContainsRune("_.-", r)) {
			return false
		}
	}
	n := utf8.RuneCountInString(name)
	return n > 0 && n <= 64 && utf8.ValidString(name)
}

// parsePrompt reads a prompt file. stem is its name without .md.
func parsePrompt(stem, text string) (PromptFile, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	f := PromptFile{Name: stem}
	if head, ok := strings.CutPrefix(text, "---\n"); ok {
		head, body, closed := cutFrontMatter(head)
		if !closed {
			return f, errors.New("its front matter has no closing line ---")
		}
		text = body
		for line := range strings.Lines(head) {
			if err := f.set(strings.TrimRight(line, "\n")); err != nil {
				return f, err
			}
		}
	}
	f.Text = strings.TrimSpace(text)
	switch {
	case !isPromptName(f.Name):
		return f, fmt.Errorf("%q is no name for a prompt; it may hold letters, digits, dots, _ and -", f.Name)
	case f.Text == "":
		return f, errors.New("it has no text")
	}
	return f, nil
}

func cutFrontMatter(s string) (head, body string, closed bool) {
	if body, ok := strings.CutPrefix(s, "---\n"); ok {
		return "", body, true
	}
	head, body, closed = strings.Cut(s, "\n---\n")
	if !closed {
		head, closed = strings.CutSuffix(s, "\n---")
	}
	return head, body, closed
}

// set takes one line of front matter. Lines that go on from one above belong to
// keys that we do not know.
func (f *PromptFile) set(line string) error {
	key, value, ok := strings.Cut(line, ":")
	to := map[string]*string{"name": &f.Name, "title": &f.Title, "description": &f.Description, "argument-hint": &f.Hint}[key]
	if !ok || to == nil {
		return nil
	}
	value = strings.TrimSpace(value)
	switch {
	case len(value) > promptLine:
		return fmt.Errorf("the value of %s is longer than %d characters", key, promptLine)
	case value == "|" || value == ">" || strings.HasPrefix(value, "|-") || strings.HasPrefix(value, ">-"):
		return fmt.Errorf("the value of %s must stand on its line", key)
	}
	for q, escaped := range map[string]string{`"`: `\"`, "'": "''"} {
		if inner, ok := strings.CutPrefix(value, q); ok && strings.HasSuffix(inner, q) {
			value = strings.ReplaceAll(strings.TrimSuffix(inner, q), escaped, q)
			break
		}
	}
	if value != "" {
		*to = value
	}
	return nil
}

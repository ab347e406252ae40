package tools

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ferrule/shell"
)

// What a client may look at beside the tools: the background commands and
// their output, and the folders of the workspace.

// Tasks describes the background commands of the session, oldest first.
func (s *Session) Tasks() []shell.TaskInfo {
	s.mu.Lock()
	sh := s.sh
	s.mu.Unlock()
	if sh == nil {
		return nil
	}
	return sh.Tasks()
}

// WhenTaskEnds has f called once a background command has ended. It reports
// false, and f is not called, if no such command runs. f must not wait.
func (s *Session) WhenTaskEnds(id string, f func()) bool {
	s.mu.Lock()
	sh := s.sh
	s.mu.Unlock()
	return sh != nil && sh.WhenOver(id, f)
}

// TaskLog returns the end of what a background command has written so far to
// "stdout" or "stderr", cleaned, at most DefaultResultChars characters. It
// reports false if this session has no such command or keeps no such output.
func (s *Session) TaskLog(id, stream string) (string, bool) {
	tasks := s.Tasks()
	i := slices.IndexFunc(tasks, func(t shell.TaskInfo) bool { return t.ID == id })
	if i < 0 {
		return "", false
	}
	file := map[string]string{"stdout": tasks[i].StdoutFile, "stderr": tasks[i].StderrFile}[stream]
	if file == "" {
		return "", false
	}
	p, ok := s.ownLog(file)
	if !ok || p.Info == nil {
		return "", false
	}
	f, err := p.Open()
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := tail(f, DefaultResultChars)
	return text, err == nil
}

// tail returns the last n characters of a file, without what terminals do.
func tail(f *os.File, n int) (string, error) {
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	most := int64(n) * utf8.UTFMax
	from := max(fi.Size()-most, 0)
	raw, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if err != nil {
		return "", err
	}
	for from > 0 && len(raw) > 0 && !utf8.RuneStart(raw[0]) {
		raw = raw[1:]
	}
	var b strings.Builder
	c := shell.NewCleaner(func(p []byte) { b.Write(p) })
	c.Write(raw) //nolint:errcheck // it has no errors
	c.Close()
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if over := utf8.RuneCountInString(text) - n; over > 0 {
		for i := range text {
			if over == 0 {
				return text[i:], nil
			}
			over--
		}
	}
	return text, nil
}

// maxListed bounds how many entries of a folder are looked at.
const maxListed = 10_000

// Folders returns the folders of the workspace whose paths begin as given, as
// a user types them: at most so many, and how many there are. A link counts if
// it leads to a folder of the workspace. Hidden ones come when a dot was typed.
func (s *Session) Folders(typed string, most int) (paths []string, total int) {
	typed = filepath.ToSlash(typed)
	for _, d := range s.Dirs() {
		if root := filepath.ToSlash(d.Path); typed != "" && strings.HasPrefix(root, typed) {
			paths = append(paths, root)
		}
	}
	dir, name := path.Split(typed)
	if p, err := s.directory(dir); err == nil {
		paths = append(paths, s.subfolders(p.OpenDir, dir, name)...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths[:min(len(paths), most)], len(paths)
}

// subfolders lists the folders that begin with name in one that is written dir.
func (s *Session) subfolders(open func() (*os.File, error), dir, name string) (paths []string) {
	f, err := open()
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxListed)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || name == "" && e.Name()[0] == '.' || !utf8.ValidString(e.Name()) {
			continue
		}
		is := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			p, err := s.roots.Resolve(dir + e.Name())
			is = err == nil && p.Info != nil && p.Info.IsDir()
		}
		if is {
			paths = append(paths, dir+e.Name())
		}
	}
	return paths
}

package project

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Library keeps the prompts that people have written, as one session sees them.
// It may be used concurrently.
type Library struct {
	Home     string                       // the state directory, which holds the user's own; may be ""
	Reserved func(name string) bool       // names that no prompt file can have
	Trusted  func(root, hash string) bool // whether the user has said yes to a project's prompts; nil: no

	mu      sync.Mutex // guards folders
	folders []promptFolder
}

// A promptFolder is one folder as it was read last.
type promptFolder struct {
	dir     PromptDir
	mark    string
	files   []PromptFile
	hash    string
	trusted bool
}

// Look returns the prompts of the user and of the trusted ones among the roots,
// by name, and a text that changes when they do. A project's prompt takes the
// place of the user's of that name, and one of the first root that of the others.
// What is not served for a reason is logged when the folder has changed.
func (l *Library) Look(roots []string) (files map[string]PromptFile, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now []promptFolder
	if l.Home != "" {
		now = append(now, promptFolder{dir: UserPrompts(l.Home)})
	}
	for _, root := range slices.Backward(roots) {
		if !sameFolder(filepath.Join(root, ".ferrule"), l.Home) { // the user's own are no project's
			now = append(now, promptFolder{dir: ProjectPrompts(root)})
		}
	}
	files = make(map[string]PromptFile)
	var b strings.Builder
	for i := range now {
		f := &now[i]
		l.refresh(f)
		fmt.Fprintf(&b, "%q %v %s\n", f.dir.root, f.trusted, f.mark)
		for _, x := range f.files {
			if f.trusted {
				files[x.Name] = x
			}
		}
	}
	l.folders = now
	return files, b.String()
}

// refresh reads a folder unless it is as it was before.
func (l *Library) refresh(f *promptFolder) {
	f.mark = f.dir.Mark()
	old := promptFolder{trusted: true}
	if i := slices.IndexFunc(l.folders, func(o promptFolder) bool { return o.dir == f.dir }); i >= 0 {
		old = l.folders[i]
	}
	if old.dir == f.dir && old.mark == f.mark {
		f.files, f.hash = old.files, old.hash
	} else {
		var wrong []string
		f.files, wrong, f.hash = f.dir.Read()
		f.files = slices.DeleteFunc(f.files, func(x PromptFile) bool {
			if l.Reserved(x.Name) {
				wrong = append(wrong, fmt.Sprintf("the prompt file %s is not served: %s is the name of a prompt that there always is", x.Path, x.Name))
				return true
			}
			return false
		})
		for _, line := range wrong {
			log.Print(printable(line))
		}
	}
	root := f.dir.root
	f.trusted = root == "" || len(f.files) > 0 && l.Trusted != nil && l.Trusted(root, f.hash)
	if old.trusted && !f.trusted && len(f.files) > 0 {
		log.Printf("%d prompts of the project %s are not served before you trust them; see them and say yes with: ferrule prompt --trust -C %s",
			len(f.files), printable(root), printable(root))
	}
}

// printable returns s without what could do something to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

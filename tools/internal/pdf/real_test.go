//go:build !nopdf

package pdf

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// A sample is a line of testdata/manifest.tsv.
type sample struct {
	name, kind, sum, licence, source string
	data                             []byte
}

// samples yields the files of the manifest that are here: those of testdata,
// and those in the folder that FERRULE_PDFS names.
func samples(t *testing.T) (all []sample) {
	f, err := os.Open("testdata/manifest.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		p := strings.Split(s.Text(), "\t")
		if len(p) != 5 {
			t.Fatalf("manifest: %q", s.Text())
		}
		x := sample{name: p[0], kind: p[1], sum: p[2], licence: p[3], source: p[4]}
		for _, dir := range []string{"testdata", os.Getenv("FERRULE_PDFS")} {
			data, err := os.ReadFile(filepath.Join(dir, x.name))
			if err != nil || dir == "" {
				continue
			}
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != x.sum {
				t.Errorf("%s is not the file of the manifest", x.name)
				continue
			}
			x.data = data
			all = append(all, x)
			break
		}
	}
	return all
}

// TestWords holds our text against that of pdftotext, the first 20 pages of
// each file: running text has to agree in 98 of 100 words, also in columns and
// in Chinese and Japanese. Forms, slides and books kerned letter by letter
// count in the mean only.
func TestWords(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		missing(t, "pdftotext")
	}
	var sum float64
	n := 0
	for _, x := range samples(t) {
		if x.kind == "locked" || x.kind == "scan" {
			continue
		}
		doc, err := reader.Read(t.Context(), x.data, Request{Pages: "1-", MaxImages: 0})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		var ours strings.Builder
		for _, p := range doc.Pages {
			ours.WriteString(p.Text + "\n")
		}
		cmd := exec.Command("pdftotext", "-layout", "-enc", "UTF-8", "-f", "1", "-l", fmt.Sprint(doc.Pages[len(doc.Pages)-1].Number), "-", "-")
		cmd.Stdin = strings.NewReader(string(x.data))
		var said strings.Builder
		cmd.Stderr = &said
		theirs, err := cmd.Output()
		if err != nil {
			t.Errorf("pdftotext %s: %v", x.name, err)
			continue
		}
		if strings.Contains(said.String(), "Missing language pack") {
			t.Logf("%s: pdftotext wants the package poppler-data for it", x.name)
			continue
		}
		f1 := agreement(words(ours.String()), words(string(theirs)))
		t.Logf("%.3f %-9s %s", f1, x.kind, x.name)
		least := map[string]float64{"prose": 0.98, "columns": 0.98, "cjk": 0.98}[x.kind]
		if f1 < least {
			t.Errorf("%s (%s): %.3f of the words agree, want %.2f", x.name, x.kind, f1, least)
		}
		sum += f1
		n++
	}
	if n == 0 {
		t.Fatal("no samples")
	}
	t.Logf("mean %.4f of %d", sum/float64(n), n)
	if mean := sum / float64(n); mean < 0.955 {
		t.Errorf("mean %.3f, want 0.955", mean)
	}
}

// words splits a text into runs of letters and digits; each character of
// Chinese and Japanese is one.
func words(s string) map[string]int {
	m := make(map[string]int)
	var w strings.Builder
	flush := func() {
		if w.Len() > 0 {
			m[w.String()]++
			w.Reset()
		}
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			m[string(r)]++
		case unicode.IsLetter(r), unicode.IsDigit(r):
			w.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return m
}

// agreement is the F1 of two bags of words.
func agreement(a, b map[string]int) float64 {
	var both, all int
	for w, n := range a {
		both += min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	return 2 * float64(both) / float64(max(all, 1))
}

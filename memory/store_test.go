package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ferrule/memory/internal/terms"
)

// open returns a client on a new file, and the store behind it.
func open(t testing.TB, path string) (*Client, *store) {
	t.Helper()
	c, err := New(Config{Settings: DefaultSettings(), File: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, c.back.(*store)
}

func fresh(t testing.TB) (*Client, *store) {
	return open(t, filepath.Join(t.TempDir(), "memory", "memory.db"))
}

func keep(t testing.TB, c *Client, m Memory) Stored {
	t.Helper()
	if m.Scope == "" {
		m.Scope = "p"
	}
	out, err := c.Ingest(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Status == Rejected {
		t.Fatalf("%q: %s", m.Content, out[0].Reason)
	}
	return out[0]
}

func keepAll(t testing.TB, c *Client, texts ...string) {
	t.Helper()
	for _, s := range texts {
		keep(t, c, Memory{Content: s})
	}
}

func find(t testing.TB, c *Client, q Query) []string {
	t.Helper()
	f, err := c.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	var out []string
	for _, h := range f.Hits {
		out = append(out, h.Content)
	}
	return out
}

func list(t testing.TB, c *Client, q Query) (out []Memory) {
	t.Helper()
	for m, err := range c.Walk(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// sound fails the test unless the file and the index are in order.
func sound(t testing.TB, c *Client) {
	t.Helper()
	faults, err := c.Check(t.Context(), false)
	if err != nil || len(faults) > 0 {
		t.Errorf("check: %v %v", faults, err)
	}
}

// Words are found however they are written. Cases H099, H100.
func TestFindsWords(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	texts := []string{
		"测试环境的缓存端口是 6380", "第3步 重建idx-abc后共12条失效链接", "日历的提醒需要设置时区", "retryBudget was renamed",
		"FFMPEG_PATH must be set", "Zoë runs the naïve café service", "サーバーの設定を変更した",
		"the tests of C++ module parse_utf8 are slow", "日志统一用 slog", "사용자 설정을 저장한다", "ระบบบันทึกข้อมูล",
	}
	keepAll(t, c, texts...)
	for q, want := range map[string]int{
		"端口": 0, "失效链接": 1, "abc": 1, "idx-abc": 1, "idxabc": 1, "日历提醒设置": 2, "retry_budget": 3, "retry budget": 3,
		"ffmpegPath": 4, "zoe": 5, "CAFE naive": 5, "サーバー": 6, "utf8 parser": 7, "志": 8, "ＳＬＯＧ": 8, "설정": 9, "บันทึก": 10,
		"cache": -1, "失败": -1,
	} {
		got := find(t, c, Query{Text: q})
		if want < 0 && len(got) > 0 || want >= 0 && (len(got) == 0 || got[0] != texts[want]) {
			t.Errorf("%q found %q", q, got)
		}
	}
}

// What means something to the index is text. Case H101.
func TestQuerySyntaxIsText(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	const text = `idx-abc foo" a:b 100% a_b AND (`
	keepAll(t, c, text, "another one")
	for q, hits := range map[string]int{
		"idx-abc": 1, `foo"`: 1, "AND": 1, "(": 0, "a:b": 1, "100%": 1, "77%": 0, "a_b": 1, "axb": 0, "NEAR(": 0, "*": 0, "^foo": 1,
		`"`: 0, "body:foo": 1, "'; DROP TABLE memories; --": 0, "\x00": 0, "\xff\xfe": 0, "": 0,
	} {
		if got := find(t, c, Query{Text: q}); len(got) != hits {
			t.Errorf("%q found %q, want %d", q, got, hits)
		}
	}
	find(t, c, Query{Text: strings.Repeat("word ", 5000)})
}

func TestDuplicatesAndSuperseding(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	day := func(d int) time.Time { return time.Date(2026, 6, d, 12, 0, 0, 0, time.UTC) }
	first := keep(t, c, Memory{Content: "The staging port is 6379", Session: "a", Importance: 0.5, Tags: []string{"ops"}, Time: day(1)})
	for range 19 {
		d := keep(t, c, Memory{Content: "the  staging PORT is 6379", Session: "b", Importance: 0.9, Tags: []string{"port"}, Time: day(2)})
		if d.Status != Duplicate || d.ID != first.ID {
			t.Fatalf("%+v", d)
		}
	}
	all := list(t, c, Query{})
	if len(all) != 1 || all[0].Seen != 20 || all[0].Importance != 0.9 || !slices.Equal(all[0].Tags, []string{"ops", "port"}) {
		t.Fatalf("twenty times the same is one memory: %+v", all)
	}
	next := keep(t, c, Memory{Content: "The staging port is 6380 now", Session: "a", Time: day(3)})
	if len(next.Similar) != 1 || next.Similar[0].ID != first.ID || next.Status != Kept {
		t.Fatalf("a near copy is stored and told: %+v", next)
	}
	if got := find(t, c, Query{Text: "staging port"}); len(got) != 2 || !strings.Contains(got[0], "6380") {
		t.Errorf("both, the newer first: %q", got)
	}
	last := keep(t, c, Memory{Content: "The staging port is 6381", Supersedes: []string{first.ID, next.ID, "mgone"}})
	if !slices.Equal(last.Superseded, []string{first.ID, next.ID}) || !slices.Equal(last.Unknown, []string{"mgone"}) {
		t.Errorf("%+v", last)
	}
	if got := find(t, c, Query{Text: "staging port"}); len(got) != 1 || !strings.Contains(got[0], "6381") {
		t.Errorf("what was superseded must not be found: %q", got)
	}
	if n := len(list(t, c, Query{Superseded: true})); n != 3 {
		t.Errorf("%d rows, want all three", n)
	}
	keep(t, c, Memory{Content: "The staging port is 6379"})
	if got := find(t, c, Query{Text: "6379"}); len(got) != 1 {
		t.Errorf("said again it holds again: %q", got)
	}
	other := keep(t, c, Memory{Content: "The staging port is 1", Scope: "q", Supersedes: []string{last.ID}})
	if len(other.Unknown) != 1 {
		t.Errorf("another project's memory must not be superseded: %+v", other)
	}
	sound(t, c)
}

func TestFilters(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	day := func(d int) time.Time { return time.Date(2026, 6, d, 12, 0, 0, 0, time.UTC) }
	ids := make(map[string]string)
	for _, m := range []Memory{
		{Content: "cedar one", Tags: []string{"ops", "db"}, Importance: 0.9, Time: day(1)},
		{Content: "cedar two", Tags: []string{"ops"}, Kind: "note", Importance: 0.2, Time: day(2)},
		{Content: "cedar three", Scope: UserScope, Kind: "turn", Importance: 0.5, Time: day(3)},
		{Content: "cedar four", Scope: "q", Time: day(4)},
	} {
		ids[strings.Fields(m.Content)[1]] = keep(t, c, m).ID
	}
	for _, test := range []struct {
		q    Query
		want string
	}{
		{Query{Scopes: []string{"p"}}, "one two"},
		{Query{Scopes: []string{"p", UserScope}}, "one three two"},
		{Query{Tags: []string{"ops"}}, "one two"},
		{Query{Tags: []string{"db", "ops"}}, "one"},
		{Query{Kind: "turn"}, "three"},
		{Query{MinImportance: 0.5}, "one three"},
		{Query{Since: day(2), Until: day(4)}, "three two"},
		{Query{Exclude: []string{ids["one"], ids["four"]}}, "three two"},
		{Query{Limit: 1, Scopes: []string{"q"}}, "four"},
	} {
		var words []string
		for _, w := range find(t, c, Query{Text: "cedar", Limit: max(test.q.Limit, 10), Scopes: test.q.Scopes, Tags: test.q.Tags,
			Kind: test.q.Kind, MinImportance: test.q.MinImportance, Since: test.q.Since, Until: test.q.Until, Exclude: test.q.Exclude}) {
			words = append(words, strings.Fields(w)[1])
		}
		slices.Sort(words)
		if got := strings.Join(words, " "); got != test.want {
			t.Errorf("%+v: %s, want %s", test.q, got, test.want)
		}
	}
}

// Filters do not starve a search whose best matches are somebody else's.
func TestFiltersDoNotStarve(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	var ms []Memory
	for i := range 600 {
		ms = append(ms, Memory{Content: fmt.Sprint("maple maple maple ", i), Scope: "other"})
	}
	ms = append(ms, Memory{Content: "maple syrup", Scope: "other"})
	ms = append(ms, Memory{Content: "a long sentence in which the word maple stands only once, far from the beginning", Scope: "mine"})
	if _, err := c.Ingest(t.Context(), ms...); err != nil {
		t.Fatal(err)
	}
	if got := find(t, c, Query{Text: "maple", Scopes: []string{"mine"}}); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	if got := find(t, c, Query{Text: "maple 77 syrup"}); got[0] != "maple syrup" && got[1] != "maple syrup" {
		t.Errorf("the best of many matches is not in front: %q", got)
	}
}

func TestNeighboursFollow(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	var ids []string
	for _, text := range []string{"Which colour did the logo get?", "Teal.", "And the icon?"} {
		ids = append(ids, keep(t, c, Memory{Content: text, Session: "a"}).ID)
	}
	if got := find(t, c, Query{Text: "logo colour"}); len(got) != 2 || got[1] != "Teal." {
		t.Errorf("the answer is found through the question: %q", got)
	}
	if n, err := c.Delete(t.Context(), ids[0]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := find(t, c, Query{Text: "logo colour"}); len(got) != 0 {
		t.Errorf("nothing of a forgotten memory is left in the index: %q", got)
	}
	s.Close()
}

// Fifty calls at once, each found by its own word. Case H102.
func TestParallelIngest(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	words := strings.Fields("alder birch cedar elm fir hazel oak")
	for i := len(words); i < 50; i++ {
		words = append(words, fmt.Sprint("tree", i))
	}
	var wg sync.WaitGroup
	for _, w := range words {
		wg.Go(func() {
			if out, err := c.Ingest(t.Context(), Memory{Content: "fact " + w, Scope: "p", Session: "a"}); err != nil || out[0].Status != Kept {
				t.Error(out, err)
			}
			if _, err := c.Search(t.Context(), Query{Text: w}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, w := range words {
		if got := find(t, c, Query{Text: w}); len(got) == 0 || got[0] != "fact "+w { // its neighbours in the session follow
			t.Errorf("%s: %q", w, got)
		}
	}
	if got := find(t, c, Query{Text: "fact", Limit: 50}); len(got) != 50 {
		t.Errorf("%d facts", len(got))
	}
	sound(t, c)
}

func TestRecallGate(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	recall := func(text string) int { return len(c.Recall(t.Context(), Query{Text: text}).Hits) }
	keepAll(t, c, "The health check listens on 9191")
	if recall("health check port") != 1 {
		t.Error("the only memory must pass")
	}
	for i := range 30 {
		keepAll(t, c, fmt.Sprintf("the deploy of service %d uses port %d", i, 8000+i))
	}
	if n := recall("how should birthday cakes use chocolate icing"); n != 0 {
		t.Errorf("%d memories for a question about something else", n)
	}
	if n := recall("deploy birthday cakes with chocolate icing and candles"); n != 0 {
		t.Errorf("%d memories for one word in common", n)
	}
	if n := recall("which port does service 7 use"); n != 5 {
		t.Errorf("%d memories for a question about a stored fact", n)
	}
	if n := recall(strings.Repeat("长", MaxQuery*2)); n != 0 {
		t.Errorf("%d memories", n)
	}
}

// A row that somebody has damaged is passed over and told once; nothing is
// deleted. Case H098.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	for i := range 6 {
		keepAll(t, c, fmt.Sprint("alpha number ", i))
	}
	err := s.do(t.Context(), func(h *handle) error {
		return h.w.alone(t.Context(), func(x *tx) error {
			return x.script(`UPDATE memories SET tags='{"broken' WHERE id=1; UPDATE memories SET content=CAST(x'ff' AS TEXT) WHERE id=2;
				UPDATE memories SET said=9223372036854775807 WHERE id=3; UPDATE memories SET importance=7 WHERE id=4;`)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Search(t.Context(), Query{Text: "alpha number", Tags: nil})
	if err != nil || len(f.Hits) != 2 || !strings.HasPrefix(f.Note, "4 damaged") {
		t.Errorf("%+v %v", f, err)
	}
	if f, err = c.Search(t.Context(), Query{Text: "alpha"}); err != nil || f.Note != "" {
		t.Errorf("told twice: %q %v", f.Note, err)
	}
	if got := find(t, c, Query{Text: "alpha", Tags: []string{"x"}}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	st, err := c.Stats(t.Context())
	if err != nil || st.Damaged != 4 || st.Memories != 6 {
		t.Errorf("%+v %v", st, err)
	}
	if n := len(list(t, c, Query{})); n != 2 {
		t.Errorf("%d listed", n)
	}
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are not what guards files here")
	}
	dir := filepath.Join(t.TempDir(), "home", "memory")
	path := filepath.Join(dir, "memory.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil { // made by somebody careless
		t.Fatal(err)
	}
	c, _ := open(t, path)
	keepAll(t, c, "something")
	find(t, c, Query{Text: "something"})
	seen := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
		seen++
		return nil
	})
	if err != nil || seen < 4 { // directory, file, log, shared memory
		t.Error(seen, err)
	}
}

// No byte of a forgotten memory is left in any file.
func TestForgetLeavesNoTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, _ := open(t, filepath.Join(dir, "memory.db"))
	second, _ := open(t, filepath.Join(dir, "memory.db")) // another process, idle
	var ms []Memory
	for i := range 200 {
		ms = append(ms, Memory{ID: fmt.Sprint("m", i), Content: fmt.Sprintf("ordinary memory %d about nothing in particular", i), Session: "s", Scope: "p"})
	}
	for _, i := range []int{3, 90, 91, 199} {
		ms[i].Content, ms[i].Source = fmt.Sprintf("the quetzalcoatl%d project is confidential", i), "zanzibar"
	}
	if _, err := c.Ingest(t.Context(), ms...); err != nil {
		t.Fatal(err)
	}
	words := []string{"quetzalcoatl", "zanzibar", "confidenti"}
	if len(traces(t, dir, words)) != len(words) {
		t.Fatal("the test looks in the wrong place")
	}
	find(t, second, Query{Text: "quetzalcoatl3"})
	if n, err := c.Delete(t.Context(), "m3", "m90", "m91", "m199", "mgone"); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	keepAll(t, c, "a new beginning")
	if left := traces(t, dir, words); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if got := find(t, second, Query{Text: "new beginning"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	sound(t, c)
}

// traces returns the words that stand in any file of dir.
func traces(t *testing.T, dir string, words []string) (found []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files {
		all = append(all, readOrNil(t, filepath.Join(dir, f.Name()))...)
	}
	for _, w := range words {
		if strings.Contains(string(all), w) {
			found = append(found, w)
		}
	}
	return found
}

// A full disk is told, tears nothing, and ends when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	keepAll(t, c, "before")
	limit := func(pages int) {
		t.Helper()
		if err := s.do(t.Context(), func(h *handle) error {
			return h.w.alone(t.Context(), func(x *tx) error { return x.script(fmt.Sprint("PRAGMA max_page_count=", pages)) })
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(60)
	kept := 1
	var err error
	for i := range 1000 {
		if _, err = c.Ingest(t.Context(), Memory{Content: fmt.Sprint(i, strings.Repeat(" filling the file with words", 200)), Scope: "p"}); err != nil {
			break
		}
		kept++
	}
	if !errors.Is(err, errFull) {
		t.Fatalf("the error is %v", err)
	}
	if n := len(list(t, c, Query{})); n != kept {
		t.Errorf("%d rows, %d were acknowledged", n, kept)
	}
	if got := find(t, c, Query{Text: "before"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	limit(100000)
	keepAll(t, c, "after")
	sound(t, c)
}

// A file whose pages or header are destroyed is mended: what can be read is
// kept, the old file stays beside it, and the next answer says so.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func([]byte) []byte{
		"header":    func(b []byte) []byte { copy(b, "this is no database"); return b },
		"page":      func(b []byte) []byte { clear(b[len(b)/2 : len(b)/2+4096]); return b },
		"truncated": func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"log":       func(b []byte) []byte { clear(b[len(b)/2 : len(b)/2+4096]); return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "memory.db")
			c, _ := open(t, path)
			var ms []Memory
			for i := range 300 {
				ms = append(ms, Memory{Content: fmt.Sprintf("memory %d says cypress%d", i, i), Scope: "p"})
			}
			if _, err := c.Ingest(t.Context(), ms...); err != nil {
				t.Fatal(err)
			}
			c.Close()
			c, _ = open(t, path)
			keepAll(t, c, "one more, in the log")
			log := readOrNil(t, path+"-wal")
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "log" { // of a process that was killed: it belongs to the old file
				if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, hurt(b), 0o600); err != nil {
				t.Fatal(err)
			}
			c, _ = open(t, path)
			var notes string
			for i := 0; i < 300 && notes == ""; i += 10 { // sooner or later it meets the damage
				f, err := c.Search(t.Context(), Query{Text: fmt.Sprint("cypress", i)})
				if err != nil {
					t.Fatal(err)
				}
				notes += f.Note
			}
			left := 1 + len(list(t, c, Query{})) // reads every row
			st := keep(t, c, Memory{Content: "still works"})
			notes += st.Note
			old, _ := filepath.Glob(path + ".damaged-*")
			t.Logf("%d of 302 left; %s", left, notes)
			if !strings.Contains(notes, "was damaged") || len(old) == 0 || name == "page" && left < 200 || name == "truncated" && left < 50 {
				t.Errorf("%d left, notes %q, files %v", left, notes, old)
			}
			sound(t, c)
		})
	}
}

// Another file in the place of the open one is noticed.
func TestReopens(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	c, _ := open(t, path)
	keepAll(t, c, "in the old file")
	for _, suffix := range journals {
		os.Remove(path + suffix)
	}
	if got := find(t, c, Query{Text: "old file"}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	keepAll(t, c, "in the new file")
	other, _ := open(t, path)
	if got := find(t, other, Query{Text: "new file"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A path is data, whatever it holds.
func TestAnyPath(t *testing.T) {
	t.Parallel()
	c, _ := open(t, filepath.Join(t.TempDir(), "a?mode=memory&b #%41 记忆 [x]", "m'.db"))
	keepAll(t, c, "kept")
	if _, err := os.Stat(c.back.(*store).path); err != nil {
		t.Error(err)
	}
}

// Where there can be no shared memory the older journal does.
func TestWithoutSharedMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := os.Symlink(filepath.Join(path, "nowhere"), path+"-shm"); err != nil {
		t.Fatal(err)
	}
	c, _ := open(t, path)
	keepAll(t, c, "slow but safe")
	if got := find(t, c, Query{Text: "safe"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	st, err := c.Stats(t.Context())
	if err != nil || st.Journal != "delete" || len(st.Notes) == 0 {
		t.Errorf("%+v %v", st, err)
	}
}

func TestMigration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	c, _ := open(t, path)
	keepAll(t, c, "from the old days")
	c.Close()

	next := newStore(path)
	next.steps = append(schemas(), "ALTER TABLE memories ADD COLUMN mood TEXT; UPDATE memories SET mood='calm'")
	n := &Client{DefaultSettings(), next}
	t.Cleanup(func() { n.Close() })
	if got := find(t, n, Query{Text: "old days"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	st, err := n.Stats(t.Context())
	if err != nil || st.Schema != len(next.steps) {
		t.Fatalf("%+v %v", st, err)
	}
	copies, _ := filepath.Glob(fmt.Sprintf("%s.schema%d-*", path, len(schemas())))
	if len(copies) != 1 {
		t.Fatalf("copies %v", copies)
	}
	if fi, err := os.Stat(copies[0]); err != nil || fi.Size() == 0 || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Error(fi, err)
	}

	// The older program finds a newer file: it reads and does not write.
	old, _ := open(t, path)
	if got := find(t, old, Query{Text: "old days"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if _, err := old.Ingest(t.Context(), Memory{Content: "new words", Scope: "p"}); err == nil || !strings.Contains(err.Error(), "update ferrule") {
		t.Errorf("the error is %v", err)
	}

	failing := newStore(path)
	failing.steps = append(slices.Clone(next.steps), "CREATE TABLE half(x); no such statement")
	f := &Client{DefaultSettings(), failing}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Search(t.Context(), Query{Text: "old"}); err == nil {
		t.Error("a step that fails must be told")
	}
	if got := find(t, n, Query{Text: "old days"}); len(got) != 1 {
		t.Errorf("a step that fails changes nothing: %q", got)
	}
}

// An index by another analyzer is made again in the background.
func TestRebuild(t *testing.T) {
	t.Parallel()
	c, s := fresh(t)
	var ms []Memory
	for i := range 2*rebuildBatch + 50 {
		ms = append(ms, Memory{Content: fmt.Sprint("juniper ", i), Scope: "p"})
	}
	if _, err := c.Ingest(t.Context(), ms...); err != nil {
		t.Fatal(err)
	}
	err := s.do(t.Context(), func(h *handle) error {
		return h.w.alone(t.Context(), func(x *tx) error {
			return x.script("INSERT INTO mem_fts(mem_fts) VALUES('delete-all'); UPDATE meta SET value=0 WHERE key='analyzer'")
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	again, as := open(t, s.path)
	find(t, again, Query{Text: "juniper"}) // opens it
	<-as.h.done
	if got := find(t, again, Query{Text: "juniper", Limit: 50}); len(got) != 50 {
		t.Errorf("%d found", len(got))
	}
	sound(t, again)
	if faults, err := again.Check(t.Context(), true); err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("the modes of files do not bind this user")
	}
	path := filepath.Join(t.TempDir(), "d", "memory.db")
	c, _ := open(t, path)
	keepAll(t, c, "to be read")
	c.Close()
	os.Chmod(path, 0o400)
	os.Chmod(filepath.Dir(path), 0o500)
	t.Cleanup(func() { os.Chmod(filepath.Dir(path), 0o700) })
	c, _ = open(t, path)
	if got := find(t, c, Query{Text: "read"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if _, err := c.Ingest(t.Context(), Memory{Content: "more", Scope: "p"}); err == nil || !strings.Contains(err.Error(), "only be read") {
		t.Errorf("the error is %v", err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	c, _ := fresh(t)
	keepAll(t, c, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Ingest(ctx, Memory{Content: "two", Scope: "p"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Search(ctx, Query{Text: "one"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	keepAll(t, c, "three")
	if n := len(list(t, c, Query{})); n != 2 {
		t.Errorf("%d rows", n)
	}
	c.Close()
	if _, err := c.Search(t.Context(), Query{Text: "one"}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

func FuzzQuery(f *testing.F) {
	c, _ := fresh(f)
	keepAll(f, c, "alpha 测试 beta_gamma", "retryBudget 100% 日志", `quote " and ' and \`)
	for _, q := range []string{`a" OR body:*`, "测", "NEAR(a b, 3)", "-alpha", "a\x00b", "\xff", "ﬁ½㎏", "Ǆ_ǆ-ẞ", "日ー本", "ก็"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		got, err := c.Search(context.Background(), Query{Text: q, Limit: 5, Gate: 0.1})
		if err != nil {
			t.Errorf("%q: %v", q, err)
		}
		for _, h := range got.Hits {
			if !(h.Coverage >= 0 && h.Coverage <= 1.0001) || !(h.Score > 0) {
				t.Errorf("%q: %+v", q, h)
			}
		}
		for _, term := range terms.Query(q) {
			if strings.ContainsAny(term, "\"\x00* ") || term == "" {
				t.Errorf("%q has the term %q", q, term)
			}
		}
	})
}

// readOrNil returns nil for a file that is not there.
func readOrNil(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

package memory

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A corpus makes texts of words as unevenly spread as those of people, partly
// Chinese, with names and numbers that occur once.
type corpus struct {
	r    *rand.Rand
	zipf *rand.Zipf
	han  *rand.Zipf
	n    int
}

func newCorpus() *corpus {
	r := rand.New(rand.NewPCG(7, 7))
	return &corpus{r: r, zipf: rand.NewZipf(r, 1.07, 8, 60_000), han: rand.NewZipf(r, 1.05, 20, 2_500)}
}

func (c *corpus) word() string {
	const syllables = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo tra"
	parts := strings.Fields(syllables)
	k := c.zipf.Uint64() + 20
	var b strings.Builder
	for ; k > 0; k /= 20 {
		b.WriteString(parts[k%20])
	}
	return b.String()
}

func (c *corpus) sentence(words int) string {
	var b strings.Builder
	for range words {
		if c.r.IntN(4) == 0 {
			for range 2 + c.r.IntN(4) {
				b.WriteRune(rune(0x4e00 + c.han.Uint64()))
			}
		} else {
			b.WriteString(c.word())
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func (c *corpus) memory() Memory {
	c.n++
	return Memory{Scope: fmt.Sprint("p", c.r.IntN(20)), Session: fmt.Sprint(c.n / 20), Importance: 0.5, Time: time.Unix(1_750_000_000+int64(c.n)*10, 0),
		Content: fmt.Sprintf("%spkg%d/file%d.go", c.sentence(12+c.r.IntN(20)), c.r.IntN(5000), c.r.IntN(200_000))}
}

// sizes are the numbers of memories that benchmarks are made with.
func sizes() []int {
	if nightly() {
		return []int{10_000, 100_000, 1_000_000}
	}
	return []int{10_000, 100_000}
}

// BenchmarkStore measures imports, single memories, searches beside a plain
// query over SQLite's own tokenizer in the same run, and the size of the file.
// Ratios may be compared between machines, times hardly.
func BenchmarkStore(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, s := fresh(b)
			plain := newPlain(b)
			texts := newCorpus()
			start := time.Now()
			for done := 0; done < n; done += importBatchSize {
				batch := make([]Memory, importBatchSize)
				for i := range batch {
					batch[i] = texts.memory()
				}
				out, err := c.Ingest(context.Background(), batch...)
				if err != nil {
					b.Fatal(err)
				}
				if i := slices.IndexFunc(out, func(s Stored) bool { return s.Status != Kept }); i >= 0 {
					b.Fatalf("%+v", out[i])
				}
				start = start.Add(plain.add(b, batch)) // its time does not count
			}
			imports := float64(n) / time.Since(start).Seconds()
			for b.Loop() {
				measure(b, c, plain, texts)
			}
			b.ReportMetric(imports, "imports/s")
			c.Close()
			fi, err := os.Stat(s.path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(fi.Size())/float64(n), "B/memory")
			start = time.Now()
			again, _ := open(b, s.path)
			if _, err := again.Search(context.Background(), Query{Text: "bace", Limit: 1}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/1e3, "ms-open")
		})
	}
}

const importBatchSize = 1000

// measure runs searches and single ingests and reports their 95th percentiles.
func measure(b *testing.B, c *Client, plain *plain, texts *corpus) {
	timed := func(f func() error) time.Duration {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var search, scoped, ingest, rival []time.Duration
	for i := range 300 {
		q := texts.sentence(3 + texts.r.IntN(9))
		search = append(search, timed(func() error {
			_, err := c.Search(context.Background(), Query{Text: q, Limit: 8})
			return err
		}))
		scoped = append(scoped, timed(func() error {
			_, err := c.Search(context.Background(), Query{Text: q, Limit: 8, Scopes: []string{fmt.Sprint("p", i%20), UserScope}})
			return err
		}))
		if i < 100 {
			rival = append(rival, timed(func() error { return plain.search(q) }))
		}
	}
	for range 300 {
		m := texts.memory()
		ingest = append(ingest, timed(func() error {
			_, err := c.Ingest(context.Background(), m)
			return err
		}))
	}
	for name, d := range map[string][]time.Duration{"search": search, "scoped": scoped, "ingest": ingest, "plain": rival} {
		slices.Sort(d)
		b.ReportMetric(float64(d[len(d)/2].Microseconds())/1e3, name+"-p50-ms")
		b.ReportMetric(float64(d[len(d)*95/100].Microseconds())/1e3, name+"-p95-ms")
	}
}

// A plain index is what one gets without effort: unicode61, all words, OR.
type plain struct{ db *sql.DB }

func newPlain(b *testing.B) *plain {
	db, err := sql.Open("sqlite", dsn(filepath.Join(b.TempDir(), "plain.db"), "_pragma=journal_mode(WAL)", "_pragma=synchronous(OFF)"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec("CREATE VIRTUAL TABLE f USING fts5(body, tokenize='unicode61')"); err != nil {
		b.Fatal(err)
	}
	return &plain{db}
}

func (p *plain) add(b *testing.B, ms []Memory) time.Duration {
	start := time.Now()
	x, err := p.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range ms {
		if _, err := x.Exec("INSERT INTO f VALUES(?)", m.Content); err != nil {
			b.Fatal(err)
		}
	}
	if err := x.Commit(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func (p *plain) search(q string) error {
	var or []string
	for w := range strings.FieldsSeq(q) {
		or = append(or, `"`+w+`"`)
	}
	rows, err := p.db.Query("SELECT body FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10", strings.Join(or, " OR "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return err
		}
	}
	return rows.Err()
}

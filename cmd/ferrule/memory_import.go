package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"ferrule/memory"
)

const (
	maxLine     = 1 << 20 // bytes
	importBatch = 1000    // lines in a transaction
)

// load imports lines of JSON. A bad line is told and the rest is stored.
func (m *memoryCommand) load(ctx context.Context) error {
	if len(m.args) != 1 {
		return errors.New("usage: ferrule memory import FILE, or - for standard input")
	}
	in := m.in
	if m.args[0] != "-" {
		f, err := os.Open(m.args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	im := importer{memoryCommand: m, told: time.Now()}
	for line, err := range lines(in) {
		if im.number++; err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		x, err2 := memory.ParseLine(line, m.project)
		if err = cmp.Or(err, err2); err != nil {
			x = memory.Memory{} // has no content, so that it is refused with its line
		}
		im.batch, im.at, im.faults = append(im.batch, x), append(im.at, im.number), append(im.faults, err)
		if len(im.batch) == importBatch {
			if err := im.store(ctx); err != nil {
				return err
			}
		}
	}
	if err := im.store(ctx); err != nil {
		return err
	}
	if !m.json {
		fmt.Fprintf(m.out, "%d stored, %d were there already, %d refused\n", im.counts[memory.Kept]+im.counts[memory.Queued],
			im.counts[memory.Duplicate], im.counts[memory.Rejected])
	}
	if im.counts[memory.Rejected] > 0 {
		return errTold
	}
	return nil
}

// An importer is an import at work.
type importer struct {
	*memoryCommand
	number int // of the line that was read last
	batch  []memory.Memory
	at     []int   // the lines of the batch
	faults []error // what is wrong with a line
	counts map[memory.Status]int
	told   time.Time // when progress was told last
}

func (im *importer) store(ctx context.Context) error {
	if len(im.batch) == 0 {
		return nil
	}
	out, err := im.client.Ingest(ctx, im.batch...)
	if err != nil {
		return fmt.Errorf("%v (stopped before line %d)", err, im.at[0])
	}
	if im.counts == nil {
		im.counts = make(map[memory.Status]int)
	}
	for i, st := range out {
		if im.faults[i] != nil {
			st.Reason = im.faults[i].Error()
		}
		im.counts[st.Status]++
		if st.Status == memory.Rejected {
			fmt.Fprintf(im.err, "line %d: %s\n", im.at[i], st.Reason)
		}
		if im.json {
			if err := im.line(outcome{im.at[i], st.ID, st.Status, st.Reason, st.Redactions}); err != nil {
				return err
			}
		}
	}
	im.batch, im.at, im.faults = im.batch[:0], im.at[:0], im.faults[:0]
	if time.Since(im.told) > time.Second {
		fmt.Fprintf(im.err, "%d lines so far\n", im.number)
		im.told = time.Now()
	}
	return nil
}

var errLong = errors.New("the line has more than 1 MiB")

// lines yields the lines of in. One that is too long is yielded without its
// text, and with an error.
func lines(in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			var line []byte
			var fault error
			part, err := r.ReadSlice('\n')
			for ; errors.Is(err, bufio.ErrBufferFull); part, err = r.ReadSlice('\n') {
				if line = append(line, part...); len(line) > maxLine {
					line, fault = line[:0], errLong
				}
			}
			if line = append(line, part...); len(line) > maxLine {
				line, fault = nil, errLong
			}
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			if (len(line) > 0 || fault != nil) && !yield(line, fault) || err == io.EOF {
				return
			}
		}
	}
}

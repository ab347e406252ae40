package history

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"slices"
)

// A line of the log is a JSON object that starts with `{"t":"` and ends with `,"crc":"xxxxxxxx"}`. Both marks can stand
// nowhere else, since quotes inside of JSON strings are escaped: a line written after one that was cut off is found
// again by its start.
const (
	lineStart = `{"t":"`
	sumStart  = `,"crc":"`
	tailSize  = len(sumStart) + 8 + len(`"}`)

	begin = "begin" // the other events are named by their State
)

// event is one line: a whole entry at the begin, then only its ID.
type event struct {
	What string `json:"t"`
	*Entry
}

type ending struct {
	What string `json:"t"`
	ID   string `json:"id"`
}

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// checksum is the end of a line whose other part is body.
func checksum(body []byte) []byte {
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(hex.AppendEncode([]byte(sumStart), sum), `"}`...)
}

// append adds one line with one write. The entry counts for this process when refresh has read it back, as it does for
// others.
func (l *Log) append(ev event) error {
	var line []byte
	var err error
	if ev.What == begin {
		line, err = json.Marshal(ev)
	} else {
		line, err = json.Marshal(ending{ev.What, ev.ID})
	}
	if err != nil {
		return err
	}
	line = line[:len(line)-1]
	line = append(append(line, checksum(line)...), '\n')
	_, err = l.file.Write(line)
	return err
}

// parse returns the event of a line, and false for one that is damaged.
func parse(line []byte) (ev event, ok bool) {
	if i := bytes.LastIndex(line, []byte(lineStart)); i > 0 {
		line = line[i:]
	}
	if len(line) <= tailSize || !bytes.HasPrefix(line, []byte(lineStart)) {
		return ev, false
	}
	body, tail := line[:len(line)-tailSize], line[len(line)-tailSize:]
	if !bytes.Equal(tail, checksum(body)) {
		return ev, false
	}
	if !bytes.HasPrefix(line, []byte(lineStart+begin)) {
		var e ending
		err := json.Unmarshal(line, &e)
		return event{e.What, &Entry{ID: e.ID}}, err == nil
	}
	ev.Entry = &Entry{}
	return ev, json.Unmarshal(line, &ev) == nil
}

// refresh reads what was appended since the last time, by whomever. l.mu is held.
func (l *Log) refresh() error {
	fi, err := l.file.Stat()
	if err != nil || fi.Size() <= l.offset {
		return err
	}
	b := make([]byte, fi.Size()-l.offset)
	n, err := l.file.ReadAt(b, l.offset)
	if err != nil && err != io.EOF {
		return err
	}
	b = b[:n]
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil // the rest is not there yet, or never will be
		}
		if ev, ok := parse(b[:i]); ok {
			l.apply(ev)
		}
		b = b[i+1:]
		l.offset += int64(i) + 1
	}
}

func (l *Log) apply(ev event) {
	if ev.What == begin {
		if l.byID[ev.ID] == nil {
			l.entries = append(l.entries, ev.Entry)
			l.byID[ev.ID] = ev.Entry
		}
		return
	}
	known := []State{Done, Void, Torn}
	if e := l.byID[ev.ID]; e != nil && slices.Contains(known, State(ev.What)) {
		e.State = State(ev.What)
	}
}

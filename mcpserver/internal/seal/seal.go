// Package seal lets state travel with a client and come back untouched, once.
//
// Begin at New. What a Sealer has closed it opens for the same purpose, within
// the time it was given, and no second time. It hides nothing: who carries the
// state can read it.
package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Sealer signs with a key that nobody else has, and knows what is on its way.
// It may be used concurrently.
type Sealer struct {
	key   [32]byte
	max   int
	still time.Duration

	mu   sync.Mutex // guards the fields below
	last uint64
	open map[uint64]time.Time // what may come back, and until when
}

// New returns a Sealer whose states may come back for a while. At most max are on
// their way at once; of more, the oldest is no longer opened.
func New(still time.Duration, max int) *Sealer {
	s := &Sealer{max: max, still: still, open: make(map[uint64]time.Time)}
	rand.Read(s.key[:])
	return s
}

// head is the length of what stands before the state: its number.
const head = 8

// Close returns state as text that is opened only for the same purpose.
func (s *Sealer) Close(state []byte, purpose string) string {
	b := binary.BigEndian.AppendUint64(nil, s.number())
	b = append(b, state...)
	b64 := base64.RawURLEncoding
	return b64.EncodeToString(b) + "." + b64.EncodeToString(s.mac(b, purpose))
}

// Open returns the state in such a text. It cannot be opened again.
func (s *Sealer) Open(text, purpose string) (state []byte, ok bool) {
	first, second, _ := strings.Cut(text, ".")
	b64 := base64.RawURLEncoding.Strict()
	b, err := b64.DecodeString(first)
	mac, err2 := b64.DecodeString(second)
	if err != nil || err2 != nil || len(b) < head || !hmac.Equal(mac, s.mac(b, purpose)) {
		return nil, false
	}
	return b[head:], s.take(binary.BigEndian.Uint64(b))
}

func (s *Sealer) mac(b []byte, purpose string) []byte {
	m := hmac.New(sha256.New, s.key[:])
	m.Write(bytes.Join([][]byte{[]byte(purpose), b}, []byte{0}))
	return m.Sum(nil)
}

// number notes that a state is on its way, and returns its number.
func (s *Sealer) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.open) >= s.max {
		maps.DeleteFunc(s.open, func(_ uint64, until time.Time) bool { return !now.Before(until) })
	}
	if len(s.open) >= s.max {
		delete(s.open, slices.Min(slices.Collect(maps.Keys(s.open))))
	}
	s.last++
	s.open[s.last] = now.Add(s.still)
	return s.last
}

// take reports whether a state may come back, and notes that it has.
func (s *Sealer) take(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.open[number]
	delete(s.open, number)
	return ok && time.Now().Before(until)
}

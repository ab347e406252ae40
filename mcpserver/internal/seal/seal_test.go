package seal

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	s := New(time.Minute, 10)
	text := s.Close([]byte("state\x00"), "this call")
	state, mac, _ := strings.Cut(text, ".")
	for what, try := range map[string]struct {
		by            *Sealer
		text, purpose string
	}{
		"another purpose": {s, text, "that call"}, "another key": {New(time.Minute, 10), text, "this call"},
		"changed": {s, strings.ToUpper(state) + "." + mac, "this call"}, "another signature": {s, state + "." + strings.Split(s.Close(nil, "this call"), ".")[1], "this call"},
		"nothing": {s, "", "this call"}, "no state": {s, "." + mac, "this call"}, "no signature": {s, state, "this call"}, "short": {s, "e30.e30", ""},
	} {
		if got, ok := try.by.Open(try.text, try.purpose); ok {
			t.Errorf("%s: %q", what, got)
		}
	}
	if got, ok := s.Open(text, "this call"); !ok || string(got) != "state\x00" {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := s.Open(text, "this call"); ok {
		t.Errorf("a second time: %q", got)
	}
	if _, ok := s.Open(s.Close(nil, ""), ""); !ok {
		t.Error("an empty state")
	}
}

// At the same moment as well, only one gets it.
func TestSealOnce(t *testing.T) {
	t.Parallel()
	s := New(time.Minute, 10)
	text := s.Close([]byte("x"), "")
	var wg sync.WaitGroup
	var taken atomic.Int32
	for range 50 {
		wg.Go(func() {
			if _, ok := s.Open(text, ""); ok {
				taken.Add(1)
			}
		})
	}
	if wg.Wait(); taken.Load() != 1 {
		t.Errorf("opened %d times", taken.Load())
	}
}

func TestSealLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Minute, 3)
		texts := []string{s.Close([]byte("0"), "")}
		time.Sleep(time.Second)
		for _, state := range []string{"1", "2", "3"} {
			texts = append(texts, s.Close([]byte(state), ""))
		}
		if _, ok := s.Open(texts[0], ""); ok || len(s.open) != 3 {
			t.Errorf("the oldest of too many is opened; %d are open", len(s.open))
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, ok := s.Open(texts[1], ""); !ok {
			t.Error("not opened in time")
		}
		time.Sleep(time.Nanosecond)
		if _, ok := s.Open(texts[2], ""); ok {
			t.Error("opened too late")
		}
		s.Close(nil, "")
		s.Close(nil, "")
		s.Close(nil, "") // the third of before has made room
		if len(s.open) != 3 {
			t.Errorf("%d are open", len(s.open))
		}
	})
}

package tools

import (
	"context"
	"time"

	"ferrule/shell"
)

// EndTasksBefore ends the background commands that began before limit. It
// returns how many were running, with those that it ended.
func (s *Session) EndTasksBefore(limit time.Time) (running int) {
	s.mu.Lock()
	sh := s.sh
	s.mu.Unlock()
	if sh == nil {
		return 0
	}
	for _, t := range sh.Tasks() {
		if t.State != shell.Running {
			continue
		}
		running++
		if t.Start.Before(limit) {
			sh.Stop(context.Background(), t.ID) // an error means that it has ended, and was forgotten
		}
	}
	return running
}

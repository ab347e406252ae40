package shell

import "sync"

// EndTasks ends all tasks, with the short grace of a session's end, and returns when nothing of them is left. Commands
// that Run waits for go on.
func (s *Shell) EndTasks() {
	s.mu.Lock()
	tasks := append([]*task(nil), s.tasks...)
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, t := range tasks {
		if t.over() {
			continue
		}
		wg.Go(func() {
			t.judge(Stopped)
			t.tree.stop(s.cfg.pace.leave, nil)
			<-t.done
		})
	}
	wg.Wait()
}

// Name is the name of the shell that runs commands here, or "none".
func Name() string {
	sh, err := findShell()
	if err != nil {
		return "none"
	}
	return sh.name()
}

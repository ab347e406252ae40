package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// State is where a task stands.
type State string

const (
	Running   State = "running"
	Completed State = "completed" // its shell ended with code 0
	Failed    State = "failed"    // its shell ended otherwise
	Stopped   State = "stopped"   // by Stop, or for want of room
	TimedOut  State = "timed out"
)

// A Process is one of a task's processes.
type Process struct {
	PID  int
	Name string
}

// TaskInfo describes a task at one moment.
type TaskInfo struct {
	ID          string // "b" and eight characters; means nothing in another session
	Command     string // its beginning, if it is long
	Description string
	State       State
	Code        int    // as in Result, once the shell has ended
	Signal      string // likewise
	Start       time.Time
	Wall        time.Duration // so far, or until everything had ended
	StdoutFile  string        // raw output; what a foreground command left running has both streams in it
	StderrFile  string
	Limited     bool      // a file has reached its limit and lacks a part of the output
	Left        []Process // of a foreground command, what ran when its shell ended
}

// TaskOutput is what a task has printed since it was last asked.
type TaskOutput struct {
	TaskInfo
	Output       string // as in Result; the two streams in the order of arrival
	MissingLines int64
	MissingBytes int64
}

// UnknownTaskError is returned for an id that no task of this session has.
type UnknownTaskError struct {
	ID    string
	Known []TaskInfo // oldest first
}

func (e *UnknownTaskError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no task %s; nothing runs or ran in the background of this session", e.ID)
	}
	return fmt.Sprintf("there is no task %s; the tasks of this session are %s", e.ID, list(e.Known))
}

// list names tasks, the newest 40 of them.
func list(tasks []TaskInfo) string {
	var words []string
	if more := len(tasks) - 40; more > 0 {
		words = append(words, fmt.Sprintf("%d older ones", more))
		tasks = tasks[more:]
	}
	for _, t := range tasks {
		words = append(words, fmt.Sprintf("%s (%s: %s)", t.ID, t.State, clip(strings.Join(strings.Fields(t.Command), " "), 80)))
	}
	return strings.Join(words, ", ")
}

// A task is a command and all that came from it, whether anybody calls it a task or not.
type task struct {
	id, command, description string
	dir, note                string // where it began, and why there

	start   time.Time
	tree    *tree
	input   *input // nil: none
	streams []*stream
	came    chan struct{} // has something in it since output came last
	out     *transcript
	drained chan struct{} // closed when nobody can write output any more
	done    chan struct{} // closed when the tree is gone and its output is read

	mu sync.Mutex // guards what follows
	taskState
}

// taskState is the part of a task that changes.
type taskState struct {
	state    State         // Running until done is closed
	verdict  State         // why we ended the tree; "": we did not
	wall     time.Duration // set with done
	left     []Process
	keep     bool // the logs stay until the session ends
	released bool // Run no longer needs the logs
	quiet    bool // no more output comes
	told     bool // somebody knows that it has ended
	after    []func()
}

// Start runs a command in the background and returns as soon as it has begun. Its directory does not become the
// session's. Command.Timeout ends it with all that came from it; Progress is not called. At most 32 tasks run at a time.
func (s *Shell) Start(ctx context.Context, c Command) (TaskInfo, error) {
	if err := ctx.Err(); err != nil {
		return TaskInfo{}, err
	}
	s.starting.Lock()
	defer s.starting.Unlock()
	if running := s.running(); len(running) >= maxTasks {
		return TaskInfo{}, fmt.Errorf("%d tasks are running, and no more are allowed; stop one first: %s", len(running),
			list(running))
	}
	t, err := s.begin(c, true)
	if err != nil {
		return TaskInfo{}, err
	}
	defer s.next()
	t.mu.Lock()
	t.keep = true
	t.mu.Unlock()
	s.remember(t)
	t.release()
	return t.info(), nil
}

// adopt makes a task of what a foreground command has left running. Where there is no room for a task it is ended.
func (s *Shell) adopt(t *task, left []Process) TaskInfo {
	s.starting.Lock()
	defer s.starting.Unlock()
	full := len(s.running()) >= maxTasks
	t.keepLogs()
	t.mu.Lock()
	t.left = left
	t.mu.Unlock()
	s.remember(t)
	if full {
		t.judge(Stopped)
		t.tree.stop(s.cfg.pace.grace, nil)
		<-t.done
	}
	return t.tell()
}

// remember adds t to the session's tasks, of which the oldest ended ones are forgotten when there are too many.
func (s *Shell) remember(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, t)
	if len(s.tasks) > maxEnded+maxTasks {
		if i := slices.IndexFunc(s.tasks, (*task).over); i >= 0 {
			s.tasks = slices.Delete(s.tasks, i, i+1)
		}
	}
}

// Tasks describes the tasks of the session, oldest first.
func (s *Shell) Tasks() []TaskInfo {
	s.mu.Lock()
	tasks := slices.Clone(s.tasks)
	s.mu.Unlock()
	infos := make([]TaskInfo, len(tasks))
	for i, t := range tasks {
		infos[i] = t.info()
	}
	return infos
}

func (s *Shell) running() []TaskInfo {
	return slices.DeleteFunc(s.Tasks(), func(t TaskInfo) bool { return t.State != Running })
}

// Output waits for the end of a task, at most for wait, and returns what it has printed since the last call. An ended
// task can be asked as long as the session lives; only when a thousand have ended the oldest are forgotten.
func (s *Shell) Output(ctx context.Context, id string, wait time.Duration) (TaskOutput, error) {
	t, err := s.known(id)
	if err != nil {
		return TaskOutput{}, err
	}
	if wait > 0 && !within(t.done, wait, ctx.Done()) && ctx.Err() != nil {
		return TaskOutput{}, ctx.Err()
	}
	return t.report(), nil
}

// Ended describes the tasks that have ended without anybody being told: by a TaskInfo of Output, Send, Stop or Run, or by
// an earlier call of Ended. Oldest first.
func (s *Shell) Ended() []TaskInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ended []TaskInfo
	for _, t := range s.tasks {
		if t.news() {
			ended = append(ended, t.tell())
		}
	}
	return ended
}

// Stop ends a task and returns when nothing of it is left; ended says whether it still ran. If ctx is done meanwhile it
// gets no further time to end by itself.
func (s *Shell) Stop(ctx context.Context, id string) (info TaskInfo, ended bool, err error) {
	t, err := s.known(id)
	if err != nil {
		return TaskInfo{}, false, err
	}
	if ended = !t.over(); ended {
		t.judge(Stopped)
		t.tree.stop(s.cfg.pace.grace, ctx.Done())
		<-t.done
	}
	return t.tell(), ended, nil
}

// maxAfter bounds what may wait for the end of one task.
const maxAfter = 64

// WhenOver has f called once a task is over, by a goroutine that Close waits for; f must not wait for anything itself. It
// reports false, and f is not called, if there is no such running task or too much waits for it.
func (s *Shell) WhenOver(id string, f func()) bool {
	t, err := s.known(id)
	if err != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != Running || len(t.after) >= maxAfter {
		return false
	}
	t.after = append(t.after, f)
	return true
}

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

// known returns the task with the given id, or an error that names those there are.
func (s *Shell) known(id string) (*task, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.tasks, func(t *task) bool { return t.id == id })
	if i >= 0 {
		defer s.mu.Unlock()
		return s.tasks[i], nil
	}
	s.mu.Unlock()
	return nil, &UnknownTaskError{ID: id, Known: s.Tasks()}
}

// watch waits for the end of t and settles what it leaves. Of a background task it also keeps the time.
func (s *Shell) watch(t *task, limit time.Duration) {
	if limit > 0 && !within(t.tree.gone, limit, nil) {
		t.judge(TimedOut)
		t.tree.stop(s.cfg.pace.grace, nil)
	}
	<-t.tree.gone
	t.input.close()
	if !within(t.drained, drainLimit, nil) {
		t.drain()
	}
	for _, f := range t.finish() {
		f()
	}
	s.mu.Lock()
	delete(s.live, t)
	s.mu.Unlock()
	select {
	case <-t.drained:
	case <-s.closing: // somebody who is not ours holds the pipe, and may do so for ever
		for _, st := range t.streams {
			st.r.Close()
		}
		<-t.drained
	}
	t.mu.Lock()
	t.quiet = true
	t.mu.Unlock()
	t.closeLogs()
}

// finish settles the state of a task whose tree is gone, and returns what waits for that.
func (t *task) finish() []func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wall = time.Since(t.start)
	switch {
	case t.verdict != "":
		t.state = t.verdict
	case t.tree.end.code == 0 && t.tree.end.err == nil:
		t.state = Completed
	default:
		t.state = Failed
	}
	close(t.done)
	return t.after
}

// judge says why the tree is about to be ended; the first reason counts.
func (t *task) judge(why State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict == "" {
		t.verdict = why
	}
}

func (t *task) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state != Running
}

// news reports that the task has ended and nobody knows.
func (t *task) news() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state != Running && !t.told
}

// tell returns what info does, for somebody who then knows if the task has ended.
func (t *task) tell() TaskInfo {
	info := t.info()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = t.told || info.State != Running
	return info
}

// report is tell with the output since it was last taken.
func (t *task) report() TaskOutput {
	out := TaskOutput{TaskInfo: t.tell()}
	text, lost := t.take()
	out.Output, out.MissingLines, out.MissingBytes = text, lost.Lines, lost.Bytes
	return out
}

func (t *task) info() TaskInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := TaskInfo{ID: t.id, Command: t.command, Description: t.description, State: t.state, Start: t.start,
		Wall: t.wall, Left: t.left}
	if t.state == Running {
		info.Wall = time.Since(t.start)
	}
	select {
	case <-t.tree.ended:
		info.Code = t.tree.end.code
		if t.tree.end.signal != 0 {
			info.Signal = signalName(t.tree.end.signal)
		}
	default:
	}
	if t.keep {
		for i, file := range []*string{&info.StdoutFile, &info.StderrFile} {
			if i < len(t.streams) {
				*file = t.streams[i].log.path()
				info.Limited = info.Limited || t.streams[i].log.full()
			}
		}
	}
	return info
}

// drainLimit is how long the end of the output may lag behind the end of the last process. Only a foreign process that
// was handed the pipe can make it longer.
const drainLimit = time.Second

// settle waits for the output that belongs to a command whose shell has ended, and returns who is left.
func (t *task) settle() []Process {
	left := t.tree.end.left
	if len(left) > 0 && !within(t.tree.gone, settleLimit, nil) {
		t.drain()
		return left
	}
	if !within(t.drained, drainLimit, nil) {
		t.drain()
	}
	return nil
}

func (t *task) drain() {
	for _, st := range t.streams {
		st.drain()
	}
}

// take returns the output since the last take, an unfinished line included.
func (t *task) take() (string, missing) {
	for _, st := range t.streams {
		st.flush()
	}
	return t.out.take()
}

func (t *task) lastLine() string {
	for _, st := range t.streams {
		if line := strings.TrimSpace(st.lastLine()); line != "" {
			return line
		}
	}
	return t.out.lastLine()
}

// keepLogs makes the logs stay and returns their paths, "" for one that the disk refused.
func (t *task) keepLogs() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep = true
	var paths []string
	for _, st := range t.streams {
		path, _ := st.log.keep()
		paths = append(paths, path)
	}
	return paths
}

// release says that it is decided whether the logs stay.
func (t *task) release() {
	t.mu.Lock()
	t.released = true
	t.mu.Unlock()
	t.closeLogs()
}

// closeLogs closes the logs once nobody writes them and their fate is known.
func (t *task) closeLogs() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.quiet && t.released {
		for _, st := range t.streams {
			st.log.close(t.keep)
		}
	}
}

// abandon frees what was made for a command that never began.
func (t *task) abandon() {
	t.input.close()
	for _, st := range t.streams {
		st.r.Close()
		st.log.close(false)
	}
}

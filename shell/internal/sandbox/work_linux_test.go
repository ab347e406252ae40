//go:build !portable

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// S149: what people do all day works in the sandbox as it is by default.
func TestWork(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	for _, work := range []struct {
		name     string
		programs []string
		before   string // outside of the sandbox
		script   string
	}{
		{name: "go", programs: []string{"go"}, script: `
			printf 'module m\n\ngo 1.24\n' > go.mod; printf 'package main\n\nfunc main() { print(f()) }\n\nfunc f() int { return 1 }\n' > m.go
			printf 'package main\n\nimport "testing"\n\nfunc TestF(t *testing.T) { t.TempDir(); if f() != 1 { t.Fail() } }\n' > m_test.go
			go build -o m . && ./m 2>out && test "$(cat out)" = 1 && go test ./... && go vet ./...`},
		{name: "npm", programs: []string{"npm"}, before: `
			mkdir dep; echo '{"name": "dep", "version": "1.0.0"}' > dep/package.json; echo 'module.exports = 7' > dep/index.js
			npm pack --silent ./dep
			echo '{"name": "m", "version": "1.0.0", "dependencies": {"dep": "file:dep-1.0.0.tgz"}, "scripts": {"x": "node -e \"process.exit(require(\\\"dep\\\") - 7)\""}}' > package.json
			npm install --package-lock-only --offline --silent --no-audit`,
			script: `npm ci --offline --no-audit && npm run x`},
		{name: "git", programs: []string{"git"}, script: `
			git init -q -b main . && git config user.name n && git config user.email a@b && echo x > f && git add f && git commit -qm first &&
			printf '#!/bin/sh\necho hook > hooked\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit &&
			git checkout -qb side && echo y >> f && git commit -qam second && test -e hooked && git checkout -q main && git merge -q side &&
			git stash list && git gc -q && git worktree add -q "$TMPDIR/tree" side~1 && git clone -q . "$TMPDIR/clone" && git -C "$TMPDIR/clone" log --oneline`},
		{name: "make", programs: []string{"make", "gcc"}, script: `
			printf 'int f(void) { return 1; }\n' | tee a.c > b.c; sed -i s/f/g/ b.c; printf 'int main(void) { return 0; }\n' > m.c
			printf 'm: m.o a.o b.o\n\t$(CC) -o $@ $^\n' > Makefile; make -j4 CC=gcc && ./m`},
		{name: "pytest", programs: []string{"pytest"}, script: `printf 'def test_f(tmp_path):\n    (tmp_path / "x").write_text("y")\n' > test_m.py; pytest -q`},
		{name: "python", programs: []string{"python3"}, script: `
			python3 -c 'import tempfile, subprocess, multiprocessing as m; tempfile.NamedTemporaryFile(); q = m.Queue(); l = m.Lock(); subprocess.check_call(["true"])'`},
	} {
		t.Run(work.name, func(t *testing.T) {
			t.Parallel()
			need(t, append(work.programs, "bash")...)
			root, tmp := t.TempDir(), t.TempDir()
			env := append(os.Environ(), "TMPDIR="+tmp, "GOFLAGS=-mod=mod", "GOWORK=off", "GIT_CONFIG_GLOBAL="+os.DevNull, "npm_config_update_notifier=false")
			if work.before != "" {
				c := exec.CommandContext(t.Context(), "bash", "-ec", work.before)
				c.Dir, c.Env = root, env
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			policy := For(Auto, false, Surroundings{Roots: []string{root}, Env: env})
			c := exec.CommandContext(t.Context(), "/proc/self/exe")
			c.WaitDelay = time.Second
			c.Args = append([]string{confined}, policy.Words()...)
			c.Dir, c.Env = root, append(env, command+`=["bash", "work.sh"]`)
			if err := os.WriteFile(filepath.Join(root, "work.sh"), []byte("set -e\n"+work.script), 0o644); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\nopen are %s", err, out, strings.Join(policy.Write, " "))
			}
			t.Logf("%v", time.Since(start).Round(time.Millisecond))
		})
	}
}

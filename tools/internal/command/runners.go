package command

import "strings"

// A runner is a command that runs what its arguments or its input say. What counts as one is a list of the harmful, and
// so never complete; it serves only rules that forbid, while allowing never depends on it.
type runner struct {
	kind      kind
	leading   int      // of a wrapper: operands before the command it runs; -1 if that is not known
	evaluates bool     // of a wrapper: a word of it can be a whole text of commands
	markers   []string // of a carrier
}

type kind int

const (
	shell    kind = iota + 1 // reads bash, or nearly so
	language                 // reads something else
	wrapper                  // any of its words may be the command
	carrier                  // runs what follows one of its markers: an option's argument, or all words after a subcommand
)

const (
	shellNames    = "sh bash zsh dash ksh mksh oksh ash fish rbash csh tcsh yash source ."
	languageNames = "python perl ruby node nodejs deno bun php lua luajit awk gawk mawk nawk osascript rscript r julia " +
		"tclsh wish expect groovy jshell scala ghci irb pry guile racket sbcl ipython"

	wrapperNames = "env nohup nice time setsid stdbuf command builtin exec sudo doas xargs ionice catchsegv unbuffer " +
		"caffeinate pkexec linux32 linux64 cross-env dotenv rlwrap chronic ifne npx bunx pnpx uvx strace ltrace valgrind " +
		"fakeroot xvfb-run torsocks tsocks proxychains proxychains4 systemd-run systemd-inhibit dbus-run-session"
	wrapperNames1 = "timeout gtimeout chrt taskset flock chroot gosu faketime"
	wrapperNamesN = "unshare nsenter setpriv capsh bwrap firejail proot perf gdb lldb rr numactl prlimit setarch busybox " +
		"toybox hash jobs pipx direnv winpty nsjail cgexec foreman doppler aws-vault"
	evaluatorNames = "eval mapfile readarray complete compgen bind ssh su runuser sg mosh watch entr script screen tmux parallel trap alias hyperfine at batch " +
		"crontab concurrently nodemon start cmd powershell pwsh wsl sshpass"

	// editorNames are carriers whose texts are for themselves, with a way to a command now and then.
	editorNames = "vim vi nvim ex less"

	// idleNames are wrappers that start a shell if they are given no command.
	idleNames = "su chroot unshare nsenter fakeroot ssh runuser parallel"
)

// carriers are the markers of each: options, whose argument is the command or a text of commands, and subcommands,
// behind which any word may be the command.
var carriers = map[string]string{
	"find": "-exec -execdir -ok -okdir", "fd": "-x -X --exec --exec-batch", "fdfind": "-x -X --exec --exec-batch",
	"git": "-x --exec --upload-pack --receive-pack --extcmd --tree-filter --index-filter --msg-filter --env-filter " +
		"--commit-filter -O --open-files-in-pager foreach run",
	"tar": "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script " +
		"--rsh-command --rmt-command",
	"rg": "--pre --hostname-bin", "man": "-P --pager -H --html", "sort": "--compress-program", "sed": "",
	"rsync": "-e --rsh --rsync-path", "scp": "-S -o", "sftp": "-S -o", "go": "-exec -toolexec -vettool",
	"split": "--filter", "vim": "-c --cmd -S +", "vi": "-c --cmd -S +", "nvim": "-c --cmd -S +", "ex": "-c +",
	"less": "+", "fzf": "--preview --bind", "zip": "-TT --unzip-command", "make": "--eval", "gmake": "--eval",
	"docker": "exec run --entrypoint", "podman": "exec run --entrypoint", "nerdctl": "exec run", "kubectl": "exec run",
	"oc": "exec run", "npm": "exec x -c --call", "pnpm": "exec dlx", "yarn": "exec dlx", "bun": "x", "uv": "run",
	"poetry": "run", "pdm": "run", "hatch": "run", "pipenv": "run", "rye": "run", "conda": "run", "mamba": "run",
	"bundle": "exec", "nix-shell": "--run --command", "nix": "-c --command run", "tcpdump": "-z", "ip": "exec",
	"wget": "--use-askpass", "gcc": "-wrapper", "cpio": "--rsh-command", "install": "--strip-program",
}

var runners = func() map[string]runner {
	m := make(map[string]runner)
	add := func(names string, r runner) {
		for name := range strings.FieldsSeq(names) {
			m[name] = r
		}
	}
	add(languageNames, runner{kind: language})
	for name, markers := range carriers {
		m[name] = runner{kind: carrier, markers: strings.Fields(markers)}
	}
	add(shellNames, runner{kind: shell})
	add(wrapperNames, runner{kind: wrapper})
	add(wrapperNames1, runner{kind: wrapper, leading: 1})
	add(wrapperNamesN, runner{kind: wrapper, leading: -1})
	add(evaluatorNames, runner{kind: wrapper, leading: -1, evaluates: true})
	m["ssh"] = runner{kind: wrapper, leading: 1, evaluates: true}
	return m
}()

// runnerOf finds what a name runs; python3.12 is python.
func runnerOf(name string) runner {
	if r, ok := runners[name]; ok {
		return r
	}
	if short := strings.TrimRight(name, "0123456789.-"); short != name {
		if r := runners[short]; r.kind == language || r.kind == shell {
			return r
		}
	}
	return runner{}
}

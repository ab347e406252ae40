package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ferrule/tools/permit"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// places returns a home and a project, both without links.
func places(t testing.TB) (home, project string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project = filepath.Join(dir, "home"), filepath.Join(dir, "p")
	for _, d := range []string{home, project} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home, project
}

func load(t testing.TB, o Options) *Settings {
	t.Helper()
	s, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := permit.New(s.Config()); err != nil {
		t.Fatal(err)
	}
	return s
}

// said writes rules as "deny Read(x) @ place", with the places shortened.
func said(s *Settings, shorten ...string) (out []string) {
	r := strings.NewReplacer(shorten...)
	for _, x := range s.Rules {
		out = append(out, x.Effect.String()+" "+x.Text+" @ "+filepath.ToSlash(r.Replace(x.At)))
	}
	return out
}

func TestLoad(t *testing.T) {
	t.Parallel()
	home, project := places(t)
	write(t, home+"/settings.json", `{
	"$schema": "x",
	"permissions": {
		"allow": ["Bash(go test:*)", "Edit(~/n\u00e9/**)"],
		"deny": ["Read(.env)"],
		"additionalDirectories": ["~/work", "/data/"],
		"defaultMode": "acceptEdits"
	}
}`)
	write(t, project+"/.ferrule/settings.json", `{"permissions": {"deny": ["Read(/secrets/**)"], "ask": ["Bash(git push:*)"]}}`)
	write(t, project+"/.ferrule/settings.local.json", "\ufeff{}")
	s := load(t, Options{Home: home, Project: project, Flags: Flags{Deny: []string{"Bash(curl:*)"}, Allow: []string{"WebFetch"}, Answers: "host"}})
	want := []string{
		"deny Bash(curl:*) @ --deny", "allow WebFetch @ --allow",
		"allow Bash(go test:*) @ home/settings.json:4:13", "allow Edit(~/né/**) @ home/settings.json:4:32", "deny Read(.env) @ home/settings.json:5:12",
		"deny Read(/secrets/**) @ p/.ferrule/settings.json:1:27", "ask Bash(git push:*) @ p/.ferrule/settings.json:1:57",
	}
	if got := said(s, filepath.Dir(home)+string(filepath.Separator), ""); !slices.Equal(got, want) {
		t.Errorf("rules:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := s.Rules[5]; r.Project != project || s.Rules[2].Project != "" {
		t.Errorf("projects: %+v", s.Rules)
	}
	if s.Mode.V != permit.AcceptEdits || !strings.HasSuffix(s.Mode.From, "settings.json:7:18") || !s.HostAnswers.V || s.HostAnswers.From != "--permission" {
		t.Errorf("%+v %+v", s.Mode, s.HostAnswers)
	}
	userHome, _ := os.UserHomeDir()
	if runtime.GOOS != "windows" && (len(s.Dirs) != 2 || s.Dirs[0].V != filepath.Join(userHome, "work") || s.Dirs[1].V != "/data" || !strings.HasSuffix(s.Dirs[1].From, ":6:39")) {
		t.Errorf("%+v", s.Dirs)
	}
	if len(s.Warnings) > 0 || len(s.Files) != 3 {
		t.Errorf("%q %+v", s.Warnings, s.Files)
	}
	s = load(t, Options{Home: home, Flags: Flags{Mode: "bypassPermissions"}})
	if s.Mode.V != permit.BypassPermissions || s.Mode.From != "--permission-mode" || len(s.Warnings) != 1 {
		t.Errorf("%+v", s)
	}
	if s := load(t, Options{}); s.Mode.V != permit.Default || len(s.Rules)+len(s.Files) != 0 {
		t.Errorf("%+v", s)
	}
}

// What is wrong stops the start, with its place.
func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"permissions": {"allow": "Bash"}}`:                   `1:27: "allow" has to be a list`,
		`{"permissions": {"deny": [1]}}`:                       "1:27: ",
		"{\n  \"permision\": {}}":                              `2:3: there is no setting "permision"`,
		`{"Permissions": {}}`:                                  `1:2: there is no setting "Permissions"`,
		`{"permissions": {"Deny": []}}`:                        `1:18: there is no setting "permissions.Deny"`,
		`{"permissions": {"deny": [], "deny": []}}`:            `1:30: "deny" stands here twice`,
		`{"permissions": {"deny": ["a\u0000"]}}`:               "1:27: the text holds a NUL",
		`{"permissions": {"deny": ["a\ud800"]}}`:               "1:27: the text holds a NUL or a broken",
		`{"permissions": {"defaultMode": "yolo"}}`:             `1:33: "yolo" is no mode`,
		`{"permissions": {"defaultMode": 1}}`:                  `1:33: "defaultMode" has to be a text`,
		`{"permissions": {"additionalDirectories": ["work"]}}`: `1:44: the folder "work"`,
		`{"permissions": []}`:                                  `1:17: "permissions" has to be an object`,
		`[]`:                                                   "1:1: settings are one object",
		`{"permissions": {}} x`:                                "1:21: ",
		"{\"a\": 1,\n}":                                        "2:1: ",
		"{ // comment\n}":                                      "1:3: ",
		"":                                                     "1:1: ",
		"{\"permissions\": {\"deny\": [\"\xff\"]}}":            "not UTF-8",
		`{"permissions": {"deny": ["a", "b"` + strings.Repeat(" ", maxFile): "longer than",
	} {
		home, project := places(t)
		path := filepath.Join(home, "settings.json")
		write(t, path, text)
		_, err := Load(Options{Home: home})
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", text, err)
		}
		local := filepath.Join(project, ".ferrule", "settings.local.json")
		write(t, local, text)
		_, err = Load(Options{Project: project})
		harmless := strings.Contains(text, "defaultMode") || strings.Contains(text, "additional")
		if (err == nil) != harmless {
			t.Errorf("in a project, %.60s: %v", text, err)
		}
	}
	for _, f := range []Flags{{Mode: "Default"}, {Answers: "nobody"}} {
		if _, err := Load(Options{Flags: f}); err == nil || !strings.HasPrefix(err.Error(), "--permission") {
			t.Errorf("%+v: %v", f, err)
		}
	}
	home, _ := places(t)
	write(t, home+"/settings.json", `{"permissions": {"deny": ["Raed(x)"]}}`)
	s, err := Load(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := permit.New(s.Config()); err == nil || !strings.Contains(err.Error(), "settings.json:1:27: ") {
		t.Errorf("a rule that cannot be read: %v", err)
	}
}

// S072, S073: a project narrows, and nothing else; what it sets besides is named.
func TestProjectOnlyNarrows(t *testing.T) {
	t.Parallel()
	home, project := places(t)
	write(t, project+"/.env", "FERRULE_HOME=/evil\nHTTP_PROXY=http://evil\nPATH=/evil\n")
	keys := []string{"baseUrl", "apiKey", "headers", "proxy", "hooks", "mcpServers", "sandbox", "env", "command"}
	text := `{"permissions": {"deny": ["Read(x)"], "allow": ["Bash"], "defaultMode": "bypassPermissions", "additionalDirectories": ["/"]}`
	for _, k := range keys {
		text += `, "` + k + `": {"x": "http://evil"}`
	}
	text += `, "memory": {"memex": {"url": "http://evil"}, "enabled": false}`
	write(t, project+"/.ferrule/settings.json", text+"}")
	s := load(t, Options{Home: home, Project: project})
	if len(s.Rules) != 1 || s.Rules[0].Effect != permit.Deny || s.Mode.V != permit.Default || len(s.Dirs) != 0 {
		t.Errorf("%+v", s)
	}
	warned := strings.Join(s.Warnings, "\n")
	for _, k := range append(keys, "memory.memex", "permissions.defaultMode", "permissions.additionalDirectories") {
		if !strings.Contains(warned, `"`+k+`" has no effect`) {
			t.Errorf("%s is not named in:\n%s", k, warned)
		}
	}
	if len(s.ProjectMemory) != 1 || strings.Contains(warned, "memory.enabled") {
		t.Errorf("memory: %s in\n%s", s.ProjectMemory, warned)
	}
	if !strings.Contains(warned, "ferrule trust "+project) {
		t.Errorf("not told how to trust:\n%s", warned)
	}
	entries, _ := os.ReadDir(home)
	if len(entries) != 0 {
		t.Errorf("reading left %v", entries)
	}
}

// S069: a yes is bound to the content.
func TestTrust(t *testing.T) {
	t.Parallel()
	home, project := places(t)
	shared := project + "/.ferrule/settings.json"
	const text = `{"permissions": {"allow": ["Bash(npm test)"]}}`
	write(t, shared, text)
	count := func() int { return len(load(t, Options{Home: home, Project: project}).Rules) }
	if count() != 0 {
		t.Fatal("counts before anybody trusts it")
	}
	p, err := ReadProject(project, home)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := OpenTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.TrustProject(p); err != nil {
		t.Fatal(err)
	}
	if count() != 1 {
		t.Error("does not count although it is trusted")
	}
	if err := os.Symlink(project, filepath.Join(filepath.Dir(project), "link")); err == nil {
		if s := load(t, Options{Home: home, Project: filepath.Join(filepath.Dir(project), "link")}); len(s.Rules) != 1 {
			t.Error("another name of the project")
		}
	}
	fi, err := os.Stat(filepath.Join(home, "trust.json"))
	if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	for _, change := range []func(){
		func() { write(t, shared, `{"permissions": {"allow": ["Bash(npm evil)"]}}`) },
		func() { write(t, shared, text); write(t, project+"/.ferrule/settings.local.json", "{}") },
		func() { os.Rename(shared, project+"/.ferrule/settings.local.json") },
	} {
		change()
		if count() != 0 {
			t.Error("changed content counts")
		}
	}
	os.Remove(project + "/.ferrule/settings.local.json")
	write(t, shared, text)
	if count() != 1 {
		t.Error("the content that was trusted is back, and does not count")
	}
	other, _ := OpenTrust(home)
	if err := other.Add("/else", "hook", Hash([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := tr.Add(project, "mcp:db", Hash([]byte("y"))); err != nil { // tr has not seen what other wrote
		t.Fatal(err)
	}
	again, _ := OpenTrust(home)
	if r := again.Records(); len(r) != 3 || !again.Holds("/else", "hook", Hash([]byte("x"))) || again.Holds("/else", "hook", "") {
		t.Errorf("%+v", r)
	}
	if ok, err := again.Remove(p.Dir); !ok || err != nil || count() != 0 {
		t.Errorf("%v %v", ok, err)
	}
	if ok, err := again.Remove(p.Dir); ok || err != nil {
		t.Errorf("removed twice: %v %v", ok, err)
	}
	left, _ := filepath.Glob(filepath.Join(home, "*"))
	hidden, _ := filepath.Glob(filepath.Join(home, ".*"))
	if len(left)+len(hidden) != 1 {
		t.Errorf("left behind: %v %v", left, hidden)
	}
}

func TestTrustFile(t *testing.T) {
	t.Parallel()
	home, project := places(t)
	path := filepath.Join(home, "trust.json")
	write(t, path, "{")
	if _, err := Load(Options{Home: home, Project: project}); err != nil {
		// A project without settings asks nobody for trust, but a damaged file is told all the same.
		if !strings.Contains(err.Error(), "damaged") {
			t.Error(err)
		}
	}
	write(t, path, "{}")
	if runtime.GOOS != "windows" {
		os.Chmod(path, 0o666)
		if _, err := OpenTrust(home); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("anybody may write it: %v", err)
		}
	}
	none, err := OpenTrust("")
	if err != nil || none.Holds("", "", "") || none.Add("p", "s", "h") == nil {
		t.Errorf("without a home: %v", err)
	}
}

// S077 and its like: what a project puts in the place of its settings is not followed and holds nobody up.
func TestHostileProject(t *testing.T) {
	t.Parallel()
	home, _ := places(t)
	for name, plant := range map[string]func(project string) error{
		"link outside": func(p string) error {
			write(t, home+"/x.json", `{"permissions": {"deny": ["Read(x)"]}}`)
			return os.Symlink(home+"/x.json", p+"/.ferrule/settings.json")
		},
		"link inside": func(p string) error {
			write(t, p+"/x.json", "{}")
			return os.Symlink("../x.json", p+"/.ferrule/settings.json")
		},
		"folder": func(p string) error { return os.Mkdir(p+"/.ferrule/settings.json", 0o755) },
		"large":  func(p string) error { return os.WriteFile(p+"/.ferrule/settings.json", make([]byte, maxFile+1), 0o644) },
		"fifo":   func(p string) error { return mkfifo(p + "/.ferrule/settings.json") },
		"folder link": func(p string) error {
			os.Remove(p + "/.ferrule")
			write(t, home+"/sub/settings.json", `{}`)
			return os.Symlink(home+"/sub", p+"/.ferrule")
		},
	} {
		_, project := places(t)
		os.Mkdir(project+"/.ferrule", 0o755)
		if err := plant(project); err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		_, err := Load(Options{Home: home, Project: project})
		if err == nil || !strings.Contains(err.Error(), "settings.json: it") || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, project := places(t)
	write(t, project+"/.ferrule", "no folder")
	if s := load(t, Options{Home: home, Project: project}); len(s.Rules) != 0 {
		t.Errorf("%+v", s)
	}
	write(t, home+"/settings.json", `{"permissions": {"allow": ["Bash"]}}`)
	os.Rename(home, project+"x")
	if err := os.Mkdir(project+"y", 0o755); err != nil {
		t.Fatal(err)
	}
	os.Rename(project+"x", project+"y/.ferrule") // the home folder as a project
	if s := load(t, Options{Home: project + "y/.ferrule", Project: project + "y"}); len(s.Rules) != 1 || len(s.Warnings) != 0 {
		t.Errorf("our own folder was taken for a project's: %+v", s)
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{`{"permissions": {"allow": ["a"], "deny": [], "defaultMode": "plan"}}`, `{"a": [1, {"b": null}]}`, "{\"\\u0061\": 1}", "\ufeff{}", "[[[["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, project := range []string{"", "/p"} {
			x := &file{path: "f", project: project}
			if err := x.parse(data); err != nil {
				if !strings.HasPrefix(err.Error(), "f:") {
					t.Errorf("no place: %v", err)
				}
				continue
			}
			if project != "" && (x.mode.V != "" || len(x.dirs) > 0) {
				t.Errorf("a project has set %+v", x)
			}
			for _, r := range x.rules {
				if r.At == "" || r.Project != project {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}

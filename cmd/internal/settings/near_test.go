package settings

import (
	"strings"
	"testing"
)

// A rule of a project's that is not applied because its key is misspelt, or stands in the wrong place, is an error with
// the key that is meant. What cannot be a rule is a warning.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"permission": {"deny": ["Read(.env)"]}}`:                                               `settings.json:1:2: there is no setting "permission"; perhaps "permissions" is meant`,
		`{"Permissions": {"deny": ["Read(.env)"]}}`:                                              `perhaps "permissions" is meant`,
		`{"permisions": {}}`:                                                                     `perhaps "permissions" is meant`,
		`{"permissions": {"Deny": ["Read(.env)"]}}`:                                              `settings.json:1:18: there is no setting "permissions.Deny"; perhaps "permissions.deny" is meant`,
		`{"permissions": {"dney": []}}`:                                                          `perhaps "permissions.deny" is meant`,
		`{"permissions": {"denied": ["Read(.env)"]}}`:                                            `perhaps "permissions.deny" is meant`,
		`{"permissions": {"asks": ["Read(.env)"]}}`:                                              `perhaps "permissions.ask" is meant`,
		`{"permissions": {"block": ["Read(.env)"]}}`:                                             `there is no setting "permissions.block"`,
		`{"permissions": {"extra": {"deny": ["Read(.env)"]}}}`:                                   `perhaps "permissions.deny" is meant`,
		`{"deny": ["Read(.env)"]}`:                                                               `perhaps "permissions.deny" is meant`,
		`{"rules": {"deny": ["Read(.env)"]}}`:                                                    `perhaps "permissions.deny" is meant`,
		`{"permissions.deny": ["Read(.env)"]}`:                                                   `perhaps "permissions" is meant`,
		`{"memory": {"enabeld": false}}`:                                                         `perhaps "memory.enabled" is meant`,
		`{"memroy": {"enabled": false}}`:                                                         `perhaps "memory" is meant`,
		`{"permissions": {"disableBypassPermissionsMode": "x"}}`:                                 "",
		`{"permissions": {"defaultModes": "plan"}}`:                                              "",
		`{"hooks": {"x": []}, "env": {"A": "b"}, "model": "x", "tasks": ["x"], "theme": "dark"}`: "",
		`{"permissions": {"deny": []}, "memory": {"memex": {}}}`:                                 "",
	} {
		home, project := places(t)
		write(t, project+"/.ferrule/settings.json", text)
		s, err := Load(Options{Home: home, Project: project})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "" && !strings.Contains(text, `"deny": []`) && len(s.Warnings) == 0:
			t.Errorf("%s: no warning", text)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want %s", text, err, want)
		}
		if want == "" {
			continue
		}
		home, _ = places(t)
		write(t, home+"/settings.json", text)
		if _, err := Load(Options{Home: home}); err == nil && !strings.Contains(text, "memory\"") { // package memory reads its own
			t.Errorf("the user's, %s: no error", text)
		}
	}
}

package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Settings are what the user decides about memory. They are read once, by
// [LoadSettings], and nothing changes them afterwards; what chooses a prompt
// profile does not know them.
type Settings struct {
	Enabled    bool   `json:"enabled"`     // false: no tools, no part of the prompt, no file opened
	AutoSearch bool   `json:"auto_search"` // [Client.Recall] answers
	AutoIngest bool   `json:"auto_ingest"` // [Client.Record] stores
	Backend    string `json:"backend"`     // sqlite or memex

	Limit               int     `json:"limit"`                // results of a search that names no limit
	RecallLimit         int     `json:"recall_limit"`         // results of automatic recall
	RecallGate          float64 `json:"recall_gate"`          // what one of its first five results must cover
	RecallMaxChars      int     `json:"recall_max_chars"`     // its length
	ImportanceThreshold float64 `json:"importance_threshold"` // what an automatic record must weigh

	Memex Memex `json:"memex"`
}

// Memex is where the HTTP backend is.
type Memex struct {
	URL    string `json:"url"`
	KeyEnv string `json:"key_env"` // the environment variable that holds the key
}

// DefaultSettings are those of a user who has decided nothing.
func DefaultSettings() Settings {
	return Settings{
		Enabled: true, AutoSearch: true, AutoIngest: true, Backend: sqliteBackend,
		Limit: 8, RecallLimit: 5, RecallGate: 0.30, RecallMaxChars: 4000, ImportanceThreshold: 0.4,
	}
}

const (
	sqliteBackend = "sqlite"
	memexBackend  = "memex"
)

// LoadSettings puts the settings together: the defaults, then the object under
// "memory" in the user's file, then variables FERRULE_MEMORY_…, such as
// FERRULE_MEMORY_AUTO_INGEST or FERRULE_MEMORY_MEMEX_URL. Last comes the object
// of the project's files, which may only switch off what is on: a cloned project
// must not decide where memories go. The user's file without the object gives nil.
func LoadSettings(user json.RawMessage, project []json.RawMessage, getenv func(string) string) (Settings, error) {
	s := DefaultSettings()
	if err := s.merge(user); err != nil {
		return s, fmt.Errorf("the settings have a mistake under memory: %v", err)
	}
	if err := s.environment(getenv); err != nil {
		return s, err
	}
	for _, object := range project {
		var off struct {
			Enabled    *bool `json:"enabled"`
			AutoSearch *bool `json:"auto_search"`
			AutoIngest *bool `json:"auto_ingest"`
		}
		if err := json.Unmarshal(object, &off); err != nil {
			return s, fmt.Errorf("the project's settings have a mistake under memory: %v", err)
		}
		s.Enabled = s.Enabled && (off.Enabled == nil || *off.Enabled)
		s.AutoSearch = s.AutoSearch && (off.AutoSearch == nil || *off.AutoSearch)
		s.AutoIngest = s.AutoIngest && (off.AutoIngest == nil || *off.AutoIngest)
	}
	return s, s.check()
}

// merge reads a JSON object over s. What it does not name stays.
func (s *Settings) merge(raw json.RawMessage) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields() // "auto_serach": false must not go unnoticed
	var wrong *json.UnmarshalTypeError
	err := d.Decode(s)
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// environment reads the variables, by the names that the settings have in JSON.
func (s *Settings) environment(getenv func(string) string) error {
	const prefix = "FERRULE_MEMORY_"
	for name, field := range map[string]any{
		"ENABLED": &s.Enabled, "AUTO_SEARCH": &s.AutoSearch, "AUTO_INGEST": &s.AutoIngest,
		"BACKEND": &s.Backend, "LIMIT": &s.Limit, "RECALL_LIMIT": &s.RecallLimit, "RECALL_GATE": &s.RecallGate,
		"RECALL_MAX_CHARS": &s.RecallMaxChars, "IMPORTANCE_THRESHOLD": &s.ImportanceThreshold,
		"MEMEX_URL": &s.Memex.URL, "MEMEX_KEY_ENV": &s.Memex.KeyEnv,
	} {
		v := getenv(prefix + name)
		if v == "" {
			continue
		}
		var err error
		switch p := field.(type) {
		case *bool:
			*p, err = strconv.ParseBool(v)
		case *int:
			*p, err = strconv.Atoi(v)
		case *float64:
			*p, err = strconv.ParseFloat(v, 64)
		case *string:
			*p = v
		}
		if err != nil {
			return fmt.Errorf("%s%s cannot be %q", prefix, name, v)
		}
	}
	return nil
}

func (s *Settings) check() error {
	in := func(name string, v, least, most float64) error {
		if v >= least && v <= most { // NaN is not
			return nil
		}
		return fmt.Errorf("the memory setting %s must be from %v to %v, not %v", name, least, most, v)
	}
	err := errors.Join(
		in("limit", float64(s.Limit), 1, 50), in("recall_limit", float64(s.RecallLimit), 1, 50),
		in("recall_gate", s.RecallGate, 0, 1), in("recall_max_chars", float64(s.RecallMaxChars), 200, 40000),
		in("importance_threshold", s.ImportanceThreshold, 0, 1))
	switch {
	case err != nil:
		return err
	case s.Backend == sqliteBackend || !s.Enabled:
		return nil
	case s.Backend != memexBackend:
		return fmt.Errorf("the memory setting backend must be sqlite or memex, not %q", s.Backend)
	}
	return checkServer(s.Memex.URL)
}

// checkServer refuses addresses that would send memories over an open line.
func checkServer(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the memory setting memex.url must be the address of a server, such as https://memory.example.com/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the memory setting memex.url must hold no user, query or fragment; the key is read from the variable that memex.key_env names")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("the memory setting memex.url must begin with https:// unless the server is on this machine")
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

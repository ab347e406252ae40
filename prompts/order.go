package prompts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// Where parts stand. Contributors use these names and never bare numbers, since
// two who invent the same number would be ordered by their parts' names. The
// positions below HarnessIdentity and from the environment on are the borders of
// the blocks in which providers cache, see [Prompt.Blocks].
const (
	HarnessIdentity         = -1000 // who the model is
	DeploymentPersonaPrefix = 0     // slot
	codeRules               = 100   // behaviour, of one of the two kinds of profiles
	desktopRules            = 100
	mode                    = 110 // one paragraph for chat, work or study
	PlanPolicy              = 500 // how plan mode works; whether it is on is a context
	fileReference           = 900 // how to name files and lines
	toolNotes               = 1000
	MCPServers              = 3100 // instructions of other servers
	memoryGuidance          = 4000
	StructuredOutput        = 9900 // when a format is demanded
	environment             = 10000
	additionalInstructions  = 10100
	DeploymentPersonaSuffix = 10200 // slot
)

// Where contexts stand in the message that holds them.
const (
	PlanState          = 100
	Tasks              = 200
	Agents             = 300
	Skills             = 400
	environmentChanges = 500
)

// Where attachments stand beside the user's words: the first two before his
// first ones, the others behind those of their turn.
const (
	instructionsFirst  = 100
	gitSecond          = 200
	hookOutput         = 300
	skillBodies        = 400
	recalledMemories   = 500
	nestedInstructions = 600
)

// Names of the two slots in which a deployment, or the scope of a sub-agent, may
// put its persona: by a section of that name, at the order of that name.
const (
	PersonaPrefix = "deployment:persona-prefix"
	PersonaSuffix = "deployment:persona-suffix"
)

// A block ends where the order of the next one begins.
const (
	coreStarts = -500
	tailStarts = 10000
)

// Notes for one tool stand a hundred apart, with the web and the agent's own
// tools behind those for files and commands.
var sectionOrders = map[string]int{
	"HARNESS_IDENTITY":          HarnessIdentity,
	"DEPLOYMENT_PERSONA_PREFIX": DeploymentPersonaPrefix,
	"CODE_RULES":                codeRules,
	"DESKTOP_RULES":             desktopRules,
	"MODE":                      mode,
	"PLAN_POLICY":               PlanPolicy,
	"FILE_REFERENCE":            fileReference,
	"TOOL_BASH":                 toolNotes,
	"TOOL_READ":                 toolNotes + 100,
	"TOOL_WRITE":                toolNotes + 200,
	"TOOL_EDIT":                 toolNotes + 300,
	"TOOL_GLOB":                 toolNotes + 400,
	"TOOL_GREP":                 toolNotes + 500,
	"TOOL_TASK":                 toolNotes + 600,
	"TOOL_GIT":                  toolNotes + 700,
	"TOOL_NOTEBOOK":             toolNotes + 800,
	"TOOL_ASK":                  toolNotes + 900,
	"TOOL_WEB_SEARCH":           toolNotes + 1000,
	"TOOL_WEB_FETCH":            toolNotes + 1100,
	"TOOL_TODO":                 toolNotes + 1400,
	"TOOL_SCHEDULE":             toolNotes + 1500,
	"TOOL_SKILL":                toolNotes + 1600,
	"SUBAGENT":                  toolNotes + 1800,
	"MCP_SERVERS":               MCPServers,
	"MEMORY_GUIDANCE":           memoryGuidance,
	"STRUCTURED_OUTPUT":         StructuredOutput,
	"ENVIRONMENT":               environment,
	"ADDITIONAL_INSTRUCTIONS":   additionalInstructions,
	"DEPLOYMENT_PERSONA_SUFFIX": DeploymentPersonaSuffix,
}

// SectionOrder returns the position with the given name, for configuration
// files. An unknown name is an error that lists the known ones.
func SectionOrder(name string) (int, error) {
	order, ok := sectionOrders[name]
	if !ok {
		return 0, fmt.Errorf("unknown position %q; known are %s", name, strings.Join(sortedKeys(sectionOrders), ", "))
	}
	return order, nil
}

func byOrder(a, b Part) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), compareUnits(a.Name, b.Name))
}

// compareUnits compares by UTF-16 code unit, as the mechanism's reference does.
// For ASCII bytes give the same answer; between U+E000–U+FFFF and supplementary
// characters they differ.
func compareUnits(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// UnlistedTools marks, in a configured tool order, the place of all tools that
// the order does not name.
const UnlistedTools = "<unlisted-tools>"

// OrderTools sets the order in which tools are offered, for sc and the scopes
// over it. It must hold the marker exactly once and no name twice. Without it
// tools are offered by name.
func (sc *Scope) OrderTools(names []string) error {
	seen := make(map[string]bool)
	for _, n := range names {
		if seen[n] {
			return fmt.Errorf("the tool order names %q twice", n)
		}
		seen[n] = true
	}
	if !seen[UnlistedTools] {
		return fmt.Errorf("the tool order lacks %q, the place of the tools that it does not name", UnlistedTools)
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.toolOrder = slices.Clone(names)
	return nil
}

// orderTools puts tools into the configured order. A name that is known and not
// offered now is skipped; one that nobody knows is misspelt, and an error.
func orderTools(tools map[string]Schema, known map[string]bool, order []string) ([]Schema, error) {
	if order == nil {
		order = []string{UnlistedTools}
	}
	listed := make(map[string]bool)
	for _, n := range order {
		if n != UnlistedTools && !known[n] {
			return nil, fmt.Errorf("the tool order names %q, which no tool is called; known are %s", n, strings.Join(sortedKeys(known), ", "))
		}
		listed[n] = true
	}
	var names []string
	for _, n := range order {
		if n != UnlistedTools {
			names = append(names, n)
			continue
		}
		for _, n := range sortedKeys(tools) {
			if !listed[n] {
				names = append(names, n)
			}
		}
	}
	var out []Schema
	for _, n := range names {
		if s, offered := tools[n]; offered {
			s.Input = slices.Clone(s.Input) // stages may change it
			out = append(out, s)
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareUnits)
	return keys
}

package clients

// Checked is the month in which the makers' documents were read for the table
// below. Only the shapes were read; no client was run.
const Checked = "November 2026"

// How a client tells the server its workspace.
const (
	ownWorkspace = ""                   // it starts the server there: no --root
	folderVar    = "${workspaceFolder}" // it puts the folder in
	projectVar   = "project"            // the same, but in a project's file only
	fixedRoot    = "fixed"              // not at all: the directory is part of the entry
)

// everywhere is a path that is the same under the home directory of each
// system.
func everywhere(path string) paths { return paths{path, path, path} }

// Parts that many entries share.
var (
	servers    = layout{container: []string{"servers"}}
	mcpServers = layout{container: []string{"mcpServers"}}

	header     = object{{"Authorization", bearer}}
	plainStdio = object{{"command", command}, {"args", args}, {"env", env}}
	typedStdio = with(object{{"type", "stdio"}}, plainStdio...)
	plainHTTP  = object{{"url", url}, {"headers", header}}
	typedHTTP  = with(object{{"type", "http"}}, plainHTTP...)

	clineSwitches = object{{"disabled", initial{false}}, {"autoApprove", initial{list{}}}}
	opencodeStdio = object{{"type", "local"}, {"command", argv}, {"environment", env}}
	opencodeHTTP  = object{{"type", "remote"}, {"url", url}, {"headers", header}}
)

// callSeconds is how long a client should wait for a call: a command may take
// ten minutes.
const callSeconds = 630

// table has every client, in the order in which they are listed.
var table = []Client{
	{
		Name: "claude-code", Title: "Claude Code", layout: mcpServers,
		project: []string{".mcp.json"}, global: everywhere("${CLAUDE_CONFIG_DIR:-~}/.claude.json"),
		stdio: typedStdio, http: typedHTTP, variable: "${" + TokenVar + "}",
		add: "claude mcp add --scope {scope} {name} -- {command}",
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", layout: mcpServers,
		global: paths{
			"${XDG_CONFIG_HOME:-~/.config}/Claude/claude_desktop_config.json",
			"~/Library/Application Support/Claude/claude_desktop_config.json",
			"${APPDATA:-~/AppData/Roaming}/Claude/claude_desktop_config.json",
		},
		stdio: plainStdio, root: fixedRoot, asks: true,
		notes: []string{"Its file takes servers on standard input and output only; quit and start the application after a change."},
	},
	{
		Name: "cursor", Title: "Cursor", layout: mcpServers,
		project: []string{".cursor/mcp.json"}, global: everywhere("~/.cursor/mcp.json"),
		stdio: typedStdio, http: plainHTTP, variable: "${env:" + TokenVar + "}", root: projectVar,
	},
	{
		Name: "vscode", Title: "VS Code", layout: servers,
		project: []string{".vscode/mcp.json"},
		global: paths{
			"${XDG_CONFIG_HOME:-~/.config}/Code/User/mcp.json",
			"~/Library/Application Support/Code/User/mcp.json",
			"${APPDATA:-~/AppData/Roaming}/Code/User/mcp.json",
		},
		stdio: typedStdio, http: typedHTTP, variable: "${env:" + TokenVar + "}", root: folderVar,
		add: "code --add-mcp {json}",
	},
	{
		Name: "copilot-cli", Title: "GitHub Copilot CLI", layout: mcpServers,
		project: []string{".mcp.json"}, global: everywhere("${COPILOT_HOME:-~/.copilot}/mcp-config.json"),
		stdio: with(typedStdio, field{"tools", initial{list{"*"}}}),
		http:  with(typedHTTP, field{"tools", initial{list{"*"}}}), variable: "${" + TokenVar + "}",
	},
	{
		Name: "visual-studio", Title: "Visual Studio", layout: servers,
		project: []string{".mcp.json"}, global: everywhere("~/.mcp.json"),
		stdio: typedStdio, http: typedHTTP, root: fixedRoot,
	},
	{
		Name: "zed", Title: "Zed", layout: layout{container: []string{"context_servers"}},
		project: []string{".zed/settings.json"},
		global: paths{
			"${XDG_CONFIG_HOME:-~/.config}/zed/settings.json", "~/.config/zed/settings.json",
			"${APPDATA:-~/AppData/Roaming}/Zed/settings.json",
		},
		stdio: plainStdio, http: plainHTTP, asks: true,
	},
	{
		Name: "windsurf", Title: "Windsurf (Devin Desktop)", layout: mcpServers,
		project: []string{".devin/mcp_config.json"},
		global:  paths{"~/.config/devin/mcp_config.json", "~/.config/devin/mcp_config.json", "${APPDATA:-~/AppData/Roaming}/devin/mcp_config.json"},
		stdio:   plainStdio, http: with(plainHTTP, field{"transport", "http"}),
		variable: "${env:" + TokenVar + "}", root: fixedRoot, asks: true,
		notes: []string{"Windsurf from before June 2026 reads another file: see windsurf-1."},
	},
	{
		Name: "windsurf-1", Title: "Windsurf until June 2026", layout: mcpServers,
		global: everywhere("~/.codeium/windsurf/mcp_config.json"),
		stdio:  plainStdio, http: object{{"serverUrl", url}, {"headers", header}},
		variable: "${env:" + TokenVar + "}", root: fixedRoot, asks: true,
	},
	{
		Name: "cline", Title: "Cline", layout: mcpServers,
		global: everywhere("~/.cline/data/settings/cline_mcp_settings.json"),
		stdio:  with(plainStdio, clineSwitches...),
		http:   with(with(object{{"type", "streamableHttp"}}, plainHTTP...), clineSwitches...),
		root:   fixedRoot, asks: true,
		notes: []string{"The extension may keep its own file: MCP Servers > Configure > Configure MCP Servers opens it."},
	},
	{
		Name: "continue", Title: "Continue",
		layout:  layout{format: formatYAML, container: []string{"mcpServers"}, named: true, head: "name: {name}\nversion: 0.0.1\nschema: v1\n"},
		project: []string{".continue/mcpServers/{name}.yaml"}, global: everywhere("~/.continue/config.yaml"),
		stdio: with(object{{"name", name}}, typedStdio...),
		http: object{
			{"name", name}, {"type", "streamable-http"}, {"url", url},
			{"requestOptions", object{{"headers", header}}},
		},
		variable: "${{ secrets." + TokenVar + " }}", root: fixedRoot, asks: true,
		notes: []string{"Continue takes secrets from ~/.continue/.env."},
	},
	{
		Name: "gemini", Title: "Gemini CLI", layout: mcpServers,
		project: []string{".gemini/settings.json"}, global: everywhere("~/.gemini/settings.json"),
		stdio: with(plainStdio, field{"timeout", initial{callSeconds * 1000}}),
		http: object{
			{"httpUrl", url}, {"headers", header}, {"timeout", initial{callSeconds * 1000}},
		},
		variable: "${" + TokenVar + "}", asks: true,
	},
	{
		Name: "codex", Title: "Codex CLI", layout: layout{format: formatTOML, container: []string{"mcp_servers"}},
		project: []string{".codex/config.toml"}, global: everywhere("${CODEX_HOME:-~/.codex}/config.toml"),
		stdio: with(plainStdio, field{"tool_timeout_sec", initial{callSeconds}}),
		http: object{
			{"url", url}, {"bearer_token_env_var", TokenVar}, {"tool_timeout_sec", initial{callSeconds}},
		},
		variable: TokenVar, add: "codex mcp add {name} -- {command}",
		notes: []string{"Codex reads a project's file only once the project is trusted."},
	},
	{
		Name: "opencode", Title: "opencode", layout: layout{container: []string{"mcp", "servers"}},
		project: []string{"opencode.json", "opencode.jsonc"},
		global:  everywhere("${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json"),
		stdio:   opencodeStdio, http: opencodeHTTP, variable: "{env:" + TokenVar + "}",
		notes: []string{"opencode 1 has the servers directly under \"mcp\": see opencode-1."},
	},
	{
		Name: "opencode-1", Title: "opencode 1", layout: layout{container: []string{"mcp"}},
		project: []string{"opencode.json", "opencode.jsonc"},
		global:  everywhere("${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json"),
		stdio:   with(opencodeStdio, field{"enabled", initial{true}}),
		http:    with(opencodeHTTP, field{"enabled", initial{true}}),

		variable: "{env:" + TokenVar + "}",
	},
	{
		Name: "goose", Title: "Goose", layout: layout{format: formatYAML, container: []string{"extensions"}},
		global: paths{
			"${XDG_CONFIG_HOME:-~/.config}/goose/config.yaml", "~/.config/goose/config.yaml",
			"${APPDATA:-~/AppData/Roaming}/Block/goose/config/config.yaml",
		},
		stdio: object{
			{"enabled", initial{true}}, {"type", "stdio"}, {"name", name}, {"cmd", command}, {"args", args}, {"envs", env},
			{"timeout", initial{callSeconds}},
		},
		http: object{
			{"enabled", initial{true}}, {"type", "streamable_http"}, {"name", name}, {"uri", url},
			{"headers", header}, {"env_keys", list{TokenVar}}, {"timeout", initial{callSeconds}},
		},
		variable: "${" + TokenVar + "}",
	},
	{
		Name: "lm-studio", Title: "LM Studio", layout: mcpServers,
		global: everywhere("~/.lmstudio/mcp.json"),
		stdio:  plainStdio, http: plainHTTP, root: fixedRoot, asks: true,
		notes: []string{"The application opens the same file: Program > Install > Edit mcp.json."},
	},
	{
		Name: "trae", Title: "Trae", layout: mcpServers,
		project: []string{".trae/mcp.json"},
		stdio:   plainStdio, http: plainHTTP, root: fixedRoot, asks: true, oneWord: true,
		notes: []string{
			"Project servers must be switched on in Settings > MCP. For all projects, paste it there under Raw config (JSON).",
		},
	},
	{
		Name: "cherry-studio", Title: "Cherry Studio", layout: mcpServers,
		stdio: typedStdio, http: with(object{{"type", "streamableHttp"}}, plainHTTP...), root: fixedRoot,
		notes: []string{"Import it in the application: Settings > MCP > Add > Import from JSON."},
	},
	{
		Name: "jetbrains", Title: "JetBrains AI Assistant", layout: mcpServers,
		stdio: plainStdio, http: plainHTTP, root: fixedRoot, asks: true,
		notes: []string{"Paste it in the application: Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add."},
	},
}

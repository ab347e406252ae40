#!/usr/bin/env bash
# Measures Ferrule beside other MCP servers that do parts of the same job, in one run:
#
#     docs/bench/peers.sh                  30 rounds, over Go's own source
#     docs/bench/peers.sh --rounds 5 --only read --json out.json
#     PEERS=/somewhere docs/bench/peers.sh keep the peers there (default: a folder of that name in the temporary one)
#
# Peers come from npm. What a server cannot do is skipped, not mended: see the --skip lines. The caps of Ferrule and of
# Desktop Commander are raised, so that all send the whole 2,000 lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

peers=${PEERS:-${TMPDIR:-/tmp}/ferrule-peers}
repo=${REPO:-$(go env GOROOT)/src}
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
esac

mkdir -p "$peers/home/.claude-server-commander"
if [ ! -x "$peers/node_modules/.bin/mcp-ripgrep" ]; then
	npm install --prefix "$peers" --ignore-scripts --no-audit --no-fund --loglevel=error \
		"node-linux-$arch@22.23.3" "@modelcontextprotocol/server-filesystem@2026.8.31" \
		"@wonderwhy-er/desktop-commander@0.2.52" "mcp-server-commands@0.5.0" "mcp-ripgrep@0.4.0" "@vscode/ripgrep@1.18.0"
fi
# Desktop Commander reads at most 1,000 lines at once unless told otherwise, and reports home.
cat >"$peers/home/.claude-server-commander/config.json" <<'JSON'
{"telemetryEnabled": false, "fileReadLineLimit": 2000, "fileWriteLineLimit": 50, "blockedCommands": [],
 "allowedDirectories": [], "defaultShell": "/bin/bash"}
JSON
go build -o "$peers/ferrule" ./cmd/ferrule

bin=$peers/node_modules/.bin
export PATH=$bin:$peers/node_modules/@vscode/ripgrep-linux-$arch/bin:$PATH
exec python3 docs/bench/mcpbench.py --home "$peers/home" --repo "$repo" --rounds 30 \
	--server ferrule="$peers/ferrule --toolsets +extra --read-dir $repo --max-result-chars 200000" \
	--server filesystem="$bin/mcp-server-filesystem ${TMPDIR:-/tmp} $repo" \
	--map filesystem:Read=read_text_file --arg filesystem:Read.file_path=path \
	--map filesystem:Edit=edit_file --arg filesystem:Edit.file_path=path \
	--arg filesystem:Edit.old_string=edits.0.oldText --arg filesystem:Edit.new_string=edits.0.newText \
	--arg filesystem:Read.offset= --arg filesystem:Read.limit= \
	--map filesystem:Write=write_file --arg filesystem:Write.file_path=path \
	--map filesystem:Glob=search_files \
	--skip 'filesystem:read 50' \
	--server commander="$bin/desktop-commander" \
	--map commander:Read=read_file --arg commander:Read.file_path=path --arg commander:Read.limit=length \
	--set commander:Read.length=2000 \
	--map commander:Edit=edit_block \
	--map commander:Bash=start_process --set commander:Bash.timeout_ms=10000 \
	--server commands="$bin/mcp-server-commands" --map commands:Bash=run_command \
	--server ripgrep="$bin/mcp-ripgrep" --map ripgrep:Grep=search --arg ripgrep:Grep.head_limit=maxResults \
	--arg ripgrep:Grep.output_mode= --set ripgrep:Grep.caseSensitive=true \
	--skip 'ripgrep:common|count|multiline' \
	"$@"

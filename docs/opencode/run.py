#!/usr/bin/env python3
"""A real agent, opencode, does a small job with Ferrule's tools.

The model is a script on loopback: it asks for one tool after the other and
checks what comes back. opencode, its MCP client and Ferrule are the real ones,
and `ferrule config opencode --write` makes the configuration.

    npm install --prefix /tmp/oc opencode-ai@1.18.33     # 370 MB
    docs/opencode/run.py --opencode /tmp/oc/node_modules/.bin/opencode

writes what the model saw and did to docs/opencode/transcript.md. It exits with
1 if anything went another way than it should.
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent

FILES = {
    "go.mod": "module sums\n\ngo 1.26\n",
    "sums.go": "// Package sums adds numbers up.\npackage sums\n\n// Sum returns the sum of all numbers.\n"
    "func Sum(numbers []int) (total int) {\n\tfor _, n := range numbers[1:] {\n\t\ttotal += n\n\t}\n\treturn total\n}\n",
    "sums_test.go": 'package sums\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n'
    "\tif got := Sum([]int{1, 2, 3}); got != 6 {\n\t\tt.Fatalf(\"got %d, want 6\", got)\n\t}\n}\n",
}

TASK = "TestSum fails. Find out why, mend it, and show that it passes."

# What the model does, and what the answer to it must hold.
STEPS = [
    ("Bash", {"command": "go test ./...", "description": "Run the tests"}, "got 5, want 6"),
    ("Grep", {"pattern": r"func Sum\b", "output_mode": "content"}, "sums.go:5:func Sum"),
    ("Read", {"file_path": "sums.go"}, "6\t\tfor _, n := range numbers[1:] {"),
    ("Edit", {"file_path": "sums.go", "old_string": "numbers[1:]", "new_string": "numbers"}, "range numbers {"),
    ("Bash", {"command": "go test ./...", "description": "Run the tests again"}, "ok"),
]
LAST = "Sum left out the first number. It adds all of them now, and the test passes."


class Model(http.server.BaseHTTPRequestHandler):
    """An OpenAI-style chat endpoint that follows STEPS."""

    protocol_version = "HTTP/1.1"
    faults = []
    talk = []  # messages of the longest request with tools
    offered = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        names = [t["function"]["name"] for t in request.get("tools", [])]
        messages = request["messages"]
        if not names:  # a request for a title
            return self.say({"content": "Mend TestSum"}, "stop")
        if len(messages) >= len(Model.talk):
            Model.talk, Model.offered = messages, names
        results = [m for m in messages if m["role"] == "tool"]
        if results:
            tool, _, want = STEPS[len(results) - 1]
            if want not in text(results[-1]["content"]):
                Model.faults.append(f"{tool}: {text(results[-1]['content'])!r} does not hold {want!r}")
        if len(results) == len(STEPS) or Model.faults:
            return self.say({"content": LAST}, "stop")
        tool, arguments, _ = STEPS[len(results)]
        name = next((n for n in names if n.endswith("ferrule_" + tool)), None)
        if name is None:
            Model.faults.append(f"no tool {tool} among {names}")
            return self.say({"content": "no tool"}, "stop")
        call = {"index": 0, "id": f"call_{len(results)}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)}}
        self.say({"content": "", "tool_calls": [call]}, "tool_calls")

    def say(self, delta, reason):
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "script"}
        events = [
            {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
             "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        body = "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


def text(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--opencode", default=shutil.which("opencode"), help="the program")
    p.add_argument("--verbose", action="store_true", help="show what opencode prints")
    args = p.parse_args()
    if not args.opencode:
        p.error("opencode is not installed; see --help")

    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        project, home = tmp / "project", tmp / "home"
        home.mkdir()
        for name, content in FILES.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(content)
        ferrule = tmp / "bin" / "ferrule"
        subprocess.run(["go", "build", "-o", ferrule, "./cmd/ferrule"], cwd=REPO, check=True)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (project / "opencode.json").write_text(json.dumps({
            "$schema": "https://opencode.ai/config.json",
            "provider": {"script": {
                "npm": "@ai-sdk/openai-compatible", "name": "script",
                "options": {"baseURL": f"http://127.0.0.1:{server.server_port}/v1", "apiKey": "none"},
                "models": {"script": {"name": "script", "tool_call": True}},
            }},
        }, indent=2))
        env = {**os.environ, "PWD": str(project), "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "data"),
               "XDG_CACHE_HOME": str(home / "cache"), "XDG_STATE_HOME": str(home / "state"), "FERRULE_HOME": str(home / "ferrule"),
               "GOCACHE": subprocess.check_output(["go", "env", "GOCACHE"], text=True).strip(),
               "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        told = subprocess.run([ferrule, "config", "opencode", "--write"], cwd=project, env=env, check=True,
                              capture_output=True, text=True)
        config = (project / "opencode.json").read_text()
        run = subprocess.run([args.opencode, "run", "--auto", "--model", "script/script", TASK], cwd=project, env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        server.shutdown()
        if args.verbose or run.returncode or Model.faults:
            print(told.stdout, told.stderr, run.stdout, run.stderr, sep="\n")
        faults = Model.faults + ([f"opencode ended with {run.returncode}"] if run.returncode else [])
        if (project / "sums.go").read_text() != FILES["sums.go"].replace("numbers[1:]", "numbers"):
            faults.append("sums.go is not mended")
        if sum(m["role"] == "tool" for m in Model.talk) != len(STEPS):
            faults.append("not every step was done")
        if faults:
            sys.exit("\n".join(faults))
        version = subprocess.check_output([args.opencode, "--version"], env=env, text=True).strip()
        plain = lambda s: re.sub(r"\d+\.\d+s|\(cached\)", "TIME", s.replace(str(project), "PROJECT").replace(str(ferrule), "ferrule"))
        (HERE / "transcript.md").write_text(plain(transcript(version, config)))
        print(f"opencode {version} did all {len(STEPS)} steps; see {HERE / 'transcript.md'}")


def transcript(version, config):
    entry = json.loads(re.sub(r"(?m)^\s*//.*$", "", config))
    servers = {k: v for k, v in entry.items() if k.startswith("mcp")}
    ours = [n for n in Model.offered if "ferrule_" in n]
    out = [f"# opencode {version} with Ferrule\n",
           "Made by `docs/opencode/run.py`. The model is a script; opencode and Ferrule are the real programs.\n",
           "`ferrule config opencode --write` added to opencode.json:\n",
           "```json\n" + json.dumps(servers, indent=2) + "\n```\n",
           f"opencode offered the model {len(ours)} tools of Ferrule: {', '.join(ours)}.\n",
           f"**User:** {TASK}\n"]
    for m in Model.talk:
        if m["role"] == "assistant":
            for c in m.get("tool_calls") or []:
                out.append(f"**{c['function']['name']}** `{c['function']['arguments']}`\n")
        elif m["role"] == "tool":
            out.append("```\n" + text(m["content"]).rstrip("\n") + "\n```\n")
    return "\n".join(out + [f"**Model:** {LAST}\n"])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Latency/memory bench for any stdio MCP server that offers a coding toolset.

    mcpbench.py --server ref='/path/other-server' --env ref:KEY=VALUE \
             --server ours='/path/our-server --stdio' \
             --repo /usr/local/go/src --rounds 30

Every server gets the same scenarios, and the rounds of the different servers
are interleaved call by call, so that noise of the machine hits all alike.
Compare ratios inside one run; do not compare absolute numbers of two runs.

A server that differs from the names used here is described with
    --map ref:Read=read_file                       its name of a tool
    --arg ref:Read.file_path=path                  its name of a parameter; empty: leave it out
    --arg ref:Edit.old_string=edits.0.oldText      a place inside of a list or object
    --set ref:Bash.timeout_ms=10000                a parameter (JSON) it wants besides
    --skip 'ref:50 of|multiline'                   scenarios it cannot do (regular expression)
Scenarios whose tool a server does not list are left out for it, too.

"bash true" has one more row, (bare): `bash -c true` started from this program in
the same rounds.
Servers are started with a clean environment (PATH, HOME, LANG and what --env adds).
Standard library only. Linux (/proc) for the memory figures.
"""
import argparse
import copy
import json
import os
import queue
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class RPCError(Exception):
    """A JSON-RPC error object the server answered with."""

    def __init__(self, err):
        super().__init__(f"{err.get('code')}: {err.get('message')}")
        self.code, self.message, self.data = err.get("code"), err.get("message"), err.get("data")


class StdioMCP:
    """Small JSON-RPC 2.0 client for a newline-delimited stdio MCP server."""

    def __init__(self, argv, cwd, env, stderr_path=None, name="server"):
        self.name = name
        self._ids = 0
        self._waiting = {}
        self._lock = threading.Lock()
        self.notifications = []
        self.garbage = []          # stdout lines that are no JSON: a protocol violation
        self._err = open(stderr_path, "ab") if stderr_path else subprocess.DEVNULL
        self.t_spawn = time.perf_counter()
        self.proc = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=self._err)
        threading.Thread(target=self._read_loop, daemon=True).start()

    # -- wire
    def _read_loop(self):
        for raw in self.proc.stdout:
            now = time.perf_counter()
            try:
                msg = json.loads(raw)
            except ValueError:
                if raw.strip():
                    self.garbage.append(raw)
                continue
            for m in msg if isinstance(msg, list) else [msg]:
                if "method" in m and "id" in m:
                    self._answer_server(m)
                elif "method" in m:
                    self.notifications.append(m)
                else:
                    q = self._waiting.pop(m.get("id"), None)
                    if q:
                        q.put((now, len(raw), m))
        for q in list(self._waiting.values()):
            q.put(None)

    def _answer_server(self, m):
        if m["method"] == "ping":
            self._send({"jsonrpc": "2.0", "id": m["id"], "result": {}})
        elif m["method"] == "roots/list":
            self._send({"jsonrpc": "2.0", "id": m["id"], "result": {"roots": []}})
        else:
            self._send({"jsonrpc": "2.0", "id": m["id"],
                        "error": {"code": -32601, "message": "not supported by bench client"}})

    def _send(self, obj):
        data = (json.dumps(obj, ensure_ascii=False) + "\n").encode()
        with self._lock:
            self.proc.stdin.write(data)
            self.proc.stdin.flush()

    def start(self, method, params=None):
        """Send a request; returns a handle for wait()."""
        self._ids += 1
        q = queue.Queue(1)
        self._waiting[self._ids] = q
        req = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        if params is not None:
            req["params"] = params
        t0 = time.perf_counter()
        self._send(req)
        return (self._ids, q, t0)

    def wait(self, handle, timeout=120):
        """-> (result, seconds, response_bytes); raises RPCError, TimeoutError, EOFError."""
        rid, q, t0 = handle
        try:
            got = q.get(timeout=timeout)
        except queue.Empty:
            self._waiting.pop(rid, None)
            raise TimeoutError(f"{self.name}: no answer in {timeout}s") from None
        if got is None:
            raise EOFError(f"{self.name}: server closed stdout")
        t1, size, m = got
        if "error" in m:
            raise RPCError(m["error"])
        return m["result"], t1 - t0, size

    def request(self, method, params=None, timeout=120):
        return self.wait(self.start(method, params), timeout)

    def notify(self, method, params=None):
        self._send({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})})

    # -- MCP
    def initialize(self, version="2025-06-18", capabilities=None, timeout=60):
        res, _, _ = self.request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "mcp-bench", "version": "1"}}, timeout)
        self.init_seconds = time.perf_counter() - self.t_spawn
        self.notify("notifications/initialized")
        return res

    def list_all(self, what="tools"):
        out, cursor = [], None
        while True:
            res, _, _ = self.request(f"{what}/list", {"cursor": cursor} if cursor else {})
            out += res.get(what, [])
            cursor = res.get("nextCursor")
            if not cursor:
                return out

    def call(self, tool, args, timeout=120):
        return self.request("tools/call", {"name": tool, "arguments": args}, timeout)

    # -- process
    def rss(self):
        """(peak RSS of the server process, current RSS of it with all descendants), MiB."""
        def status(pid):
            try:
                with open(f"/proc/{pid}/status") as f:
                    s = f.read()
            except OSError:
                return 0, 0
            g = lambda k: int((re.search(k + r":\s+(\d+)", s) or [0, 0])[1]) / 1024
            return g("VmHWM"), g("VmRSS")
        kids, todo = [], [self.proc.pid]
        while todo:
            p = todo.pop()
            try:
                for t in os.listdir(f"/proc/{p}/task"):
                    with open(f"/proc/{p}/task/{t}/children") as f:
                        for c in f.read().split():
                            kids.append(int(c)); todo.append(int(c))
            except OSError:
                pass
        hwm, cur = status(self.proc.pid)
        return hwm, cur + sum(status(k)[1] for k in kids)

    def close(self, grace=5):
        """EOF on stdin, then SIGTERM, then SIGKILL. Returns (how it ended, seconds)."""
        t0 = time.perf_counter()
        try:
            self.proc.stdin.close()
        except OSError:
            pass
        for how, act in (("eof", None), ("sigterm", self.proc.terminate), ("sigkill", self.proc.kill)):
            if act:
                act()
            try:
                self.proc.wait(grace)
                return how, time.perf_counter() - t0
            except subprocess.TimeoutExpired:
                pass
        return "stuck", time.perf_counter() - t0


def text_of(result):
    return "\n".join(c.get("text", f"<{c.get('type')}>") for c in result.get("content", []))


def place(into, path, value):
    """Puts value where a path such as ["edits", "0", "oldText"] leads, making lists and objects on the way."""
    for here, below in zip(path, path[1:] + [None]):
        key = int(here) if here.isdigit() else here
        if isinstance(key, int) and key == len(into):
            into.append(None)
        if below is None:
            into[key] = value
            return
        if (into[key] if isinstance(key, int) else into.get(key)) is None:
            into[key] = [] if below.isdigit() else {}
        into = into[key]


class Target:
    """One server under test: how to start it, and how its tools are named."""

    def __init__(self, name, cmd):
        self.name, self.argv = name, shlex.split(cmd)
        self.env, self.tool_names, self.arg_names, self.constants = {}, {}, {}, {}
        self.skip = None
        self.client = None

    def spawn(self, cwd, home, stderr=None):
        env = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", **self.env}
        return StdioMCP(self.argv, cwd, env, stderr, self.name)

    def tool(self, logical):
        return self.tool_names.get(logical, logical)

    def args(self, logical, args):
        ren = self.arg_names.get(logical, {})
        out = copy.deepcopy(self.constants.get(logical, {}))
        for k, v in args.items():
            if path := ren.get(k, k):
                place(out, path.split("."), v)
        return out

    def can(self, scenario):
        return self.tool(scenario.tool) in self.names and not (self.skip and re.search(self.skip, scenario.name))

    def call(self, logical, args, timeout=120):
        return self.client.call(self.tool(logical), self.args(logical, args), timeout)


# ---------------------------------------------------------------- scenarios
class Scenario:
    """name, the logical tool, args(round, workspace) and an optional once-only prepare(target, ws)."""

    def __init__(self, name, tool, args, prepare=None, check=None, rounds=None):
        self.name, self.tool, self.args = name, tool, args
        self.prepare, self.check, self.rounds = prepare, check, rounds


def make_workspace(root):
    os.makedirs(root, exist_ok=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    p = {k: os.path.join(root, v) for k, v in dict(
        r2k="lines2000.txt", small="small.go", edit="edit.txt", ediths="edit_huge.txt", write="write.txt").items()}
    with open(p["r2k"], "w") as f:
        f.writelines(f"line {i:05d} the quick brown fox jumps over the lazy dog\n" for i in range(1, 2001))
    with open(p["small"], "w") as f:
        f.write("package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n")
    with open(p["edit"], "w") as f:
        f.writelines(f"row {i}\n" for i in range(500)); f.write("TOGGLE-A\n")
    with open(p["ediths"], "w") as f:
        f.writelines(f"row {i} {'x' * 60}\n" for i in range(20000)); f.write("TOGGLE-A\n")
    with open(p["write"], "w") as f:
        f.write("v0\n")
    return p


def toggle(key):
    def args(i, ws):
        a, b = ("TOGGLE-A", "TOGGLE-B") if i % 2 == 0 else ("TOGGLE-B", "TOGGLE-A")
        return {"file_path": ws[key], "old_string": a, "new_string": b}
    return args


def read_first(key, **kw):
    return lambda t, ws: t.call("Read", {"file_path": ws[key], **kw})


def scenarios(repo):
    S = Scenario
    return [
        S("read 2000 lines", "Read", lambda i, ws: {"file_path": ws["r2k"]}),
        S("read 50 of 2000", "Read", lambda i, ws: {"file_path": ws["r2k"], "offset": 900 + i % 50, "limit": 50}),
        S("read 5 lines", "Read", lambda i, ws: {"file_path": ws["small"]}),
        S("grep files (rare)", "Grep", lambda i, ws: {"pattern": "runtime_procPin", "path": repo}),
        S("grep content (common)", "Grep", lambda i, ws: {"pattern": r"func \w+\(", "path": repo,
                                                          "output_mode": "content", "head_limit": 100}),
        S("grep count", "Grep", lambda i, ws: {"pattern": "TODO", "path": repo, "output_mode": "count"}),
        S("grep multiline", "Grep", lambda i, ws: {"pattern": r"if err != nil \{\n\t+return nil, err", "path": repo,
                                                   "multiline": True, "glob": "*.go", "head_limit": 50}),
        S("grep no match", "Grep", lambda i, ws: {"pattern": "zq" + "xjkv_no_such", "path": repo}),
        S("glob **/*.go", "Glob", lambda i, ws: {"pattern": "**/*.go", "path": repo}),
        S("glob **/*_test.go sub", "Glob", lambda i, ws: {"pattern": "net/**/*_test.go", "path": repo}),
        S("edit 500 lines", "Edit", toggle("edit"), prepare=read_first("edit")),
        S("edit 20k lines 1.4MB", "Edit", toggle("ediths"), prepare=read_first("ediths", offset=19990, limit=20)),
        S("write overwrite", "Write", lambda i, ws: {"file_path": ws["write"], "content": f"v{i}\n"},
          prepare=read_first("write")),
        S("bash true", "Bash", lambda i, ws: {"command": "true"}),
        S("bash seq 2000", "Bash", lambda i, ws: {"command": "seq 2000"}),
    ]


def pct(v, p):
    v = sorted(v)
    k = (len(v) - 1) * p / 100
    lo, hi = int(k), min(int(k) + 1, len(v) - 1)
    return v[lo] + (v[hi] - v[lo]) * (k - lo)


def table(rows, head):
    w = [max(len(str(r[i])) for r in [head] + rows) for i in range(len(head))]
    line = lambda r: "  ".join(str(c).ljust(w[i]) if i < 2 else str(c).rjust(w[i]) for i, c in enumerate(r))
    print(line(head)); print("  ".join("-" * x for x in w))
    for r in rows:
        print(line(r))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--server", action="append", required=True, metavar="NAME='CMD ARGS'")
    ap.add_argument("--env", action="append", default=[], metavar="NAME:KEY=VALUE")
    ap.add_argument("--map", action="append", default=[], metavar="NAME:Logical=tool")
    ap.add_argument("--arg", action="append", default=[], metavar="NAME:Logical.param=param")
    ap.add_argument("--set", action="append", default=[], metavar="NAME:Logical.param=JSON")
    ap.add_argument("--skip", action="append", default=[], metavar="NAME:REGEX")
    ap.add_argument("--repo", default="/usr/local/go/src", help="tree for Grep/Glob")
    ap.add_argument("--home", help="HOME of the servers (default: a fresh folder)")
    ap.add_argument("--rounds", type=int, default=20)
    ap.add_argument("--warmup", type=int, default=2)
    ap.add_argument("--starts", type=int, default=7, help="process starts to time")
    ap.add_argument("--only", help="regular expression over scenario names")
    ap.add_argument("--json", help="write the raw figures here")
    ap.add_argument("--protocol", default="2025-06-18")
    a = ap.parse_args()

    targets = {}
    for s in a.server:
        n, cmd = s.split("=", 1)
        targets[n] = Target(n, cmd)
    for e in a.env:
        n, kv = e.split(":", 1); k, v = kv.split("=", 1); targets[n].env[k] = v
    for e in a.map:
        n, kv = e.split(":", 1); k, v = kv.split("=", 1); targets[n].tool_names[k] = v
    for e in a.arg:
        n, kv = e.split(":", 1); k, v = kv.split("=", 1); t, p = k.split(".", 1)
        targets[n].arg_names.setdefault(t, {})[p] = v
    for e in a.set:
        n, kv = e.split(":", 1); k, v = kv.split("=", 1); t, p = k.split(".", 1)
        targets[n].constants.setdefault(t, {})[p] = json.loads(v)
    for e in a.skip:
        n, r = e.split(":", 1); targets[n].skip = r
    ts = list(targets.values())

    base = tempfile.mkdtemp(prefix="mcpbench-")
    raw = {"scenarios": {}, "servers": {}}
    try:
        ws = {}
        for t in ts:
            t.ws = make_workspace(os.path.join(base, "ws-" + t.name))
            t.cwd = os.path.join(base, "ws-" + t.name)
            t.home = a.home or os.path.join(base, "home-" + t.name)
            os.makedirs(t.home, exist_ok=True)

        # 1. start -> initialize answer, and -> first tools/list answer
        for t in ts:
            t.init, t.ready, t.closes = [], [], []
        for i in range(a.starts + 1):          # first start of each is warm-up (page cache)
            for t in ts:
                c = t.spawn(t.cwd, t.home)
                c.initialize(a.protocol)
                c.list_all("tools")
                ready = time.perf_counter() - c.t_spawn
                if i:
                    t.init.append(c.init_seconds); t.ready.append(ready)
                t.closes.append(c.close())
        rows = []
        for t in ts:
            t.client = t.spawn(t.cwd, t.home, os.path.join(base, t.name + ".stderr"))
            info = t.client.initialize(a.protocol)
            tools = t.client.list_all("tools")
            t.names = {x["name"] for x in tools}
            t.idle = t.client.rss()
            hows = sorted({h for h, _ in t.closes})
            rows.append([t.name, f"{info['serverInfo'].get('name')} {info['serverInfo'].get('version')}",
                         info["protocolVersion"], len(tools), len(json.dumps(tools)),
                         f"{pct(t.init, 50) * 1e3:.0f}", f"{pct(t.init, 95) * 1e3:.0f}",
                         f"{pct(t.ready, 50) * 1e3:.0f}", f"{t.idle[0]:.0f}",
                         "/".join(hows), f"{max(s for _, s in t.closes) * 1e3:.0f}"])
            raw["servers"][t.name] = {"info": info, "tools": sorted(t.names), "init_s": t.init, "ready_s": t.ready}
        table(rows, ["server", "identity", "protocol", "tools", "tools/list B", "init p50 ms", "p95",
                     "+tools/list p50", "idle RSS MiB", "exit", "exit max ms"])
        print()

        # 2. tools/call latencies, interleaved
        rows = []
        for sc in scenarios(a.repo):
            if a.only and not re.search(a.only, sc.name):
                continue
            got = {t.name: {"s": [], "bytes": 0, "err": 0, "msg": "", "peak": 0.0} for t in ts}
            live = [t for t in ts if t.can(sc)]
            bare = []
            for t in live:
                if sc.prepare:
                    try:
                        sc.prepare(t, t.ws)
                    except Exception as e:             # noqa: BLE001 - a bench reports, it does not die
                        got[t.name]["msg"] = f"prepare: {e}"
            for i in range(a.warmup + (sc.rounds or a.rounds)):
                if sc.name == "bash true":
                    t0 = time.perf_counter()
                    subprocess.run(["bash", "-c", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
                    if i >= a.warmup:
                        bare.append(time.perf_counter() - t0)
                for t in live if i % 2 == 0 else reversed(live):
                    g = got[t.name]
                    try:
                        res, s, size = t.call(sc.tool, sc.args(i, t.ws))
                    except Exception as e:             # noqa: BLE001
                        g["err"] += 1; g["msg"] = str(e)[:120]
                        continue
                    if res.get("isError"):
                        g["err"] += 1; g["msg"] = text_of(res)[:120]
                    elif i >= a.warmup:
                        g["s"].append(s); g["bytes"] = size
            for t in live:
                g = got[t.name]
                s = g["s"]
                f = (lambda x: f"{x * 1e3:.2f}") if s else (lambda x: "-")
                rows.append([sc.name, t.name, len(s), f(pct(s, 50)) if s else "-", f(pct(s, 95)) if s else "-",
                             f(max(s)) if s else "-", g["bytes"], f"{g['err']} {g['msg']}" if g["err"] else "0"])
            if bare:
                rows.append([sc.name, "(bare)", len(bare), *(f"{x * 1e3:.2f}" for x in (pct(bare, 50), pct(bare, 95), max(bare))), "", ""])
                got["(bare)"] = {"s": bare}
            raw["scenarios"][sc.name] = got
        table(rows, ["scenario", "server", "n", "p50 ms", "p95 ms", "max ms", "resp B", "errors"])
        print()

        # 3. can a fast call overtake a slow one on the same connection?
        rows = []
        for t in ts:
            if not {t.tool("Bash"), t.tool("Read")} <= t.names:
                continue
            h1 = t.client.start("tools/call", {"name": t.tool("Bash"), "arguments": t.args("Bash", {"command": "sleep 1"})})
            time.sleep(0.05)
            h2 = t.client.start("tools/call", {"name": t.tool("Read"), "arguments": t.args("Read", {"file_path": t.ws["small"]})})
            h3 = t.client.start("tools/call", {"name": t.tool("Bash"), "arguments": t.args("Bash", {"command": "echo b2"})})
            try:
                _, s2, _ = t.client.wait(h2, 30); _, s3, _ = t.client.wait(h3, 30); _, s1, _ = t.client.wait(h1, 30)
                rows.append([t.name, "", f"{s1 * 1e3:.0f}", f"{s2 * 1e3:.1f}", f"{s3 * 1e3:.0f}"])
            except Exception as e:                     # noqa: BLE001
                rows.append([t.name, str(e)[:60], "-", "-", "-"])
        table(rows, ["server", "", "bash sleep 1 ms", "Read meanwhile ms", "2nd Bash meanwhile ms"])
        print()

        rows = []
        for t in ts:
            hwm, tree = t.client.rss()
            how, secs = t.client.close()
            rows.append([t.name, "", f"{hwm:.0f}", f"{tree:.0f}", f"{how} {secs * 1e3:.0f} ms", len(t.client.garbage)])
            raw["servers"][t.name].update(peak_rss_mib=hwm, tree_rss_mib=tree)
        table(rows, ["server", "", "peak RSS MiB", "tree RSS MiB now", "exit", "non-JSON stdout lines"])
        if a.json:
            with open(a.json, "w") as f:
                json.dump(raw, f, indent=1)
    finally:
        for t in ts:
            if t.client and t.client.proc.poll() is None:
                t.client.close(2)
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()

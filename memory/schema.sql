CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE memories(
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,            -- project key, or 'user'
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,           -- order within the session
  kind TEXT NOT NULL,             -- fact, note, turn
  content TEXT NOT NULL,
  tags TEXT NOT NULL,             -- JSON array
  source TEXT NOT NULL,
  importance REAL NOT NULL,
  auto INTEGER NOT NULL,          -- 1: recorded without being asked for
  said INTEGER NOT NULL,          -- Unix milliseconds
  updated INTEGER NOT NULL,       -- last time the same words came again
  seen INTEGER NOT NULL DEFAULT 1,
  hash BLOB NOT NULL,             -- of the folded content
  superseded_by TEXT,             -- uid, also when that memory has been forgotten since
  UNIQUE(scope, hash)
) STRICT;
CREATE INDEX memories_session ON memories(scope, session, seq);
CREATE INDEX memories_said ON memories(said);
CREATE VIRTUAL TABLE mem_fts USING fts5(body, prev, nxt, ts, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE mem_terms USING fts5vocab(mem_fts, 'row');
INSERT INTO mem_fts(mem_fts, rank) VALUES('rank', 'bm25(1.0, 0.4, 0.3, 0.5)'), ('usermerge', 2);
CREATE TABLE outbox(
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,             -- the request, in JSON
  tries INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL DEFAULT 0,   -- Unix milliseconds: not before
  lease INTEGER NOT NULL DEFAULT 0, -- Unix milliseconds: somebody sends it until then
  fault TEXT                        -- why the server refused it for good
) STRICT;

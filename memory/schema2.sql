-- The index gets a column for the scope, which says nothing of a row's worth, and is made again from the memories.
DROP TABLE mem_terms;
DROP TABLE mem_fts;
CREATE VIRTUAL TABLE mem_fts USING fts5(body, prev, nxt, ts, scope, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE mem_terms USING fts5vocab(mem_fts, 'row');
INSERT INTO mem_fts(mem_fts, rank) VALUES('rank', 'bm25(1.0, 0.4, 0.3, 0.5, 0.0)'), ('usermerge', 2);
DELETE FROM meta WHERE key='rebuilt';
UPDATE meta SET value=0 WHERE key='analyzer' AND EXISTS (SELECT 1 FROM memories);

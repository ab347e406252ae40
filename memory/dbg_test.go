package memory
import ("testing";"os";"path/filepath";"fmt";"database/sql")
func TestDbg(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	c, _ := open(t, path)
	var ms []Memory
	for i := range 300 { ms = append(ms, Memory{Content: fmt.Sprintf("memory %d says cypress%d", i, i), Scope: "p"}) }
	c.Ingest(t.Context(), ms...)
	c.Close()
	b, _ := os.ReadFile(path)
	os.WriteFile(path, b[:len(b)/2/4096*4096], 0o600)
	db, _ := sql.Open("sqlite", dsn(path))
	for _, q := range []string{"SELECT count(*) FROM sqlite_schema", "SELECT min(id) FROM memories", "SELECT count(content) FROM memories WHERE id<100","PRAGMA page_count", "PRAGMA integrity_check(3)"} {
		var s string
		err := db.QueryRow(q).Scan(&s)
		fmt.Println(q, s, err)
	}
	var root string
	db.QueryRow("SELECT group_concat(name||':'||rootpage) FROM sqlite_schema").Scan(&root)
	fmt.Println(root, len(b)/4096)
}

package archive

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vfs"
)

const (
	sampleRows   = 5        // shown of each table
	sampleChars  = 80       // shown of a value
	maxValue     = 10 << 20 // bytes of a value; sqlite refuses larger ones
	limitLength  = 0        // SQLITE_LIMIT_LENGTH
	maxTables    = 200      // shown
	maxTableCols = 50       // shown of a sample
)

// readSQLite shows the schema, the first rows and the number of rows of each
// table. SQLite gets the open file, never a path, and treats it as one that
// nobody changes: it makes no other files and heeds none.
func readSQLite(b *budget, f File, w *writer, _ Options) error {
	name, system, err := vfs.New(oneFile{f})
	if err != nil {
		return err
	}
	defer system.Close()
	query := url.Values{"vfs": {name}, "mode": {"ro"}, "immutable": {"1"},
		"_pragma": {"trusted_schema(0)", "query_only(1)", "cell_size_check(1)", "cache_size(-8000)", "mmap_size(0)"}}
	db, err := sql.Open("sqlite", "file:db?"+query.Encode())
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(b.ctx)
	if err != nil {
		return sqliteError(b.ctx, err)
	}
	defer conn.Close()
	if _, err := sqlite.Limit(conn, limitLength, maxValue); err != nil {
		return err
	}
	tables, err := schema(b.ctx, conn, w)
	if err != nil {
		return sqliteError(b.ctx, err)
	}
	if f.WAL {
		w.note("a -wal file stands beside it: its newest changes are not shown")
	}
	for _, t := range tables {
		if err := sample(b.ctx, conn, w, t); err != nil {
			return err
		}
	}
	return counts(b.ctx, conn, w, tables)
}

func sqliteError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return damaged(err)
}

// schema writes the statements that made the database and returns its tables.
func schema(ctx context.Context, conn *sql.Conn, w *writer) (tables []string, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY type != 'table', rowid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return nil, err
		}
		if n++; n > maxTables {
			w.note("more than %d tables, indexes and views: the rest is left out", maxTables)
			break
		}
		if w.addCut(strings.ToValidUTF8(text, "\ufffd")+";\n") != nil {
			w.note("the schema is cut")
			return nil, nil
		}
		if kind == "table" && !strings.HasPrefix(strings.ToUpper(text), "CREATE VIRTUAL") {
			tables = append(tables, name)
		}
	}
	if n == 0 {
		w.add("(no tables)\n")
	}
	return tables, rows.Err()
}

// sample writes the first rows of a table. What is wrong with one table does
// not matter to the others.
func sample(ctx context.Context, conn *sql.Conn, w *writer, table string) error {
	cols, err := columns(ctx, conn, table)
	if err == nil && len(cols) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", quoted(table))
	if err == nil {
		err = sampleOf(ctx, conn, &b, table, cols)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		fmt.Fprintf(&b, "(cannot be read: %v)\n", err)
	}
	if w.add(b.String()) != nil {
		w.note("rows from the table %s on are left out", quoted(table))
		return errFull
	}
	return nil
}

func sampleOf(ctx context.Context, conn *sql.Conn, b *strings.Builder, table string, cols []string) error {
	var list []string
	for _, c := range cols {
		q := name(c)
		list = append(list, fmt.Sprintf("CASE typeof(%[1]s) WHEN 'blob' THEN '<'||length(%[1]s)||' bytes>' WHEN 'text' THEN substr(%[1]s,1,%[2]d) WHEN 'null' THEN 'NULL' ELSE %[1]s END", q, sampleChars+1))
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(list, ", "), name(table), sampleRows))
	if err != nil {
		return err
	}
	defer rows.Close()
	row(b, cols)
	row(b, strings.Split(strings.Repeat("---,", len(cols)-1)+"---", ","))
	for rows.Next() {
		cells := make([]sql.NullString, len(cols))
		into := make([]any, len(cols))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		shown := make([]string, len(cols))
		for i, c := range cells {
			shown[i] = cell(c.String)
		}
		row(b, shown)
	}
	return rows.Err()
}

func columns(ctx context.Context, conn *sql.Conn, table string) (cols []string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() && len(cols) < maxTableCols {
		var c string
		if err := rows.Scan(&c); err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, rows.Err()
}

// counts writes how many rows the tables have, for as long as there is time.
func counts(ctx context.Context, conn *sql.Conn, w *writer, tables []string) error {
	var known []string
	for _, t := range tables {
		var n int64
		err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+name(t)).Scan(&n)
		if ctx.Err() != nil {
			known = append(known, "not counted in time: "+quoted(t)+" and what follows")
			break
		}
		if err == nil {
			known = append(known, quoted(t)+" "+number(n))
		}
	}
	if len(known) > 0 && w.addCut("\nrows: "+strings.Join(known, ", ")+"\n") != nil {
		return errFull
	}
	return nil
}

// name writes an identifier for SQL.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// oneFile is a file system that has the database and nothing else.
type oneFile struct{ f File }

func (o oneFile) Open(name string) (fs.File, error) {
	if name != "db" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openDB{SectionReader: io.NewSectionReader(o.f, 0, o.f.Size)}, nil
}

// openDB is the database as the file system gives it.
type openDB struct{ *io.SectionReader }

func (d *openDB) Stat() (fs.FileInfo, error) { return dbInfo(d.Size()), nil }
func (d *openDB) Close() error               { return nil }

// dbInfo is the size of the database.
type dbInfo int64

func (i dbInfo) Name() string       { return "db" }
func (i dbInfo) Size() int64        { return int64(i) }
func (i dbInfo) Mode() fs.FileMode  { return 0o444 }
func (i dbInfo) ModTime() time.Time { return time.Time{} }
func (i dbInfo) IsDir() bool        { return false }
func (i dbInfo) Sys() any           { return nil }

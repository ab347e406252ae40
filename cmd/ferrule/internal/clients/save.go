package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 4 << 20

// Load reads a client's file. A file that does not exist is nil without error.
func Load(path string) ([]byte, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link to nothing; remove it or make its target", path)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() { // opening a pipe would wait
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// Save replaces what old was read from path by made, all at once. The mode, the
// owner and links stay. The old content is kept in a file beside it, whose path
// is returned. With old nil the file is made, for its owner only, with the
// folders that are missing. A file that does not hold old any more is left
// alone, as is one that is read-only or has several names.
func Save(path string, old, made []byte, now time.Time) (backup string, err error) {
	if old == nil {
		return "", create(path, made)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	switch {
	case fi.Mode().Perm()&0o200 == 0:
		return "", fmt.Errorf("%s is read-only; make it writable first", target)
	case names(fi) > 1:
		return "", fmt.Errorf("%s has several names (hard links), which would come apart; put the entry in by hand", target)
	}
	if backup, err = keep(target, old, fi, now); err != nil {
		return "", err
	}
	if err := replace(target, old, made, fi); err != nil {
		os.Remove(backup) // the file is as it was
		return "", err
	}
	return backup, nil
}

func create(path string, made []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, made); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// keep writes the old content beside the file, with the same mode.
func keep(target string, old []byte, fi fs.FileInfo, now time.Time) (string, error) {
	base := target + ".bak-" + now.Format("20060102-150405")
	for i := 1; i < 100; i++ {
		path := base
		if i > 1 {
			path = fmt.Sprintf("%s-%d", base, i)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(likeness(f, fi), fill(f, old)); err != nil {
			os.Remove(path)
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("there are too many backups like %s; remove some", base)
}

// replace puts a new file in the place of the target, if that still holds old.
func replace(target string, old, made []byte, fi fs.FileInfo) error {
	f, err := os.CreateTemp(filepath.Dir(target), ".ferrule-*")
	if err != nil {
		return err
	}
	if err := errors.Join(likeness(f, fi), fill(f, made)); err != nil {
		os.Remove(f.Name())
		return err
	}
	now, err := os.ReadFile(target)
	if err == nil && !bytes.Equal(now, old) {
		err = fmt.Errorf("%s was changed by another program just now; try again", target)
	}
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// likeness gives f the owner and the mode of a file. The owner comes first: to
// change it can clear bits of the mode.
func likeness(f *os.File, fi fs.FileInfo) error {
	if err := chown(f, fi); err != nil {
		return err
	}
	return f.Chmod(fi.Mode().Perm())
}

// fill writes all of a new file and closes it.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

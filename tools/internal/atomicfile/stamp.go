package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sum is the SHA-256 of a content. As text it is hexadecimal.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText makes a Sum hexadecimal in JSON.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Sum) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(s) {
		return fmt.Errorf("%q is not a SHA-256", text)
	}
	copy(s[:], b)
	return nil
}

// Stamp names one version of a file. Times are nanoseconds since 1970. Fields that a system does not tell are 0.
type Stamp struct {
	Dev, Ino     uint64
	Size         int64
	MTime, CTime int64
	Sum          Sum
}

// Same reports whether both stamps have the same content. Only this decides whether a file is the one that was read:
// equal times prove nothing, since clocks are coarse and can be put back.
func (a Stamp) Same(b Stamp) bool { return a.Size == b.Size && a.Sum == b.Sum }

// SameStat reports whether everything but the content is equal. It is good for hints: a difference says "probably
// changed" without reading the file.
func (a Stamp) SameStat(b Stamp) bool {
	a.Sum, b.Sum = Sum{}, Sum{}
	return a == b
}

// StampOf returns the stamp of a file without its Sum.
func StampOf(fi fs.FileInfo) Stamp {
	st, _ := statOf(fi)
	return st
}

// Read returns the content of f, wherever its offset stands, and the stamp of exactly this content: it reads again, up
// to three times, when the file changes meanwhile, and then gives up with ErrChanging. Other errors are ErrSpecial for
// what is no regular file, and ErrTooLarge above max bytes, found without reading more than max.
func Read(f *os.File, max int64) ([]byte, Stamp, error) {
	for range 3 {
		fi, err := f.Stat()
		if err != nil {
			return nil, Stamp{}, err
		}
		if !fi.Mode().IsRegular() {
			return nil, Stamp{}, ErrSpecial
		}
		before := StampOf(fi)
		if before.Size > max {
			return nil, before, ErrTooLarge{Size: before.Size, Max: max}
		}
		var b bytes.Buffer
		b.Grow(int(before.Size) + bytes.MinRead)
		if _, err := b.ReadFrom(io.NewSectionReader(f, 0, max+1)); err != nil {
			return nil, Stamp{}, err
		}
		n := int64(b.Len())
		if fi, err = f.Stat(); err != nil {
			return nil, Stamp{}, err
		}
		if !before.SameStat(StampOf(fi)) {
			continue
		}
		if n > max {
			return nil, before, ErrTooLarge{Size: n, Max: max}
		}
		if n == before.Size || before.Size == 0 { // files of /proc have content and size 0
			before.Size, before.Sum = n, sha256.Sum256(b.Bytes())
			return b.Bytes(), before, nil
		}
	}
	return nil, Stamp{}, ErrChanging
}

// holds reports whether f contains exactly want. Comparing bytes is cheaper than hashing them again.
func holds(f io.ReaderAt, want []byte) (bool, error) {
	buf := make([]byte, min(len(want)+1, 64<<10))
	r := io.NewSectionReader(f, 0, int64(len(want))+1)
	for rest := want; ; {
		n, err := r.Read(buf)
		if n > len(rest) || !bytes.Equal(buf[:n], rest[:n]) {
			return false, nil
		}
		rest = rest[n:]
		if err == io.EOF {
			return len(rest) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

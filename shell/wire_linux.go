//go:build !portable

package shell

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Server and shepherd speak in frames: the length of what follows (4 bytes, big endian), one byte that says what it is,
// and fields that each end in NUL. None of the texts sent can hold a NUL, and every other byte arrives as it was, so
// folder names that are no UTF-8 are safe; JSON would change them, and costs a cold process more than it is worth.

// Kinds of frames.
const (
	orderRun    = 'R' // dir, flags, number of arguments, arguments, environment; with the descriptors of the command
	orderSignal = 'S' // number of a signal, for the whole tree

	reportTaken   = 'T' // the order has arrived; nothing has been started before
	reportStarted = 'P' // process id of the shell
	reportError   = 'E' // why the shell could not be started
	reportEnded   = 'X' // code, signal, dir ("": gone; "?": not known), and for each process that is left: id, name
)

// Flags of orderRun.
const (
	flagTTY = "t" // the first descriptor is the terminal of the command's session
	flagPen = "p" // the last two descriptors are a control group for the command, and what kills it
)

// maxFrame bounds what is believed: an order holds one environment and one command of at most 100 KiB.
const maxFrame = 64 << 20

var errFrame = errors.New("malformed frame")

func frame(kind byte, fields ...string) []byte {
	n := 1
	for _, f := range fields {
		n += len(f) + 1
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+n), uint32(n))
	b = append(b, kind)
	for _, f := range fields {
		b = append(append(b, f...), 0)
	}
	return b
}

func readFrame(r *bufio.Reader) (kind byte, fields []string, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || n > maxFrame {
		return 0, nil, errFrame
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	body, whole := strings.CutSuffix(string(b[1:]), "\x00")
	switch {
	case whole:
		return b[0], strings.Split(body, "\x00"), nil
	case body == "":
		return b[0], nil, nil
	}
	return 0, nil, errFrame
}

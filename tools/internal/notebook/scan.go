package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A span is a range of bytes of the file.
type span struct{ a, b int }

// A member is a key of an object and its value.
type member struct {
	key   string
	name  span // the key, with its quotes
	value span
}

// An object is the places of an object's members, in the order of the file.
type object struct {
	span
	members []member
}

// find returns the last member of that name, which is the one that counts for
// readers of JSON, or nil.
func (o *object) find(key string) *member {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return &o.members[i]
		}
	}
	return nil
}

// errShape stands for valid JSON of another shape than the one expected.
var errShape = errors.New("not of the shape of a notebook")

// A scanner walks over bytes that json.Valid has accepted and tells where
// things stand. On other bytes it ends with an error or with places of no
// meaning, but it ends.
type scanner struct {
	b []byte
	p int
}

func (s *scanner) space() {
	for s.p < len(s.b) {
		switch s.b[s.p] {
		case ' ', '\t', '\n', '\r':
			s.p++
		default:
			return
		}
	}
}

// next skips space and returns the byte behind it, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.p < len(s.b) {
		return s.b[s.p]
	}
	return 0
}

// str skips a string. Strings hold most of a notebook's bytes, so it jumps from
// quote to quote.
func (s *scanner) str() (span, error) {
	if s.next() != '"' {
		return span{}, errShape
	}
	start := s.p
	for s.p++; ; s.p++ {
		i := bytes.IndexByte(s.b[s.p:], '"')
		if i < 0 {
			return span{}, errShape
		}
		s.p += i
		slash := s.p
		for s.b[slash-1] == '\\' {
			slash--
		}
		if (s.p-slash)%2 == 0 { // the quote is not escaped
			s.p++
			return span{start, s.p}, nil
		}
	}
}

// value skips any value.
func (s *scanner) value() (span, error) {
	switch s.next() {
	case '"':
		return s.str()
	case '{', '[':
	default: // a number or a word
		start := s.p
		if i := bytes.IndexAny(s.b[s.p:], ",]} \t\r\n"); i >= 0 {
			s.p += i
		} else {
			s.p = len(s.b)
		}
		return span{start, s.p}, nil
	}
	start := s.p
	for depth := 0; s.p < len(s.b); {
		switch s.b[s.p] {
		case '"':
			if _, err := s.str(); err != nil {
				return span{}, err
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.p++
		if depth == 0 {
			return span{start, s.p}, nil
		}
	}
	return span{}, errShape
}

func (s *scanner) object() (object, error) {
	if s.next() != '{' {
		return object{}, errShape
	}
	o := object{span: span{a: s.p}}
	for s.p++; s.next() != '}'; {
		name, err := s.str()
		if err != nil {
			return o, err
		}
		m := member{name: name}
		if err := json.Unmarshal(s.b[name.a:name.b], &m.key); err != nil {
			return o, errShape
		}
		if s.next() != ':' {
			return o, errShape
		}
		s.p++
		if m.value, err = s.value(); err != nil {
			return o, err
		}
		o.members = append(o.members, m)
		if s.next() == ',' {
			s.p++
		}
	}
	s.p++
	o.b = s.p
	return o, nil
}

// array calls each at every element, which it must skip.
func (s *scanner) array(each func() error) (span, error) {
	if s.next() != '[' {
		return span{}, errShape
	}
	start := s.p
	for s.p++; s.next() != ']'; {
		before := s.p
		if err := each(); err != nil {
			return span{}, err
		}
		if s.next() == ',' {
			s.p++
		}
		if s.p == before {
			return span{}, errShape
		}
	}
	s.p++
	return span{start, s.p}, nil
}

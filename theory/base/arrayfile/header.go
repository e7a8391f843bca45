package arrayfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// magic is the beginning of an .npy file.
const magic = "\x93NUMPY"

// header is what the beginning of an .npy file says.
type header struct {
	descr   string // the type of an entry, such as <f8
	fortran bool   // columns after each other, not rows
	shape   []int
}

// maxHeader is the largest header that is read: NumPy pads its own to a few
// dozen bytes.
const maxHeader = 1 << 16

var errHeader = errors.New("not a NumPy array: bad header")

// readHeader reads the header of an .npy file and leaves br at the data, which
// begin at the offset.
func readHeader(br *bufio.Reader) (h header, offset int64, err error) {
	start, err := br.Peek(12)
	if len(start) == 0 {
		return h, 0, errors.New("empty file; want a NumPy array")
	}
	if err != nil || !bytes.HasPrefix(start, []byte(magic)) {
		return h, 0, errors.New("not a NumPy array: the file does not begin as .npy files do")
	}
	begin, length := 10, int(binary.LittleEndian.Uint16(start[8:]))
	switch start[6] {
	case 1:
	case 2:
		long := binary.LittleEndian.Uint32(start[8:])
		if long > maxHeader {
			return h, 0, errHeader
		}
		begin, length = 12, int(long)
	default:
		return h, 0, fmt.Errorf(".npy format version %d; want 1 or 2, as numpy.save writes", start[6])
	}
	raw := make([]byte, begin+length)
	if _, err := io.ReadFull(br, raw); err != nil {
		return h, 0, errHeader
	}
	h, err = parseHeader(string(raw[begin:]))
	return h, int64(len(raw)), err
}

// parseHeader reads the dictionary of a header, a literal of Python that has the keys descr,
// fortran_order and shape, in any order.
func parseHeader(text string) (h header, err error) {
	p := literal{rest: text}
	p.want("{")
	seen := map[string]bool{}
	for !p.bad && !p.take("}") {
		key := p.text()
		p.want(":")
		switch key {
		case "descr":
			h.descr = p.descr()
		case "fortran_order":
			h.fortran = p.take("True")
			if !h.fortran {
				p.want("False")
			}
		case "shape":
			h.shape = p.tuple()
		default:
			p.bad = true
		}
		p.bad = p.bad || seen[key]
		seen[key] = true
		if !p.take(",") {
			p.want("}")
			break
		}
	}
	if p.space(); p.bad || p.rest != "" || len(seen) != 3 {
		return h, errHeader
	}
	return h, nil
}

// literal reads a literal of Python from its beginning on.
type literal struct {
	rest string
	bad  bool // something else was found
}

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\f") }

// take reads a token, where it is next.
func (p *literal) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

// want reads a token that must be next.
func (p *literal) want(token string) { p.bad = !p.take(token) || p.bad }

// text reads a text in single or double quotes, without escapes: no key or type has one.
func (p *literal) text() string {
	for _, quote := range []string{"'", `"`} {
		if p.take(quote) {
			text, rest, ended := strings.Cut(p.rest, quote)
			p.rest = rest
			p.bad = p.bad || !ended || strings.ContainsAny(text, "\\\n")
			return text
		}
	}
	p.bad = true
	return ""
}

// descr reads a type. That of an array with fields is a list, which it returns as it stands.
func (p *literal) descr() string {
	if !p.take("[") {
		return p.text()
	}
	list := "["
	for depth := 1; depth > 0; {
		if p.rest == "" {
			p.bad = true
			return list
		}
		switch p.rest[0] {
		case '[':
			depth++
		case ']':
			depth--
		}
		list, p.rest = list+p.rest[:1], p.rest[1:]
	}
	return list
}

// tuple reads a tuple of integers. Python 2 wrote an L after some.
func (p *literal) tuple() (out []int) {
	p.want("(")
	for !p.bad && !p.take(")") {
		p.space()
		rest := strings.TrimLeft(p.rest, "-0123456789")
		n, err := strconv.Atoi(p.rest[:len(p.rest)-len(rest)])
		p.bad = err != nil
		p.rest = rest
		p.take("L")
		out = append(out, n)
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	return out
}

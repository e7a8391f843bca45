package arrayfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// entry is a key with its value in the dictionary of a header, a literal of Python. No key and no type has
// an escape. Python 2 wrote an L after some integers.
var entry = regexp.MustCompile(`^\s*['"](\w+)['"]\s*:\s*(?:'([^'\\\n]*)'|"([^"\\\n]*)"|(\[.*\])|(True|False)|\(([\sL\d,-]*)\))\s*(?:,|$)`)

// parseHeader reads the dictionary of a header, which has the keys descr, fortran_order and shape, in any
// order. The type of an array with fields is a list.
func parseHeader(text string) (h header, err error) {
	rest, begins := strings.CutPrefix(strings.TrimSpace(text), "{")
	rest, ends := strings.CutSuffix(rest, "}")
	if !begins || !ends {
		return h, errHeader
	}
	seen := map[string]bool{}
	for rest = strings.TrimSpace(rest); rest != ""; {
		m := entry.FindStringSubmatch(rest)
		if m == nil || seen[m[1]] {
			return h, errHeader
		}
		key, kind, truth, shape := m[1], m[2]+m[3]+m[4], m[5], m[6]
		switch {
		case key == "descr" && kind != "":
			h.descr = kind
		case key == "fortran_order" && truth != "":
			h.fortran = truth == "True"
		case key == "shape" && kind+truth == "":
			if h.shape, err = parseShape(shape); err != nil {
				return h, errHeader
			}
		default:
			return h, errHeader
		}
		seen[key] = true
		rest = rest[len(m[0]):]
	}
	if len(seen) != 3 {
		return h, errHeader
	}
	return h, nil
}

// parseShape reads what a tuple of integers holds.
func parseShape(text string) (shape []int, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for _, field := range strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ","), ",") {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(field), "L"))
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
	}
	return shape, nil
}

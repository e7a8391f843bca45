package code

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
)

// Family is a named code of any number of levels.
type Family struct {
	Name        string `json:"name" text:"code"`
	Description string `json:"description" text:"what it is"`

	bits  func(levels int) int
	build func(c *Code)
}

// Bits returns M for a number of levels.
func (f Family) Bits(levels int) int { return f.bits(levels) }

// bytes returns the memory that the code of a number of levels takes.
func (f Family) bytes(levels int) int64 {
	return int64(levels) * int64((f.bits(levels)+63)/64) * 8
}

// Families lists the named codes: first the codes of the paper, then the usual baselines.
func Families() []Family {
	return []Family{
		{"unary", "bit k is one from level k+1 on", unaryBits, buildUnary},
		{"johnson", "Johnson counter from the all-zero word on (Section 3)", johnsonBits, buildJohnson},
		{"johnson-nonzero", "Johnson counter without the all-zero word (appendix)", johnsonNonzeroBits,
			buildJohnsonNonzero},
		{"b1jdj", "1-bit Johnson base, Johnson displacement, reflected", func(l int) int { return jdjBits(l, 1) },
			func(c *Code) { buildJDJ(c, 1, true) }},
		{"b2jdj", "2-bit Johnson base, Johnson displacement, reflected", func(l int) int { return jdjBits(l, 2) },
			func(c *Code) { buildJDJ(c, 2, true) }},
		{"b1jdj-nr", "b1jdj without the reflection", func(l int) int { return jdjBits(l, 1) },
			func(c *Code) { buildJDJ(c, 1, false) }},
		{"b2jdj-nr", "b2jdj without the reflection", func(l int) int { return jdjBits(l, 2) },
			func(c *Code) { buildJDJ(c, 2, false) }},
		{"hexj", "hexadecimal digits as 8-bit Johnson words, reflected", hexjBits,
			func(c *Code) { buildHexJ(c, true) }},
		{"hexj-nr", "hexj without the reflection", hexjBits, func(c *Code) { buildHexJ(c, false) }},
		{"hadamard", "rows of the Sylvester Hadamard matrix", hadamardBits, buildHadamard},
		{"onehot", "bit k is one at level k", func(l int) int { return l }, buildOneHot},
		{"binary", "natural binary number, high bit first", naturalBits, buildBinary},
		{"gray", "reflected binary number, high bit first", naturalBits, buildGray},
	}
}

// Lookup returns the named family.
func Lookup(name string) (Family, bool) {
	for _, f := range Families() {
		if f.Name == name {
			return f, true
		}
	}
	return Family{}, false
}

// New returns a named code of the given number of levels, MinLevels to
// MaxLevels. The error is a *memory.Error where the matrix does not fit in memory.
func New(name string, levels int) (*Code, error) {
	f, ok := Lookup(name)
	if !ok {
		return nil, Unknown(name)
	}
	if levels < MinLevels || levels > MaxLevels {
		return nil, fmt.Errorf("%s of %d levels: want %d to %d", name, levels, MinLevels, MaxLevels)
	}
	if err := memory.Check(fmt.Sprintf("%s of %d levels", name, levels), f.bytes(levels)); err != nil {
		return nil, err
	}
	c := newCode(name, levels, f.bits(levels))
	f.build(c)
	return c, nil
}

// SplitName splits NAME=FILE, a code from a file under a name of its own. name is "" for other texts:
// the name of a code, and a FILE alone. A FILE whose name has a = follows a folder: ./a=b.csv.
func SplitName(text string) (name, file string) {
	name, file, ok := strings.Cut(text, "=")
	if !ok || strings.ContainsAny(name, `/\`) || !IsFile(file) {
		return "", text
	}
	return name, file
}

// IsFile reports whether a code is given as a file, not as a name: a path that
// ends in .csv, .npy, .npz or .npz:NAME or has a folder in it, or "-", standard input; or NAME=FILE.
func IsFile(nameOrPath string) bool {
	_, path, named := strings.Cut(nameOrPath, "=")
	file, _ := arrayfile.SplitArray(strings.ToLower(nameOrPath))
	return nameOrPath == inputfile.Standard || named && path == inputfile.Standard || strings.ContainsAny(file, `/\`) ||
		strings.HasSuffix(file, ".csv") || strings.HasSuffix(file, ".npy") || strings.HasSuffix(file, ".npz")
}

// Open returns a named code of the given number of levels, or reads a custom code from a
// .csv, .npy or .npz file with a row for each level. For a file, levels must be its number of
// rows, or 0 for any number. NAME=FILE gives the code its name, which is otherwise the path.
func Open(nameOrPath string, levels int) (*Code, error) {
	return open(nameOrPath, levels, FromMatrix)
}

// OpenReal is Open, but a file may hold real numbers: see FromReal.
func OpenReal(nameOrPath string, levels int) (*Code, error) {
	return open(nameOrPath, levels, FromReal)
}

func open(nameOrPath string, levels int, from func(string, mat.Matrix) (*Code, error)) (*Code, error) {
	if !IsFile(nameOrPath) {
		return New(nameOrPath, levels)
	}
	name, path := SplitName(nameOrPath)
	if err := checkName(nameOrPath, name, path); err != nil {
		return nil, err
	}
	m, err := arrayfile.ReadFile(path)
	if err != nil {
		return nil, err
	}
	path = inputfile.Name(path)
	bitsOfSigns(m)
	c, err := from(path, m)
	if err != nil {
		return nil, explained(err, path, m, from)
	}
	if levels != 0 && levels != c.levels {
		if levels == c.bits {
			return nil, fmt.Errorf("%s: %d rows and %d columns, but %d levels were asked for: it looks transposed",
				path, c.levels, c.bits, levels)
		}
		return nil, fmt.Errorf("%s: %d rows, but %d levels were asked for", path, c.levels, levels)
	}
	if name != "" {
		c = c.As(name)
	}
	return c, nil
}

// heads are names of networks' outputs, which stand where names of codes do.
func heads() []string { return []string{"softmax", "hl-gauss", "corn", "direct"} }

// checkName refuses the NAME of NAME=FILE where it is another code's.
func checkName(text, name, path string) error {
	if path == text {
		return nil
	}
	if _, known := Lookup(name); known || slices.Contains(heads(), name) || IsFile(name) || name == "" {
		return fmt.Errorf("%s: %q stands for something else; want NAME=%s with a name of your own", text, name, path)
	}
	return nil
}

// explained is the refusal of a matrix with the way out, where there is one: its transpose, or what
// reads codes of real numbers.
func explained(err error, path string, m mat.Matrix, from func(string, mat.Matrix) (*Code, error)) error {
	if _, other := from(path, m.T()); other == nil {
		return fmt.Errorf("%w; the transpose of the matrix is a code: transpose it if its rows are the bits", err)
	}
	if _, other := FromReal(path, m); other == nil {
		return fmt.Errorf("%w; fit and decode read codes of real numbers", err)
	}
	return err
}

// bitsOfSigns makes a matrix of −1 and +1 one of 0 and 1. It leaves other matrices as they are.
func bitsOfSigns(m *mat.Dense) {
	levels, _ := m.Dims()
	for i := range levels {
		for _, v := range m.RawRowView(i) {
			if v != 1 && v != -1 {
				return
			}
		}
	}
	m.Apply(func(_, _ int, v float64) float64 { return max(v, 0) }, m)
}

// Unknown is the error for a name that no code has, nor any of others, which may stand for one.
func Unknown(name string, others ...string) error {
	names := slices.Clone(others)
	for _, f := range Families() {
		names = append(names, f.Name)
	}
	guess, least := "", 3 // letters of a guess that may differ, and one more
	for _, n := range names {
		if d := edits(strings.ToLower(name), n); d < least && d < len(n)/2 {
			guess, least = fmt.Sprintf(" (did you mean %s?)", n), d
		}
	}
	return fmt.Errorf("unknown code %.40q%s; want a .csv or .npy file or one of %s", name, guess, strings.Join(names, ", "))
}

// edits is how many letters have to be put in, taken out or exchanged to make one word of another.
func edits(a, b string) int {
	if len(a) > len(b)+2 { // a guess would be none
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := i
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// naturalBits is ⌈log₂ levels⌉.
func naturalBits(levels int) int { return bits.Len(uint(levels - 1)) }

package code_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

func mustNew(tb interface{ Fatal(...any) }, name string, levels int) *code.Code {
	c, err := code.New(name, levels)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// rows spells a code out, a string of digits for each level.
func rows(c *code.Code) []string {
	var out []string
	for i := range c.Levels() {
		var b strings.Builder
		for k := range c.Bits() {
			fmt.Fprint(&b, c.At(i, k))
		}
		out = append(out, b.String())
	}
	return out
}

// TestWords compares small codes with words written out by hand.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		name  string
		words string
	}{
		{"unary", "000 100 110 111"},
		{"johnson", "0000 0001 0011 0111 1111 1110 1100 1000"},
		{"johnson", "000 001 011 111 110"},
		{"johnson-nonzero", "0001 0011 0111 1111 1110 1100 1000"},
		{"johnson-nonzero", "0001 0011 0111 1111 1110 1100"},
		{"b1jdj", "000 010 110 100 101 111 011 001"},
		{"b1jdj-nr", "000 010 110 100 001 011 111 101"},
		{"b2jdj", "000 100 101 001 011 111 110 010"},
		{"b2jdj-nr", "000 100 001 101 011 111 010 110"},
		{"hadamard", "1111 1010 1100 1001"},
		{"onehot", "100 010 001"},
		{"binary", "000 001 010 011 100"},
		{"gray", "000 001 011 010 110"},
	} {
		want := strings.Fields(tt.words)
		if got := rows(mustNew(t, tt.name, len(want))); !slices.Equal(got, want) {
			t.Errorf("%s of %d levels: %v, want %v", tt.name, len(want), got, want)
		}
	}
	hexj := rows(mustNew(t, "hexj", 40))
	for v, want := range map[int]string{
		0: "0000000000000000", 1: "0000000000000001", 15: "0000000010000000",
		16: "0000000110000000", 31: "0000000100000000", 32: "0000001100000000",
	} {
		must.Equal(t, fmt.Sprintf("hexj, level %d", v+1), want, hexj[v])
	}
	nr := rows(mustNew(t, "hexj-nr", 700))
	if got, want := nr[699], "00000011"+"11111000"+"11111000"; got != want { // v = 2bb in hex
		t.Errorf("hexj-nr, level 700: %s, want %s", got, want)
	}
}

// TestFamilies: what must hold for every code of any size.
func TestFamilies(t *testing.T) {
	for _, f := range code.Families() {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				levels := rapid.IntRange(2, 600).Draw(t, "levels")
				c := mustNew(t, f.Name, levels)
				if r, m := c.Dims(); r != levels || m != f.Bits(levels) || m != c.Bits() || r != c.Levels() {
					t.Fatalf("%d × %d, want %d × %d", r, m, levels, f.Bits(levels))
				}
				// The same matrix by way of its entries: distinct rows, and
				// nothing in the unused bits of a word.
				again := must.Get(code.FromMatrix(f.Name, mat.DenseCopyOf(c)))(t)
				for i := range levels {
					if !slices.Equal(c.Word(i), again.Word(i)) {
						t.Fatalf("row %d: %x by way of its entries, %x", i+1, again.Word(i), c.Word(i))
					}
				}
				transitions := c.Transitions()
				for k := range c.Bits() {
					var want []int
					for i := range levels - 1 {
						if c.Bit(i, k) != c.Bit(i+1, k) {
							want = append(want, i+1)
						}
					}
					if !slices.Equal(transitions[k], want) {
						t.Fatalf("column %d: transitions %v, want %v", k+1, transitions[k], want)
					}
				}
			})
		})
	}
}

// TestAuthors compares with all matrices that the paper's authors published, by hashes of their
// columns: without those that are constant, and complemented where level 1 has a one, which no
// decoder sees. Two of them are no code of ours.
func TestAuthors(t *testing.T) {
	hash := func(c *code.Code, sorted bool) string {
		var columns []string
		for k := range c.Bits() {
			column := make([]byte, c.Levels())
			for i := range column {
				if c.Bit(i, k) != c.Bit(0, k) {
					column[i] = 1
				}
			}
			if slices.Contains(column, 1) {
				columns = append(columns, string(column))
			}
		}
		if sorted {
			slices.Sort(columns)
		}
		return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(columns, ""))))[:16]
	}
	text := must.Get(os.ReadFile("testdata/authors.csv"))(t)
	rows := must.Get(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)[1:]
	var unknown, reordered []string
	for _, row := range rows {
		if row[2] == "" {
			unknown = append(unknown, row[0])
			continue
		}
		ours := mustNew(t, row[2], must.Get(strconv.Atoi(row[1]))(t))
		if hash(ours, true) != row[4] {
			t.Errorf("%s: other columns than %s has", row[0], ours.Name())
		}
		if hash(ours, false) != row[3] {
			reordered = append(reordered, row[0])
		}
	}
	if want := []string{"belj2_256", "belj_105"}; !slices.Equal(unknown, want) {
		t.Errorf("no code of ours: %v, want %v", unknown, want)
	}
	if want := []string{"hex16_105", "hex16_360", "hex16_62", "hex16_700", "hexj_360"}; !slices.Equal(reordered, want) {
		t.Errorf("columns in another order: %v, want %v", reordered, want)
	}
}

// TestProperties compares with gonum's correlation over all pairs. Both lose at
// most a few units of 2⁻⁵² a pair, of which there are fewer than 2¹³.
func TestProperties(t *testing.T) {
	for _, f := range code.Families() {
		c := mustNew(t, f.Name, 100)
		p := must.Get(c.Properties(context.Background(), 0))(t)
		least, total := c.Bits(), 0
		var ds, ns []float64
		for i := range c.Levels() {
			for j := range i {
				least = min(least, c.Distance(i, j))
				ds, ns = append(ds, float64(c.Distance(i, j))), append(ns, float64(i-j))
			}
		}
		for _, ts := range c.Transitions() {
			total += len(ts)
		}
		if c.TransitionCount() != total {
			t.Errorf("%s: %d transitions, want %d", f.Name, c.TransitionCount(), total)
		}
		if *p.MinDistance != least || p.TransitionsPerBit != float64(total)/float64(c.Bits()) {
			t.Errorf("%s: %+v, want distance %d and %d transitions", f.Name, p, least, total)
		}
		want := stat.Correlation(ds, ns, nil)
		switch varies := slices.Min(ds) < slices.Max(ds); {
		case varies != (p.Correlation != nil):
			t.Errorf("%s: distances vary: %v, correlation %v", f.Name, varies, p.Correlation)
		case varies && math.Abs(*p.Correlation-want) > 1e-10:
			t.Errorf("%s: correlation %v, want %v", f.Name, *p.Correlation, want)
		}
	}
}

// TestRealRows: every level of a code of real numbers has its own word.
func TestRealRows(t *testing.T) {
	rows := mat.NewDense(3, 2, []float64{0, 0.5, 1, 0.25, 0, 0.5})
	must.Refuse(code.FromReal("real.csv", rows))(t, "rows 1 and 3 are the same")
	rows.Set(2, 1, 0.50002)
	must.Get(code.FromReal("real.csv", rows))(t)
}

// TestSeam: a column has a transition at the seam where its last and its first entry differ, and the
// properties count it. Johnson of an even number of levels is the same code wherever a circle begins.
func TestSeam(t *testing.T) {
	line := must.Get(code.New("johnson", 6))(t)
	c := line.OnCircle(true)
	if got := c.Transitions(); !slices.EqualFunc(got, [][]int{{3, 6}, {2, 5}, {1, 4}}, slices.Equal) {
		t.Errorf("transitions %v", got)
	}
	if line.TransitionCount() != 5 || c.TransitionCount() != 6 || c.TransitionsPerBit() != 2 {
		t.Errorf("%d transitions on a line and %d on a circle, want 5 and 6", line.TransitionCount(), c.TransitionCount())
	}
	p, q := must.Get(c.Properties(t.Context(), 1))(t), must.Get(line.Properties(t.Context(), 1))(t)
	if p.TransitionsPerBit != 2 || p.MaxTransitions != 2 || math.Abs(*p.Correlation-1) > 1e-12 || *q.Correlation > 0.9 {
		t.Errorf("properties %+v; the distances of the words are those of the levels on the circle", p)
	}
	two := must.Get(code.New("unary", 2))(t).OnCircle(true)
	if got := two.Transitions(); !slices.Equal(got[0], []int{1, 2}) {
		t.Errorf("two levels: transitions %v, want both ways", got)
	}
}

// TestCircle compares the mean direction and the median of distributions with sums over all levels.
func TestCircle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		levels := 2 + rng.IntN(9)
		c, w := code.NewCircle(levels), make([]float64, levels)
		for i := range w {
			w[i] = float64(rng.IntN(6)) // ties are exact
		}
		w[rng.IntN(levels)]++
		best, least := 0, math.Inf(1)
		x, y := 0.0, 0.0
		for m := range w {
			off, angle := 0.0, 2*math.Pi*float64(m)/float64(levels)
			for i, p := range w {
				off += p * math.Abs(c.Between(float64(m+1), float64(i+1)))
			}
			if off < least {
				best, least = m, off
			}
			x, y = x+w[m]*math.Cos(angle), y+w[m]*math.Sin(angle)
		}
		must.Equal(t, fmt.Sprintf("median of %v is row", w), best, c.Median(w, 1e-9))
		want := 1 + math.Mod(math.Atan2(y, x)/(2*math.Pi)+1, 1)*float64(levels)
		if math.Hypot(x, y) < 1e-9 {
			want = 1
		}
		if got := c.Mean(w); math.Abs(c.Between(got, want)) > 1e-9 || got < 1 || got >= float64(levels+1) {
			t.Errorf("mean of %v is %v, want %v", w, got, want)
		}
	}
	c := code.NewCircle(10)
	for place, want := range map[float64]float64{1: 1, 11: 1, 0.75: 10.75, -9.5: 10.5, 10.99: 10.99, 1 - 1e-16: 1} {
		must.Equal(t, fmt.Sprintf("place %v", place), want, c.Wrap(place))
	}
	if up, down, half := c.Between(9, 2), c.Between(2, 9), c.Between(8, 3); up != 3 || down != -3 || half != 5 {
		t.Errorf("ways %v, %v and %v, want 3, -3 and 5", up, down, half)
	}
	if !math.IsNaN(c.Wrap(math.NaN())) || !math.IsNaN(c.Mean([]float64{math.NaN(), 9: 0})) {
		t.Error("NaN has a place")
	}
}

// TestOrderByDistance: every row once, the nearest first, rows ascending within a
// distance, and the numbers of rows up to each distance.
func TestOrderByDistance(t *testing.T) {
	for _, f := range code.Families() {
		c := must.Get(code.New(f.Name, 70))(t)
		distances := make([]int32, c.Levels())
		order, reach := make([]uint16, c.Levels()), make([]uint32, c.Bits()+2)
		for row := range c.Levels() {
			c.Distances(distances, row)
			code.OrderByDistance(order, reach, distances)
			var want []uint16
			for i := range c.Levels() {
				want = append(want, uint16(i))
			}
			slices.SortStableFunc(want, func(a, b uint16) int { return c.Distance(row, int(a)) - c.Distance(row, int(b)) })
			must.Equal(t, c.Name(), want, order)
			for d := range c.Bits() + 1 {
				if n := int(reach[d]); n < len(order) && c.Distance(row, int(order[n])) <= d || n > 0 && c.Distance(row, int(order[n-1])) > d {
					t.Fatalf("%s, row %d: %d rows within %d", c.Name(), row, n, d)
				}
			}
		}
	}
}

// TestCorrelationHardlyVarying: rows of a wide Hadamard matrix with one bit of
// the first row changed, whose distances to the other rows are one more or one
// less than M/2. The differences from M/2 have the same correlation, and there
// the reference has no large mean to cancel.
func TestCorrelationHardlyVarying(t *testing.T) {
	const levels, width = 32, 1 << 12
	m := mat.NewDense(levels, width, nil)
	for i := range levels {
		for k := range width {
			if bits.OnesCount(uint(i)&uint(k))%2 == 0 {
				m.Set(i, k, 1)
			}
		}
	}
	m.Set(0, 3, 1-m.At(0, 3))
	c := must.Get(code.FromMatrix("hardly varying", m))(t)
	p := must.Get(c.Properties(context.Background(), 0))(t)
	var ds, ns []float64
	for i := range levels {
		for j := range i {
			if d := c.Distance(i, j); d != c.Distance(j, i) {
				t.Fatalf("distance of rows %d and %d is not symmetric", i+1, j+1)
			}
			ds, ns = append(ds, float64(c.Distance(i, j)-width/2)), append(ns, float64(i-j))
		}
	}
	want := stat.Correlation(ds, ns, nil)
	if p.Correlation == nil || math.Abs(*p.Correlation-want) > 1e-12 {
		t.Errorf("correlation %v, want %v", p.Correlation, want)
	}
}

// TestOpenMatrices: matrices of ±1 are bits, arrays of .npz files are codes.
func TestOpenMatrices(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"bits.csv": "0,1\n1,0\n1,1\n", "signs.csv": "-1,1\n1,-1\n1,1\n", "wide.csv": "0,0,1\n0,1,1\n",
	} {
		must.Succeed(t, os.WriteFile(path(name), []byte(text), 0o644))
	}
	bits := must.Get(code.Open(path("bits.csv"), 0))(t)
	f := must.Get(os.Create(path("c.npz")))(t)
	z := arrayfile.NewNPZWriter(f)
	must.Succeed(t, z.Matrix("C", bits))
	must.Succeed(t, z.Close())
	must.Succeed(t, f.Close())
	want, _ := bits.Words(t.Context())
	for _, name := range []string{"signs.csv", "c.npz", "c.npz:C"} {
		for _, open := range []func(string, int) (*code.Code, error){code.Open, code.OpenReal} {
			c, err := open(path(name), 3)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got, _ := c.Words(t.Context()); strings.Join(got, ",") != strings.Join(want, ",") || c.Real() {
				t.Errorf("%s: %v, real %v; want %v", name, got, c.Real(), want)
			}
		}
	}
	for name, want := range map[string]string{"wide.csv": path("wide.csv"), "c.npz:C": path("c.npz:C")} { // no alarm
		must.Equal(t, "the name of a path", want, must.Get(code.Open(path(name), 0))(t).Name())
	}
	for _, name := range []string{"wide.csv", "c.npz:C"} {
		must.Equal(t, "the name of mine="+name, "mine", must.Get(code.OpenReal("mine="+path(name), 0))(t).Name())
	}
	for text, want := range map[string][2]string{"a=b.csv": {"a", "b.csv"}, "a=-": {"a", "-"}, "b.csv": {"", "b.csv"},
		"./a=b.csv": {"", "./a=b.csv"}, "a=b": {"", "a=b"}, "a=b.npz:C=D": {"a", "b.npz:C=D"}} {
		name, file := code.SplitName(text)
		must.Equal(t, text, want, [2]string{name, file})
	}
	for name, want := range map[string]bool{"a=b.csv": true, "a=-": true, "a=unary": false, "c.npz": true, "c.npz:C": true, "C.NPZ:C": true, "unary": false,
		"npz": false, "unary:C": false} {
		if code.IsFile(name) != want {
			t.Errorf("IsFile(%q) is %v", name, !want)
		}
	}
}

// TestSeparation: distances and distinct columns by comparing all entries, of random codes with constant,
// equal and complementary columns, on lines and circles.
func TestSeparation(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 200 {
		levels, width := 2+rng.IntN(90), 8+rng.IntN(70)
		m := mat.NewDense(levels, width, nil)
		for i := range levels {
			for k := range width {
				from, to := float64(0), float64(k%2)
				switch {
				case k < 7: // so that words differ
					from = float64(i >> k & 1)
				case k%3 == 0: // copies and complements
					from = math.Abs(to - m.At(i, k/3))
				case k%5 > 0:
					from = float64(rng.IntN(2))
				}
				m.Set(i, k, from)
			}
		}
		words, columns, distinct := width, levels, 0
		differ := func(a, b []float64) (n int) {
			for i := range a {
				if a[i] != b[i] {
					n++
				}
			}
			return n
		}
		for i := range levels {
			for j := range i {
				words = min(words, differ(m.RawRowView(i), m.RawRowView(j)))
			}
		}
		var seen [][]float64
		for k := range width {
			a := mat.Col(nil, k, m)
			if slices.Min(a) == slices.Max(a) {
				continue
			}
			again := false
			for _, b := range seen {
				d := differ(a, b)
				columns, again = min(columns, d, levels-d), again || d == 0 || d == levels
			}
			if seen = append(seen, a); !again {
				distinct++
			}
		}
		want := code.Separation{MinDistance: &words, MinColumnDistance: &columns, DistinctColumns: &distinct}
		if len(seen) < 2 {
			want.MinColumnDistance = nil
		}
		c := must.Get(code.FromMatrix("random", m))(t).OnCircle(rng.IntN(2) == 0)
		must.Equal(t, "separation", want, must.Get(c.Separation(t.Context(), 2))(t))
		must.Equal(t, "of properties", want, must.Get(c.Properties(t.Context(), 2))(t).Separation)
	}
}

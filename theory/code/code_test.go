package code_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

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
		if hexj[v] != want {
			t.Errorf("hexj, level %d: %s, want %s", v+1, hexj[v], want)
		}
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

// TestOneBitSteps: consecutive words of these codes differ in one bit, which is
// what reflection is for.
func TestOneBitSteps(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "johnson-nonzero", "b1jdj", "b2jdj", "hexj", "gray"} {
		c := mustNew(t, name, 256)
		for i := range c.Levels() - 1 {
			if d := c.Distance(i, i+1); d != 1 {
				t.Errorf("%s: levels %d and %d differ in %d bits", name, i+1, i+2, d)
			}
		}
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
	if _, err := code.FromReal("real.csv", rows); err == nil || !strings.Contains(must.Text(err), "rows 1 and 3 are the same") {
		t.Errorf("error %v", err)
	}
	rows.Set(2, 1, 0.50002)
	must.Get(code.FromReal("real.csv", rows))(t)
}

package decode_test

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// parity has nothing but what a decoder must have: the number of ones modulo L.
type parity struct{ levels int }

func (parity) Name() string { return "parity" }

func (p parity) Decode(word []uint64) int {
	n := 0
	for _, w := range word {
		n += bits.OnesCount64(w)
	}
	return n%p.levels + 1
}

func parityEntry(rank int) decode.Entry {
	return decode.Entry{
		Name: "parity",
		Auto: func(*code.Code) int { return rank },
		New: func(c *code.Code, _ decode.Options) (decode.Decoder, error) {
			return parity{c.Levels()}, nil
		},
	}
}

func realCode(t *testing.T) *code.Code {
	return must.Get(code.FromReal("real", mat.NewDense(3, 2, []float64{0.5, 2, -1, 0.25, 3, 1})))(t)
}

// TestEntries: what an entry says of its decoder is true, and what a decoder says of
// itself holds.
func TestEntries(t *testing.T) {
	codes := []*code.Code{realCode(t)}
	for _, f := range code.Families() {
		codes = append(codes, mustNew(t, f.Name, 9))
	}
	for _, e := range decode.Builtin() {
		fits := 0
		for _, c := range codes {
			d, err := decode.Builtin().New(e.Name, c, decode.Options{Temperature: 2})
			if c.Real() && !e.RealCodes && !errors.Is(err, decode.ErrUnfit) {
				t.Errorf("%s on a code of real numbers, which its entry says it cannot read: %v", e.Name, err)
			}
			if errors.Is(err, decode.ErrUnfit) {
				continue
			}
			must.Succeed(t, err)
			fits++
			h, tempered := d.(decode.Tempered)
			_, informed := d.(decode.Informed)
			want := e
			want.Name, want.Logits, want.Tempered, want.Informed = d.Name(), decode.ReadsLogits(d), tempered, informed
			must.Equal(t, "entry of "+d.Name(), want, e, cmpopts.IgnoreFields(decode.Entry{}, "New", "Auto"))
			if tempered {
				other, err := h.AtTemperature(3)
				if err != nil || h.Temperature() != 2 || other.(decode.Tempered).Temperature() != 3 {
					t.Errorf("%s: temperature %v, another %v, %v", e.Name, h.Temperature(), other, err)
				}
			}
			correlations := make([]float64, c.Levels())
			z := make([]float64, c.Bits())
			lo, hi := decode.Range(c, d)
			step := uint64(1)
			if c.Bits() > 12 { // some of 2¹⁶ words are enough
				step = 7
			}
			if e.Informed && c.Bits() > 12 {
				step = 61
			}
			for w := uint64(0); w < 1<<c.Bits(); w += step {
				word := []uint64{w}
				got := d.Decode(word)
				value := decode.Value(d, word)
				if got < lo || got > hi || got != int(math.Round(value)) || !decode.Real(d) &&
					value != math.Round(value) {
					t.Fatalf("%s of %s, word %b: level %d, value %v, range %d to %d", e.Name, c.Name(), w, got, value,
						lo, hi)
				}
				for k := range z {
					z[k] = float64(w>>k&1)*2 - 1
				}
				if l, ok := d.(decode.LogitDecoder); ok && l.DecodeLogits(z) != value {
					// Sums of real numbers may differ in rounding alone.
					t.Fatalf("%s of %s, word %b: %v from ±1, %v from the word", e.Name, c.Name(), w, l.DecodeLogits(z),
						value)
				}
				if x, ok := d.(decode.Correlator); ok {
					decode.NewCorrelations(c).To(correlations, z)
					if got := x.FromCorrelations(correlations); math.Abs(got-value) > 1e-12 {
						t.Fatalf("%s of %s, word %b: %v from correlations, want %v", e.Name, c.Name(), w, got, value)
					}
				}
			}
		}
		if fits == 0 {
			t.Errorf("%s fits no code", e.Name)
		}
	}
}

// TestRegistry: a registry is a value to which a decoder can be appended, and the
// decoders of the package do not change.
func TestRegistry(t *testing.T) {
	r := append(decode.Builtin(), parityEntry(0))
	c := mustNew(t, "hexj", 40)
	d, err := r.New("parity", c, decode.Options{})
	if err != nil || d.Name() != "parity" {
		t.Fatalf("%v, %v", d, err)
	}
	if lo, hi := decode.Range(c, d); lo != 1 || hi != 40 {
		t.Errorf("range %d to %d without a method Range, want 1 to 40", lo, hi)
	}
	if got, want := r.Names(), append(decode.Names(), "parity"); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	if _, err := decode.New("parity", c); err == nil {
		t.Error("the decoders of the package hold what was appended to a copy")
	}
	if d, err := r.New(decode.Auto, c, decode.Options{}); err != nil || d.Name() != "gen" {
		t.Errorf("auto takes %v, %v; parity has the rank 0", d, err)
	}
	if d, err := append(decode.Builtin(), parityEntry(9)).New(decode.Auto, c, decode.Options{}); err != nil ||
		d.Name() != "parity" {
		t.Errorf("auto takes %v, %v; parity has the rank 9", d, err)
	}
	// Auto passes over what does not fit, and says so when nothing is left.
	only := decode.Registry{parityEntry(9)}
	if _, err := only.New(decode.Auto, realCode(t), decode.Options{}); !errors.Is(err, decode.ErrUnfit) {
		t.Errorf("auto for a code that nothing reads: %v", err)
	}
	if _, err := r.New("parity", realCode(t), decode.Options{}); !errors.Is(err, decode.ErrUnfit) ||
		!strings.Contains(err.Error(), "use gen or gen-ex") {
		t.Errorf("parity of a code of real numbers: %v", err)
	}
	if d, err := r.ReadingLogits().New(decode.Auto, mustNew(t, "unary", 9), decode.Options{}); err != nil ||
		d.Name() != "gen" {
		t.Errorf("auto of those that read logits: %v, %v", d, err)
	}
	if got := r.ReadingRealCodes().Names(); !slices.Equal(got, []string{"gen", "gen-ex"}) {
		t.Errorf("%v read codes of real numbers", got)
	}
	// Temperatures: 1 unless given, and errors are passed on.
	for _, tt := range []struct{ give, want float64 }{{0, 1}, {3, 3}} {
		d, err := r.New("gen-ex", c, decode.Options{Temperature: tt.give})
		if err != nil || d.(decode.Tempered).Temperature() != tt.want {
			t.Errorf("temperature %v: %v, %v", tt.give, d, err)
		}
	}
	if _, err := r.New("gen-ex", c, decode.Options{Temperature: -1}); err == nil || errors.Is(err, decode.ErrUnfit) {
		t.Errorf("temperature −1: %v", err)
	}
}

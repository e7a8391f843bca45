package decode_test

import (
	"errors"
	"math"
	"math/bits"
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
			want.Name, want.Logits, want.Informed = d.Name(), decode.ReadsLogits(d), informed
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
	d := must.Get(r.New("parity", c, decode.Options{}))(t)
	if lo, hi := decode.Range(c, d); lo != 1 || hi != 40 {
		t.Errorf("range %d to %d without a method Range, want 1 to 40", lo, hi)
	}
	must.Equal(t, "names", append(decode.Names(), "parity"), r.Names())
	if _, err := decode.New("parity", c); err == nil {
		t.Error("the decoders of the package hold what was appended to a copy")
	}
	for rank, want := range map[int]string{0: "gen", 9: "parity"} {
		auto := must.Get(append(decode.Builtin(), parityEntry(rank)).New(decode.Auto, c, decode.Options{}))(t)
		must.Equal(t, "auto", want, auto.Name())
	}
	// Auto passes over what does not fit, and says so when nothing is left.
	for name, from := range map[string]decode.Registry{decode.Auto: {parityEntry(9)}, "parity": r} {
		if _, err := from.New(name, realCode(t), decode.Options{}); !errors.Is(err, decode.ErrUnfit) {
			t.Errorf("%s for a code of real numbers: %v", name, err)
		}
	}
	if _, err := (decode.Registry{parityEntry(0)}).New(decode.Auto, c, decode.Options{}); err == nil {
		t.Error("auto takes a decoder of rank 0")
	}
	must.Equal(t, "auto of those that read logits", "gen",
		must.Get(r.ReadingLogits().New(decode.Auto, mustNew(t, "unary", 9), decode.Options{}))(t).Name())
	for give, want := range map[float64]float64{0: 1, 3: 3} { // 1 unless given
		must.Equal(t, "temperature", want,
			must.Get(r.New("gen-ex", c, decode.Options{Temperature: give}))(t).(decode.Tempered).Temperature())
	}
	if _, err := r.New("gen-ex", c, decode.Options{Temperature: -1}); err == nil || errors.Is(err, decode.ErrUnfit) {
		t.Errorf("temperature −1: %v", err)
	}
}

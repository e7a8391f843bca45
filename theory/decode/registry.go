package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"belsim/theory/code"
)

// ErrUnfit is wrapped by the error that New returns when a decoder does not fit
// the code.
var ErrUnfit = errors.New("decoder does not fit the code")

// Auto is the name that stands for the decoder the paper uses for a code, or for gen on a circle,
// which the paper does not have.
const Auto = "auto"

// Options are the arguments of a constructor besides the code.
type Options struct {
	// Temperature is τ of the decoders that have one; 0 stands for 1.
	Temperature float64
}

// Entry is a decoder in a Registry: its name, its constructor, and its properties that do not
// depend on a code, which New must keep.
type Entry struct {
	Name string
	// Logits says that the decoder reads logits: New returns a LogitDecoder.
	Logits bool
	// RealCodes says that the decoder reads codes of real numbers.
	RealCodes bool
	// Informed says that the decoder knows the classifiers: New returns an Informed, which is
	// to be told of their model.
	Informed bool
	// Auto ranks the decoder for a code, for the name auto: the decoder with the
	// largest rank is taken among those that fit, and the earliest entry among
	// several. 0 is never taken; nil ranks every code 0.
	Auto func(c *code.Code) int
	// New returns the decoder for a code. The error wraps ErrUnfit when the
	// decoder cannot read the code. A code of real numbers comes only where
	// RealCodes is set.
	New func(c *code.Code, o Options) (Decoder, error)
}

// Registry is a list of decoders, in the order in which they are shown. Append to
// it to add a decoder.
type Registry []Entry

// Builtin returns the decoders of this package.
func Builtin() Registry {
	return Registry{belUEntry, belJEntry, genEntry, genExEntry, bestEntry}
}

// Names lists the decoders, Auto not included.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, e := range r {
		names[i] = e.Name
	}
	return names
}

// Lookup returns the entry of a name.
func (r Registry) Lookup(name string) (Entry, bool) {
	i := slices.IndexFunc(r, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return r[i], true
}

// With returns the registry with an entry in the place of the one that has its name.
func (r Registry) With(e Entry) Registry {
	out := slices.Clone(r)
	for i := range out {
		if out[i].Name == e.Name {
			out[i] = e
		}
	}
	return out
}

// ReadingLogits returns the decoders that read logits.
func (r Registry) ReadingLogits() Registry {
	return slices.DeleteFunc(slices.Clone(r), func(e Entry) bool { return !e.Logits })
}

// Uninformed returns the decoders that need no model of the classifiers.
func (r Registry) Uninformed() Registry {
	return slices.DeleteFunc(slices.Clone(r), func(e Entry) bool { return e.Informed })
}

// New returns the named decoder for a code. Of the decoders of this package Auto
// takes bel-u where the code is unary, bel-j where it is a Johnson code, and gen
// elsewhere, as for every code on a circle. The matrix decides: a file that holds the unary code is
// unary.
//
// The error wraps ErrUnfit when the decoder cannot read the code.
func (r Registry) New(name string, c *code.Code, o Options) (Decoder, error) {
	if name == Auto {
		return r.auto(c, o)
	}
	e, ok := r.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("unknown decoder %q: want %s or %s", name, strings.Join(r.Names(), ", "), Auto)
	}
	return r.make(e, c, o)
}

// make calls a constructor where it may be called.
func (r Registry) make(e Entry, c *code.Code, o Options) (Decoder, error) {
	if c.Real() && !e.RealCodes {
		return nil, fmt.Errorf("%w: %s reads bits, and %s holds real numbers; use gen or gen-ex", ErrUnfit, e.Name, c.Name())
	}
	if o.Temperature == 0 {
		o.Temperature = 1
	}
	return e.New(c, o)
}

// auto returns the decoder with the largest rank among those that fit.
func (r Registry) auto(c *code.Code, o Options) (Decoder, error) {
	entries := slices.DeleteFunc(slices.Clone(r), func(e Entry) bool { return e.Auto == nil || e.Auto(c) == 0 })
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Auto(c) - a.Auto(c) })
	for _, e := range entries {
		d, err := r.make(e, c, o)
		if !errors.Is(err, ErrUnfit) {
			return d, err
		}
	}
	return nil, fmt.Errorf("%w: no decoder of %s is chosen automatically for %s", ErrUnfit,
		strings.Join(r.Names(), ", "), c.Name())
}

// Ranks of the decoders of this package for the name auto. A decoder made for one
// family of codes comes before one for any code; where a code is of two families,
// such as a Johnson code of two levels, which is unary as well, its name decides.
const (
	rankAny    = 1
	rankFamily = 2
	rankName   = 3
)

// Names lists the decoders of this package, Auto not included.
func Names() []string { return Builtin().Names() }

// New returns the named decoder of this package for a code, with the temperature 1:
// see Registry.New.
func New(name string, c *code.Code) (Decoder, error) { return Builtin().New(name, c, Options{}) }

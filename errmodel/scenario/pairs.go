package scenario

import (
	"errors"
	"fmt"
	"slices"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// Pairs are a code and those of some decoders that fit it.
type Pairs struct {
	Code     *code.Code
	Decoders []decode.Decoder // each once: auto is one of the others
	Unfit    []string         // the names of the other decoders
	Why      error            // why the last of these does not fit
}

// Pair pairs codes with the named decoders. The error wraps decode.ErrUnfit where a decoder fits
// none of the codes.
func (s *Scenario) Pair(codes []*code.Code, names []string) ([]Pairs, error) {
	out, fits := make([]Pairs, len(codes)), make([]bool, len(names))
	for i, c := range codes {
		out[i].Code = c
		for j, name := range names {
			d, err := s.Decoder(name, c)
			switch {
			case errors.Is(err, decode.ErrUnfit):
				out[i].Unfit, out[i].Why = append(out[i].Unfit, name), err
				continue
			case err != nil:
				return nil, err
			}
			fits[j] = true
			if !slices.ContainsFunc(out[i].Decoders, func(x decode.Decoder) bool { return x.Name() == d.Name() }) {
				out[i].Decoders = append(out[i].Decoders, d)
			}
		}
	}
	switch j := slices.Index(fits, false); {
	case j < 0:
		return out, nil
	case len(codes) == 1:
		return nil, out[0].Why
	default:
		return nil, fmt.Errorf("%w: decoder %s fits none of the codes", decode.ErrUnfit, names[j])
	}
}

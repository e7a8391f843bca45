package assess

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// IsDecoderFile reports whether the name of a decoder is a file of a fitted one.
func IsDecoderFile(name string) bool { return strings.EqualFold(filepath.Ext(name), ".npz") }

// asked is what Decode writes of a sample: its label, the probabilities of all levels, or quantiles.
type asked struct {
	decoder       string
	probabilities bool
	quantiles     []float64
}

// askedOf reads NAME|FILE, probabilities[:NAME|FILE] or quantiles:Q,…[:NAME|FILE].
func askedOf(text string) (a asked, err error) {
	what, rest, named := strings.Cut(text, ":")
	switch what {
	case "probabilities":
		a.probabilities = true
	case "quantiles":
		list := rest
		list, rest, named = strings.Cut(list, ":")
		for q := range strings.SplitSeq(list, ",") {
			v, err := strconv.ParseFloat(q, 64)
			if err != nil || !(v > 0 && v < 1) {
				return a, fmt.Errorf("quantile %q: want numbers between 0 and 1, such as quantiles:0.05,0.5,0.95", q)
			}
			a.quantiles = append(a.quantiles, v)
		}
	default:
		return asked{decoder: text}, nil
	}
	if named && rest == "" {
		return a, fmt.Errorf("decoder %q: want a name or a file after the colon, or no colon", text)
	}
	a.decoder = cmp.Or(rest, decode.Auto)
	return a, nil
}

// distribution reports whether a distribution over the levels is asked for, not a label.
func (a asked) distribution() bool { return a.probabilities || a.quantiles != nil }

// columns are the names of the n numbers of a sample.
func (a asked) columns(n int) (names []string) {
	for i := range n {
		switch {
		case a.probabilities:
			names = append(names, fmt.Sprintf("p%d", i+1))
		case a.quantiles != nil:
			names = append(names, fmt.Sprintf("q%v", a.quantiles[i]))
		default:
			names = append(names, [...]string{"label", "lower", "upper"}[i])
		}
	}
	return names
}

// reading reads the distribution over the levels that a sample has, of which a level has a label.
func (a asked) reading(decoder string, levels int, distribution func(p []float64, s *observed.Sample),
	label func(row int) float64) observed.Reading {
	if a.probabilities {
		return observed.Reading{Decoder: decoder, Columns: levels, Read: distribution}
	}
	return observed.Reading{Decoder: decoder, Columns: len(a.quantiles), Read: func(dst []float64, s *observed.Sample) {
		p := make([]float64, levels)
		distribution(p, s)
		for i, q := range a.quantiles {
			dst[i] = label(decode.Quantile(p, q))
		}
	}}
}

// Decode decodes o.Outputs, a file that may be larger than memory: with a fitted decoder in an .npz
// file, or with a named one of o.Decoders for the code o.Code. With o.Range, labels are in its
// units; else they are those of the fitted decoder, or levels from 1. Decode writes the label of
// one sample after the other: as a NumPy array of float64 of one dimension where the format is npy,
// else as lines of text. With o.Confidence it writes columns: the label, and the ends of its
// interval, lower and upper. Where the decoder is probabilities:NAME|FILE, it writes the probability
// of each level, and for quantiles:Q,…:NAME|FILE the smallest labels up to which these add up to Q.
// Without :NAME|FILE the decoder is bel-u where the code is unary, else gen-ex.
// workers is the number of goroutines, 0 for one on each processor; it
// changes no byte. note is told what the outputs were taken for where they may be something else.
// Errors name the file and the place, or are the context's.
func Decode(ctx context.Context, o Options, decoder string, workers int, w io.Writer, format string, progress Progress,
	note func(string)) error {
	what, err := askedOf(decoder)
	if err != nil {
		return err
	}
	if err := o.resolve(); err != nil {
		return err
	}
	said, path := observed.SplitKind(o.Outputs)
	outputs, err := openOutputs(path)
	if err != nil {
		return err
	}
	defer outputs.Close()
	if parts := outputs.Parts(); parts > 1 {
		return fmt.Errorf("%s has outputs for %d targets; want samples × bits, so a file for each target",
			outputs.Name(), parts)
	}
	if o.Confidence != nil && what.distribution() {
		return errors.New("probabilities and quantiles have no intervals: want a confidence for labels alone")
	}
	if line := outputs.Note(); line != "" {
		note(line)
	}
	open := o.openNamed
	if IsDecoderFile(what.decoder) {
		open = o.openFitted
	}
	of, c, softmax, err := open(outputs, what)
	if err != nil {
		return err
	}
	kind, err := observed.FindKind(ctx, said, outputs)
	if err != nil {
		return err
	}
	if said == "" && kind == observed.Probabilities {
		note(fmt.Sprintf("%s: read as probabilities, because all are from 0 to 1; say so if they are logits",
			outputs.Name()))
	}
	distribution, told, err := o.distribution(ctx, softmax, kind, outputs)
	if err != nil {
		return err
	}
	if told != "" {
		note(told)
	}
	o.mapHead(c, observed.Labels{}, kind, distribution, outputs)
	reading, err := of(kind)
	if err != nil {
		return fmt.Errorf("%s: %w", outputs.Name(), err)
	}
	columns := what.columns(reading.Columns)
	samples, _ := outputs.Dims()
	done, end := progress.begin("samples decoded", uint64(max(samples, 0)))
	defer end()
	out := bufio.NewWriterSize(w, 1<<16)
	newRows := func() (*arrayfile.RowWriter, error) { return arrayfile.NewCSVRows(out, columns...) }
	if format == "npy" {
		if samples, err = observed.Count(ctx, outputs); err != nil {
			return err
		}
		newRows = func() (*arrayfile.RowWriter, error) { return arrayfile.NewNPYRows(out, samples, len(columns)) }
	}
	rows, err := newRows()
	if err != nil {
		return err
	}
	source := &observed.Source{Outputs: outputs, Kind: kind, Softmax: softmax}
	err = source.Decode(ctx, workers, c, reading, func(numbers []float64) error {
		if c != nil && !o.Range.IsZero() && !what.probabilities { // a fitted decoder has the range already
			for i, place := range numbers {
				numbers[i] = o.Range.label(c, place)
			}
		}
		return rows.Write(numbers)
	}, done)
	return errors.Join(err, out.Flush())
}

// readingOf reads outputs of a kind. Beside it stand the code that it needs, nil where it needs none,
// and whether outputs may be a distribution over the levels.
type readingOf func(observed.Kind) (observed.Reading, error)

var errNoQuantile = errors.New("levels on a circle have no quantiles, for none is the first: want labels, intervals or " +
	"probabilities")

// openFitted opens the file of a fitted decoder, which needs no code.
func (o Options) openFitted(outputs *arrayfile.Rows, what asked) (of readingOf, c *code.Code, softmax bool,
	err error) {
	fail := func(err error) (readingOf, *code.Code, bool, error) { return nil, nil, false, err }
	path := what.decoder
	fitted, err := fitdecoder.Read(path)
	if err != nil {
		return fail(err)
	}
	_, m := outputs.Dims()
	levels, bits := fitted.Dims()
	circular := fitted.About().Circular
	switch {
	case bits != m:
		return fail(fmt.Errorf("%s: %d columns, but the decoder %s reads %d bits", outputs.Name(), m, path, bits))
	case o.Circular && !circular:
		return fail(fmt.Errorf("%s: a decoder of levels on a line; want one that was fitted on a circle", path))
	case what.quantiles != nil && circular:
		return fail(errNoQuantile)
	case !o.Range.IsZero():
		values, err := o.Range.spread(levels, circular)
		if err == nil {
			fitted, err = fitted.WithValues(values)
		}
		if err != nil {
			return fail(fmt.Errorf("the range of %s: %w", path, err))
		}
	}
	decoders := []decode.RealDecoder{fitted}
	if o.Confidence != nil {
		lower, upper, err := fitted.Interval(*o.Confidence)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", path, err))
		}
		decoders = append(decoders, lower, upper)
	}
	return func(kind observed.Kind) (observed.Reading, error) {
		d, err := fitted.Decoding(kind)
		if what.distribution() {
			return what.reading(fitted.Name(), levels, fitted.ProbabilitiesTo, fitted.Label), err
		}
		var out []observed.Decoding
		for _, each := range decoders {
			out = append(out, observed.Decoding{Decoder: each, Soft: d.Soft})
		}
		return observed.LabelsOf(out), err
	}, nil, fitted.ReadsDistributions(), nil
}

// openNamed opens a named decoder, and its code.
func (o Options) openNamed(outputs *arrayfile.Rows, what asked) (of readingOf, c *code.Code, softmax bool,
	err error) {
	name, wants := what.decoder, "want one that was fitted, in an .npz file"
	e, known := o.Decoders.Lookup(name)
	switch {
	case o.Confidence != nil:
		err = fmt.Errorf("the decoder %s has no calibration, which intervals need: %s", name, wants)
	case o.Code == "":
		err = fmt.Errorf("the decoder %s needs the code of the outputs: want the code", name)
	case o.predicts():
		err = fmt.Errorf("%s: predictions of direct regression need no decoder", outputs.Name())
	case known && e.Informed:
		err = fmt.Errorf("the decoder %s needs a model of the classifiers: %s", name, wants)
	default:
		if c, err = openCode(o, outputs); err == nil && what.quantiles != nil && c.Circular() {
			err = errNoQuantile
		}
	}
	if err != nil {
		return nil, nil, false, err
	}
	d, err := o.newNamed(what, c)
	return func(kind observed.Kind) (observed.Reading, error) {
		if !what.distribution() {
			soft := decode.ReadsLogits(d) && !kind.Hard() || c.Real()
			return observed.LabelsOf([]observed.Decoding{{Decoder: d, Soft: soft}}), nil
		}
		by, ok := decode.NewDistribution(c, d)
		switch {
		case !ok:
			return observed.Reading{}, fmt.Errorf("the decoder %s has no probabilities of levels: want gen-ex, or bel-u for unary",
				d.Name())
		case kind.Hard():
			return observed.Reading{}, fmt.Errorf("these outputs are %s, which have no probabilities of levels: want logits or "+
				"probabilities", kind)
		}
		return what.reading(d.Name(), c.Levels(), func(p []float64, s *observed.Sample) { copy(p, s.Probabilities(by)) },
			c.Place), nil
	}, c, c.OneHot(), err
}

// newNamed returns the decoder that is named, or the one of the distribution that a code usually has.
func (o Options) newNamed(what asked, c *code.Code) (d decode.Decoder, err error) {
	names := []string{what.decoder}
	if what.distribution() && what.decoder == decode.Auto {
		names = []string{decode.BelU{}.Name(), decode.GenEx{}.Name()}
	}
	for _, name := range names {
		if d, err = o.Decoders.Uninformed().New(name, c, decode.Options{Temperature: o.Temperature}); err == nil {
			return d, nil
		}
	}
	return nil, err
}

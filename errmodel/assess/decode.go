package assess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// IsDecoderFile reports whether the name of a decoder is a file of a fitted one.
func IsDecoderFile(name string) bool { return strings.EqualFold(filepath.Ext(name), ".npz") }

// Decode decodes o.Outputs, a file that may be larger than memory: with a fitted decoder in an .npz
// file, or with a named one of o.Decoders for the code o.Code. With o.Range, labels are in its
// units; else they are those of the fitted decoder, or levels from 1. Decode writes the label of
// one sample after the other: as a NumPy array of float64 of one dimension where the format is npy,
// else as lines of text. With o.Confidence it writes columns: the label, and the ends of its
// interval, lower and upper. workers is the number of goroutines, 0 for one on each processor; it
// changes no byte. note is told what the outputs were taken for where they may be something else.
// Errors name the file and the place, or are the context's.
func Decode(ctx context.Context, o Options, decoder string, workers int, w io.Writer, format string, progress Progress,
	note func(string)) error {
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
	open := o.openNamed
	if IsDecoderFile(decoder) {
		open = o.openFitted
	}
	of, c, softmax, err := open(outputs, decoder)
	if err != nil {
		return err
	}
	if line := outputs.Note(); line != "" {
		note(line)
	}
	kind, err := observed.FindKind(ctx, said, outputs)
	if err != nil {
		return err
	}
	if said == "" && kind == observed.Probabilities {
		note(fmt.Sprintf("%s: read as probabilities, because all are from 0 to 1; say so if they are logits",
			outputs.Name()))
	}
	o.mapHead(c, observed.Labels{}, kind, outputs)
	decodings, err := of(kind)
	if err != nil {
		return fmt.Errorf("%s: %w", outputs.Name(), err)
	}
	columns := []string{"label", "lower", "upper"}[:len(decodings)]
	samples, _ := outputs.Dims()
	done, end := progress.begin("samples decoded", uint64(max(samples, 0)))
	defer end()
	out := bufio.NewWriterSize(w, 1<<16)
	var rows *arrayfile.RowWriter
	if format == "npy" {
		n, err := observed.Count(ctx, outputs)
		if err != nil {
			return err
		}
		rows, err = arrayfile.NewNPYRows(out, n, len(columns))
		if err != nil {
			return err
		}
	} else if rows, err = arrayfile.NewCSVRows(out, columns...); err != nil {
		return err
	}
	source := &observed.Source{Outputs: outputs, Kind: kind, Softmax: softmax}
	err = source.Decode(ctx, workers, c, decodings, func(labels []float64) error {
		if c != nil && !o.Range.IsZero() { // a fitted decoder has the range already
			for i, place := range labels {
				labels[i] = o.Range.label(c, place)
			}
		}
		return rows.Write(labels)
	}, done)
	return errors.Join(err, out.Flush())
}

// decodingsOf are the decodings of outputs of a kind: of their labels, and of the ends of intervals
// where these are asked for. Beside them stand the code that they need, nil where they need none, and
// whether outputs may be a distribution over the levels.
type decodingsOf func(observed.Kind) ([]observed.Decoding, error)

// openFitted opens the file of a fitted decoder, which needs no code.
func (o Options) openFitted(outputs *arrayfile.Rows, path string) (of decodingsOf, c *code.Code, softmax bool,
	err error) {
	fitted, err := fitdecoder.Read(path)
	if err != nil {
		return nil, nil, false, err
	}
	_, m := outputs.Dims()
	if _, bits := fitted.Dims(); bits != m {
		return nil, nil, false, fmt.Errorf("%s: %d columns, but the decoder %s reads %d bits", outputs.Name(), m, path, bits)
	}
	if o.Circular && !fitted.About().Circular {
		return nil, nil, false, fmt.Errorf("%s: a decoder of levels on a line; want one that was fitted on a circle", path)
	}
	if !o.Range.IsZero() {
		levels, _ := fitted.Dims()
		values, err := o.Range.spread(levels, fitted.About().Circular)
		if err == nil {
			fitted, err = fitted.WithValues(values)
		}
		if err != nil {
			return nil, nil, false, fmt.Errorf("the range of %s: %w", path, err)
		}
	}
	decoders := []decode.RealDecoder{fitted}
	if o.Confidence != nil {
		lower, upper, err := fitted.Interval(*o.Confidence)
		if err != nil {
			return nil, nil, false, fmt.Errorf("%s: %w", path, err)
		}
		decoders = append(decoders, lower, upper)
	}
	return func(kind observed.Kind) (out []observed.Decoding, err error) {
		d, err := fitted.Decoding(kind)
		for _, each := range decoders {
			out = append(out, observed.Decoding{Decoder: each, Soft: d.Soft})
		}
		return out, err
	}, nil, fitted.ReadsDistributions(), nil
}

const wantFitted = "want one that was fitted, in an .npz file"

// openNamed opens a named decoder, and its code.
func (o Options) openNamed(outputs *arrayfile.Rows, name string) (of decodingsOf, c *code.Code, softmax bool,
	err error) {
	if o.Confidence != nil {
		return nil, nil, false, fmt.Errorf("the decoder %s has no calibration, which intervals need: %s", name, wantFitted)
	}
	if o.Code == "" {
		return nil, nil, false, fmt.Errorf("the decoder %s needs the code of the outputs: want the code", name)
	}
	if o.predicts() {
		return nil, nil, false, fmt.Errorf("%s: predictions of direct regression need no decoder", outputs.Name())
	}
	if e, ok := o.Decoders.Lookup(name); ok && e.Informed {
		return nil, nil, false, fmt.Errorf("the decoder %s needs a model of the classifiers: %s", name, wantFitted)
	}
	c, err = openCode(o, outputs)
	if err != nil {
		return nil, nil, false, err
	}
	d, err := o.Decoders.Uninformed().New(name, c, decode.Options{Temperature: o.Temperature})
	return func(kind observed.Kind) ([]observed.Decoding, error) {
		return []observed.Decoding{{Decoder: d, Soft: decode.ReadsLogits(d) && !kind.Hard() || c.Real()}}, nil
	}, c, c.OneHot(), err
}

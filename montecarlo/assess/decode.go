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

// Decoding is the decoding of a network's outputs, from a file that may be larger than memory.
type Decoding struct {
	outputs  *arrayfile.Rows
	kind     observed.Kind
	code     *code.Code // nil with a fitted decoder
	decoding observed.Decoding
	label    func(level float64) float64 // nil where labels are as the decoder gives them
}

// IsDecoderFile reports whether the name of a decoder is a file of a fitted one.
func IsDecoderFile(name string) bool { return strings.EqualFold(filepath.Ext(name), ".npz") }

// OpenDecoding opens outputs to decode them: with a fitted decoder in an .npz file, or with a named one
// of o.Decoders for the code o.Code. With o.Range, labels are in its units; else they are those of
// the fitted decoder, or levels from 1. Close the decoding when it is not used any more. Errors name the file at fault.
func OpenDecoding(ctx context.Context, o Options, decoder string) (*Decoding, error) {
	d := &Decoding{}
	if err := d.open(ctx, o, decoder); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the file of the outputs.
func (d *Decoding) Close() error {
	if d.outputs == nil {
		return nil
	}
	return d.outputs.Close()
}

// Samples is the number of samples, negative where the file does not say it before it is read to its
// end.
func (d *Decoding) Samples() int {
	n, _ := d.outputs.Dims()
	return n
}

func (d *Decoding) open(ctx context.Context, o Options, decoder string) (err error) {
	said, path := observed.SplitKind(o.Outputs)
	var fitted *fitdecoder.Decoder
	if IsDecoderFile(decoder) {
		if fitted, err = fitdecoder.Read(decoder); err != nil {
			return err
		}
	}
	if d.outputs, err = arrayfile.OpenRows(path, outputNames...); err != nil {
		return fmt.Errorf("reading outputs: %w", err)
	}
	if parts := d.outputs.Parts(); parts > 1 {
		return fmt.Errorf("%s has outputs for %d targets; want samples × bits, so a file for each target", d.outputs.Name(), parts)
	}
	_, m := d.outputs.Dims()
	if fitted != nil {
		if _, bits := fitted.Dims(); bits != m {
			return fmt.Errorf("%s: %d columns, but the decoder %s reads %d bits", d.outputs.Name(), m, decoder, bits)
		}
		if !o.Range.IsZero() {
			if fitted, err = fitted.WithRange(o.Range.Lo, o.Range.Hi); err != nil {
				return err
			}
		}
	} else if err := d.openNamed(o, decoder); err != nil {
		return err
	}
	if d.kind, err = observed.FindKind(ctx, said, d.outputs); err != nil {
		return err
	}
	if fitted != nil {
		if d.decoding, err = fitted.Decoding(d.kind); err != nil {
			return fmt.Errorf("%s: %w", d.outputs.Name(), err)
		}
		return nil
	}
	d.decoding.Soft = decode.ReadsLogits(d.decoding.Decoder) && !d.kind.Hard() || d.code.Real()
	return nil
}

// openNamed opens a named decoder of a code.
func (d *Decoding) openNamed(o Options, decoder string) error {
	if o.Code == "" {
		return fmt.Errorf("the decoder %s needs the code of the outputs: want the code, or an .npz file as the decoder", decoder)
	}
	if e, ok := o.Decoders.Lookup(decoder); ok && e.Informed {
		return fmt.Errorf("the decoder %s needs a model of the classifiers: want one that was fitted, in an .npz file", decoder)
	}
	c, err := openCode(o, d.outputs)
	if err != nil {
		return err
	}
	d.code = c
	if d.decoding.Decoder, err = o.Decoders.Uninformed().New(decoder, c, decode.Options{Temperature: o.Temperature}); err != nil {
		return err
	}
	if !o.Range.IsZero() {
		width := observed.Labels{Levels: c.Levels(), Real: true, Lo: o.Range.Lo, Hi: o.Range.Hi}.Width()
		d.label = func(level float64) float64 { return o.Range.Lo + (level-1)*width }
	}
	return nil
}

// Write decodes all samples and writes their labels, one after the other: as a NumPy array of
// float64 of one dimension where the format is npy, else as lines of text. workers is the number of
// goroutines, 0 for one on each processor; it changes no byte. done is told how many samples were
// decoded since its last call, and may be nil. Errors name the file and the place, or are the
// context's.
func (d *Decoding) Write(ctx context.Context, workers int, w io.Writer, format string, done func(samples uint64)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	column := &arrayfile.ColumnWriter{W: out}
	if format == "npy" {
		n, err := observed.Count(ctx, d.outputs)
		if err != nil {
			return err
		}
		if column, err = arrayfile.NewNPYColumn(out, n); err != nil {
			return err
		}
	}
	err := observed.Decode(ctx, workers, d.outputs, d.kind, d.code, d.decoding, func(labels []float64) error {
		if d.label != nil {
			for i, v := range labels {
				labels[i] = d.label(v)
			}
		}
		return column.Write(labels)
	}, done)
	return errors.Join(err, out.Flush())
}

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

// decoding is how outputs become labels.
type decoding struct {
	observed.Decoding
	kind  observed.Kind
	code  *code.Code                  // nil with a fitted decoder
	label func(level float64) float64 // nil where labels are as the decoder gives them
}

// Decode decodes o.Outputs, a file that may be larger than memory: with a fitted decoder in an .npz
// file, or with a named one of o.Decoders for the code o.Code. With o.Range, labels are in its units;
// else they are those of the fitted decoder, or levels from 1. Decode writes the label of one sample
// after the other: as a NumPy array of float64 of one dimension where the format is npy, else as
// lines of text. workers is the number of goroutines, 0 for one on each processor; it changes no
// byte. Errors name the file and the place, or are the context's.
func Decode(ctx context.Context, o Options, decoder string, workers int, w io.Writer, format string, progress Progress) (err error) {
	said, path := observed.SplitKind(o.Outputs)
	var fitted *fitdecoder.Decoder
	if IsDecoderFile(decoder) {
		if fitted, err = fitdecoder.Read(decoder); err != nil {
			return err
		}
	}
	outputs, err := openOutputs(path)
	if err != nil {
		return err
	}
	defer outputs.Close()
	if parts := outputs.Parts(); parts > 1 {
		return fmt.Errorf("%s has outputs for %d targets; want samples × bits, so a file for each target", outputs.Name(), parts)
	}
	var d *decoding
	if fitted != nil {
		d, err = o.readDecoding(ctx, said, outputs, fitted, decoder)
	} else {
		d, err = o.namedDecoding(ctx, said, outputs, decoder)
	}
	if err != nil {
		return err
	}
	samples, _ := outputs.Dims()
	done, end := progress.begin("samples decoded", uint64(max(samples, 0)))
	defer end()
	return d.write(ctx, workers, outputs, w, format, done)
}

// readDecoding is the decoding of a fitted decoder that was read.
func (o Options) readDecoding(ctx context.Context, said observed.Kind, outputs *arrayfile.Rows, fitted *fitdecoder.Decoder, path string) (*decoding, error) {
	_, m := outputs.Dims()
	if _, bits := fitted.Dims(); bits != m {
		return nil, fmt.Errorf("%s: %d columns, but the decoder %s reads %d bits", outputs.Name(), m, path, bits)
	}
	var err error
	if !o.Range.IsZero() {
		if fitted, err = fitted.WithRange(o.Range.Lo, o.Range.Hi); err != nil {
			return nil, err
		}
	}
	d := &decoding{}
	if d.kind, err = observed.FindKind(ctx, said, outputs); err != nil {
		return nil, err
	}
	if d.Decoding, err = fitted.Decoding(d.kind); err != nil {
		return nil, fmt.Errorf("%s: %w", outputs.Name(), err)
	}
	return d, nil
}

// namedDecoding is the decoding of a named decoder of a code.
func (o Options) namedDecoding(ctx context.Context, said observed.Kind, outputs *arrayfile.Rows, decoder string) (*decoding, error) {
	if o.Code == "" {
		return nil, fmt.Errorf("the decoder %s needs the code of the outputs: want the code, or an .npz file as the decoder", decoder)
	}
	if e, ok := o.Decoders.Lookup(decoder); ok && e.Informed {
		return nil, fmt.Errorf("the decoder %s needs a model of the classifiers: want one that was fitted, in an .npz file", decoder)
	}
	c, err := openCode(o, outputs)
	if err != nil {
		return nil, err
	}
	d := &decoding{code: c}
	if d.Decoder, err = o.Decoders.Uninformed().New(decoder, c, decode.Options{Temperature: o.Temperature}); err != nil {
		return nil, err
	}
	if !o.Range.IsZero() {
		width := observed.Labels{Levels: c.Levels(), Real: true, Lo: o.Range.Lo, Hi: o.Range.Hi}.Width()
		d.label = func(level float64) float64 { return o.Range.Lo + (level-1)*width }
	}
	d.kind, err = observed.FindKind(ctx, said, outputs)
	d.Soft = decode.ReadsLogits(d.Decoder) && !d.kind.Hard() || c.Real()
	return d, err
}

func (d *decoding) write(ctx context.Context, workers int, outputs *arrayfile.Rows, w io.Writer, format string, done func(uint64)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	column := &arrayfile.ColumnWriter{W: out}
	if format == "npy" {
		n, err := observed.Count(ctx, outputs)
		if err != nil {
			return err
		}
		if column, err = arrayfile.NewNPYColumn(out, n); err != nil {
			return err
		}
	}
	err := observed.Decode(ctx, workers, outputs, d.kind, d.code, d.Decoding, func(labels []float64) error {
		if d.label != nil {
			for i, v := range labels {
				labels[i] = d.label(v)
			}
		}
		return column.Write(labels)
	}, done)
	return errors.Join(err, out.Flush())
}

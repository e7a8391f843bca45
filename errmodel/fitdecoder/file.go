package fitdecoder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/decode"
)

// The arrays of a decoder's file. NumPy reads all of them without pickle.
const (
	arrayMatrix  = "matrix"  // W, L × M
	arrayCurved  = "curved"  // V, L × M; zero without a curve
	arrayScale   = "scale"   // c, of length M; one without a curve
	arrayOffsets = "offsets" // b, of length L
	arrayValues  = "values"  // labels of the levels, of length L
	arrayRule    = "rule"    // map, median or mean
	arrayReads   = "reads"   // logits or bits
	arrayAbout   = "about"   // About, as JSON
)

// Write writes the decoder as an .npz file. Equal decoders give equal bytes.
func (d *Decoder) Write(w io.Writer) error {
	levels, m := d.Dims()
	all := d.affine.Weights()
	values := d.Values()
	if values == nil {
		values = Spread(levels, 1, float64(levels))
	}
	about, err := json.Marshal(d.about)
	if err != nil {
		return err
	}
	z := arrayfile.NewNPZWriter(w)
	text := func(name, s string) error {
		return z.Strings(name, 1, func(int) string { return s })
	}
	return errors.Join(
		z.Matrix(arrayMatrix, all.Slice(0, levels, 0, m)),
		z.Matrix(arrayCurved, d.curve()),
		z.Floats(arrayScale, m, func(k int) float64 {
			if d.scale == nil {
				return 1
			}
			return d.scale[k]
		}),
		z.Floats(arrayOffsets, levels, func(i int) float64 { return d.affine.Offsets()[i] }),
		z.Floats(arrayValues, levels, func(i int) float64 { return values[i] }),
		text(arrayRule, d.about.Rule), text(arrayReads, d.about.Reads), text(arrayAbout, string(about)),
		z.Close(),
	)
}

// curve is V.
func (d *Decoder) curve() mat.Matrix {
	levels, m := d.Dims()
	if d.scale == nil {
		return mat.NewDense(levels, m, nil)
	}
	return d.affine.Weights().Slice(0, levels, m, 2*m)
}

// Read reads a decoder from an .npz file that Write made, or that has the same arrays. Errors name
// the file and what is wrong with it.
func Read(path string) (*Decoder, error) {
	d, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading a decoder: %w", err)
	}
	return d, nil
}

func read(path string) (*Decoder, error) {
	matrix, err := readArray(path, arrayMatrix)
	if err != nil {
		return nil, err
	}
	curved, err := readArray(path, arrayCurved)
	if err != nil {
		return nil, err
	}
	levels, m := matrix.Dims()
	var numbers [3][]float64
	for i, a := range []struct {
		name string
		n    int
		what string
	}{{arrayScale, m, "bits"}, {arrayOffsets, levels, "levels"}, {arrayValues, levels, "levels"}} {
		column, err := readArray(path, a.name)
		if err != nil {
			return nil, err
		}
		if n, columns := column.Dims(); n != a.n || columns != 1 {
			return nil, fmt.Errorf("%s: array %s is %d × %d, and the matrix has %d %s", path, a.name, n, columns, a.n, a.what)
		}
		numbers[i] = column.RawMatrix().Data
	}
	scale, offsets, values := numbers[0], numbers[1], numbers[2]
	var texts [3]string
	for i, name := range []string{arrayRule, arrayReads, arrayAbout} {
		if texts[i], err = arrayfile.ReadText(path, name); err != nil {
			return nil, err
		}
	}
	rule, reads, text := texts[0], texts[1], texts[2]
	logits := reads == (observed.Decoding{Soft: true}).Outputs()
	if !logits && reads != (observed.Decoding{}).Outputs() {
		return nil, fmt.Errorf("%s: array %s is %.20q; want logits or bits", path, arrayReads, reads)
	}
	var about About
	if err := json.Unmarshal([]byte(text), &about); err != nil {
		return nil, fmt.Errorf("%s: array %s: %w", path, arrayAbout, err)
	}
	if mat.Max(curved) == 0 && mat.Min(curved) == 0 {
		curved = nil
	}
	d, err := newDecoder(decode.Rule(rule), matrix, curved, offsets, scale, values, logits, about)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// readArray reads an array of a decoder's file.
func readArray(path, name string) (*mat.Dense, error) {
	rows, err := arrayfile.OpenRows(path + ":" + name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n, m := rows.Dims()
	if n > arrayfile.MaxSide {
		return nil, fmt.Errorf("%s: array %s has %d rows; want at most %d", path, name, n, arrayfile.MaxSide)
	}
	if err := memory.Check("array "+name, memory.Product(n, m, 8)); err != nil {
		return nil, err
	}
	out := mat.NewDense(n, m, nil)
	for i := range n {
		if err := rows.Next(out.RawRowView(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

package fitdecoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/decode"
)

// contents are the arrays of a decoder's file. NumPy reads all of them without pickle.
type contents struct {
	matrix  *mat.Dense // W, L × M
	curved  *mat.Dense // V, L × M; zero without a curve
	scale   []float64  // c, of length M; one without a curve
	offsets []float64  // b, of length L
	values  []float64  // labels of the levels, of length L
	rule    string     // map, median or mean
	reads   string     // logits or bits
	about   string     // About, as JSON
}

// columns are the arrays of one number for each bit or level, in the order of the file.
func (c *contents) columns() []column {
	levels, m := c.matrix.Dims()
	return []column{{"scale", &c.scale, m, "bits"}, {"offsets", &c.offsets, levels, "levels"}, {"values", &c.values, levels, "levels"}}
}

type column struct {
	name string
	to   *[]float64
	n    int
	what string
}

// texts are the arrays of one text each.
func (c *contents) texts() []namedText {
	return []namedText{{"rule", &c.rule}, {"reads", &c.reads}, {"about", &c.about}}
}

type namedText struct {
	name string
	to   *string
}

// checksum is of all arrays. The file has it as another array, so that arrays of two decoders, or
// edited ones, are not taken for a decoder.
func (c *contents) checksum() string {
	h := sha256.New()
	levels, m := c.matrix.Dims()
	for _, numbers := range [][]float64{{float64(levels), float64(m)}, c.matrix.RawMatrix().Data, c.curved.RawMatrix().Data, c.scale, c.offsets, c.values} {
		_ = binary.Write(h, binary.LittleEndian, numbers) // a hash takes all
	}
	fmt.Fprintf(h, "%q %q %q", c.rule, c.reads, c.about)
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the decoder as an .npz file. Equal decoders give equal bytes.
func (d *Decoder) Write(w io.Writer) error {
	levels, m := d.Dims()
	about, err := json.Marshal(d.about)
	if err != nil {
		return err
	}
	all := d.affine.Weights()
	c := &contents{
		matrix: mat.DenseCopyOf(all.Slice(0, levels, 0, m)), curved: mat.NewDense(levels, m, nil), scale: d.scale, offsets: d.affine.Offsets(), values: d.Values(),
		rule: d.about.Rule, reads: d.about.Reads, about: string(about),
	}
	if d.scale == nil {
		c.scale = slices.Repeat([]float64{1}, m)
	} else {
		c.curved.Copy(all.Slice(0, levels, m, 2*m))
	}
	if c.values == nil {
		c.values = Spread(levels, 1, float64(levels))
	}
	z := arrayfile.NewNPZWriter(w)
	text := func(name, s string) { err = errors.Join(err, z.Array(name, []string{s})) }
	err = errors.Join(z.Matrix("matrix", c.matrix), z.Matrix("curved", c.curved))
	for _, a := range c.columns() {
		err = errors.Join(err, z.Array(a.name, *a.to))
	}
	for _, a := range c.texts() {
		text(a.name, *a.to)
	}
	text("checksum", c.checksum())
	return errors.Join(err, z.Close())
}

// Read reads a decoder from an .npz file that Write made. Errors name the file and what is wrong
// with it.
func Read(path string) (*Decoder, error) {
	const again = "; fit the decoder again with 'belsim fit --fit-decoder -o FILE.npz'"
	c, err := readContents(path)
	if err != nil {
		return nil, fmt.Errorf("reading a decoder: %w", err)
	}
	d, err := c.decoder()
	if err != nil {
		return nil, fmt.Errorf("reading a decoder: %s: %w", path, err)
	}
	switch sum, err := arrayfile.ReadText(path, "checksum"); {
	case err != nil:
		return nil, fmt.Errorf("reading a decoder: %w: a file of an older version has no checksum%s", err, again)
	case sum != c.checksum():
		return nil, fmt.Errorf("reading a decoder: %s: its arrays are not those that belsim wrote: they have another checksum%s", path, again)
	}
	return d, nil
}

func readContents(path string) (*contents, error) {
	c := &contents{}
	var err error
	if c.matrix, err = arrayfile.ReadFile(path + ":matrix"); err != nil {
		return nil, err
	}
	if c.curved, err = arrayfile.ReadFile(path + ":curved"); err != nil {
		return nil, err
	}
	for _, a := range c.columns() {
		column, err := arrayfile.ReadFile(path + ":" + a.name)
		if err != nil {
			return nil, err
		}
		if n, columns := column.Dims(); n != a.n || columns != 1 {
			return nil, fmt.Errorf("%s: array %s is %d × %d, and the matrix has %d %s", path, a.name, n, columns, a.n, a.what)
		}
		*a.to = column.RawMatrix().Data
	}
	for _, a := range c.texts() {
		if *a.to, err = arrayfile.ReadText(path, a.name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// decoder returns the decoder of a file.
func (c *contents) decoder() (*Decoder, error) {
	logits := c.reads == (observed.Decoding{Soft: true}).Outputs()
	if !logits && c.reads != (observed.Decoding{}).Outputs() {
		return nil, fmt.Errorf("array reads is %.20q; want logits or bits", c.reads)
	}
	var about About
	if err := json.Unmarshal([]byte(c.about), &about); err != nil {
		return nil, fmt.Errorf("array about: %w", err)
	}
	curved := c.curved
	if mat.Max(curved) == 0 && mat.Min(curved) == 0 {
		curved = nil
	}
	return newDecoder(decode.Rule(c.rule), c.matrix, curved, c.offsets, c.scale, c.values, logits, about)
}

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

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// column is an array of a number for each level.
type column struct {
	name string
	to   *[]float64
}

// columns are such arrays of a decoder, in the order of its file.
func (d *Decoder) columns() []column {
	return []column{{"offsets", &d.scores.Offsets}, {"values", &d.values}}
}

// texts are the arrays of one text each: the rule, what the decoder reads, and About as JSON.
type texts [3]string

var textNames = [...]string{"rule", "reads", "about"}

// A calibration is three more arrays: the residuals, the floor, and the text that says of what sigma
// is.
const (
	residualsName, floorName, sigmasName = "residuals", "floor", "sigmas"
	ofScores, ofSigmoids                 = "scores", "sorted sigmoids"
)

func (d *Decoder) sigmas() string {
	if d.sorted {
		return ofSigmoids
	}
	return ofScores
}

// checksum is of all arrays. The file has it as another array, so that arrays of two decoders, or
// edited ones, are not taken for a decoder.
func (d *Decoder) checksum(t *texts) string {
	h := sha256.New()
	levels, m := d.Dims()
	for _, numbers := range [][]float64{{float64(levels), float64(m)}, d.scores.Weights.RawMatrix().Data,
		d.scores.Offsets, d.values} {
		_ = binary.Write(h, binary.LittleEndian, numbers) // a hash takes all
	}
	fmt.Fprintf(h, "%q %q %q", t[0], t[1], t[2])
	_ = binary.Write(h, binary.LittleEndian, append([]float64{d.floor}, d.residuals...))
	fmt.Fprintf(h, " %q", d.sigmas())
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the decoder as an .npz file, which NumPy reads without pickle. Equal decoders give
// equal bytes.
func (d *Decoder) Write(w io.Writer) error {
	about, err := json.Marshal(d.about)
	if err != nil {
		return err
	}
	t := &texts{d.about.Rule, d.about.Reads, string(about)}
	z := arrayfile.NewNPZWriter(w)
	err = z.Matrix("weights", d.scores.Weights)
	for _, c := range d.columns() {
		err = errors.Join(err, z.Column(c.name, *c.to))
	}
	for i, name := range textNames {
		err = errors.Join(err, z.Text(name, t[i]))
	}
	return errors.Join(err, z.Column(residualsName, d.residuals), z.Column(floorName, []float64{d.floor}),
		z.Text(sigmasName, d.sigmas()), z.Text("checksum", d.checksum(t)), z.Close())
}

// Read reads a decoder from an .npz file that Write made. Errors name the file and what is wrong
// with it.
func Read(path string) (*Decoder, error) {
	d, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading a decoder: %w; 'belsim fit --fit-decoder -o FILE.npz' makes one", err)
	}
	return d, nil
}

func read(path string) (*Decoder, error) {
	d, t := &Decoder{scores: &decode.Affine{}}, &texts{}
	var err error
	if d.scores.Weights, err = arrayfile.ReadFile(path + ":weights"); err != nil {
		return nil, err
	}
	levels, _ := d.Dims()
	for _, c := range d.columns() {
		column, err := arrayfile.ReadFile(path + ":" + c.name)
		if err != nil {
			return nil, err
		}
		if n, columns := column.Dims(); n != levels || columns != 1 {
			return nil, fmt.Errorf("%s: array %s is %d × %d, and the weights have %d levels", path, c.name, n, columns,
				levels)
		}
		*c.to = column.RawMatrix().Data
	}
	for i, name := range textNames {
		if t[i], err = arrayfile.ReadText(path, name); err != nil {
			return nil, err
		}
	}
	if err := d.readCalibration(path); err != nil {
		return nil, err
	}
	if err := d.fill(t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum, err := arrayfile.ReadText(path, "checksum")
	if err == nil && sum != d.checksum(t) {
		err = fmt.Errorf("%s: its arrays are not those that belsim wrote: they have another checksum", path)
	}
	return d, err
}

// readCalibration reads the residuals and their sigmas.
func (d *Decoder) readCalibration(path string) error {
	residuals, err := arrayfile.ReadFile(path + ":" + residualsName)
	if err != nil {
		return err
	}
	d.residuals = residuals.RawMatrix().Data
	if _, columns := residuals.Dims(); columns != 1 || !slices.IsSorted(d.residuals) {
		return fmt.Errorf("%s: array %s: want a column of numbers that ascend", path, residualsName)
	}
	floor, err := arrayfile.ReadFile(path + ":" + floorName)
	if err != nil {
		return err
	}
	if d.floor = floor.At(0, 0); !(d.floor > 0) {
		return fmt.Errorf("%s: array %s is %v; want a positive number", path, floorName, d.floor)
	}
	of, err := arrayfile.ReadText(path, sigmasName)
	d.sorted = of == ofSigmoids
	if err == nil && d.sigmas() != of {
		err = fmt.Errorf("%s: array %s is %.20q; want %q or %q", path, sigmasName, of, ofScores, ofSigmoids)
	}
	return err
}

// fill takes the texts of a file, and completes the decoder.
func (d *Decoder) fill(t *texts) error {
	d.scores.Rule, d.logits = decode.Rule(t[0]), t[1] == (observed.Decoding{Soft: true}).Outputs()
	if !d.logits && t[1] != (observed.Decoding{}).Outputs() {
		return fmt.Errorf("array reads is %.20q; want logits or bits", t[1])
	}
	if err := table.ReadJSON([]byte(t[2]), &d.about); err != nil {
		return fmt.Errorf("array about: %w", err)
	}
	return d.complete()
}

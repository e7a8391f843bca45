package fitdecoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// array is an array of numbers of a decoder, besides its weights.
type array struct {
	name string
	to   *[]float64
}

// arrays are those of the levels, and of the calibration.
func (d *Decoder) arrays(floor *[]float64) []array {
	return []array{{"offsets", &d.scores.Offsets}, {"values", &d.values}, {"residuals", &d.residuals}, {"floor", floor}}
}

// textNames are the arrays of one text each: the rule, what the decoder reads, About as JSON, of what sigma is,
// and the checksum.
var textNames = [...]string{"rule", "reads", "about", "sigmas", "checksum"}

const ofScores, ofSigmoids = "scores", "sorted sigmoids"

// checksum is of all arrays. The file has it as another array, so that arrays of two decoders, or
// edited ones, are not taken for a decoder.
func (d *Decoder) checksum(texts []string) string {
	h := sha256.New()
	levels, m := d.Dims()
	for _, numbers := range [][]float64{{float64(levels), float64(m)}, d.scores.Weights.RawMatrix().Data,
		d.scores.Offsets, d.values} {
		_ = binary.Write(h, binary.LittleEndian, numbers) // a hash takes all
	}
	fmt.Fprintf(h, "%q %q %q", texts[0], texts[1], texts[2])
	_ = binary.Write(h, binary.LittleEndian, append([]float64{d.floor}, d.residuals...))
	fmt.Fprintf(h, " %q", texts[3])
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the decoder as an .npz file, which NumPy reads without pickle. Equal decoders give
// equal bytes.
func (d *Decoder) Write(w io.Writer) error {
	about, err := json.Marshal(d.about)
	if err != nil {
		return err
	}
	texts := []string{d.about.Rule, d.about.Reads, string(about), ofScores}
	if d.sorted {
		texts[3] = ofSigmoids
	}
	z := arrayfile.NewNPZWriter(w)
	err = z.Matrix("weights", d.scores.Weights)
	for _, a := range d.arrays(&[]float64{d.floor}) {
		err = errors.Join(err, z.Column(a.name, *a.to))
	}
	for i, text := range append(texts, d.checksum(texts)) {
		err = errors.Join(err, z.Text(textNames[i], text))
	}
	return errors.Join(err, z.Close())
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
	d := &Decoder{scores: &decode.Affine{}}
	var err error
	if d.scores.Weights, err = arrayfile.ReadFile(path + ":weights"); err != nil {
		return nil, err
	}
	var floor []float64
	for _, a := range d.arrays(&floor) {
		numbers, err := arrayfile.ReadFile(path + ":" + a.name)
		if err != nil {
			return nil, err
		}
		*a.to = numbers.RawMatrix().Data
	}
	d.floor = floor[0]
	var texts []string
	for _, name := range textNames {
		text, err := arrayfile.ReadText(path, name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if texts[4] != d.checksum(texts) { // nobody but Write makes a right one
		return nil, fmt.Errorf("%s: its arrays are not those that belsim wrote: they have another checksum", path)
	}
	d.scores.Rule, d.logits, d.sorted = decode.Rule(texts[0]), texts[1] == (observed.Decoding{Soft: true}).Outputs(),
		texts[3] == ofSigmoids
	if err := table.ReadJSON([]byte(texts[2]), &d.about); err != nil {
		return nil, fmt.Errorf("%s: array about: %w", path, err)
	}
	if err := d.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

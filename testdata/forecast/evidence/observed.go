// Package evidence puts forecasts beside the errors of networks that were trained: the tables
// observed.csv and priors.csv of testdata/forecast, and published.csv of testdata/paper.
package evidence

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/decode"
)

// Task is what a set of networks has in common: the data, the architecture and the levels.
type Task struct {
	Data, Architecture string
	Levels             int
}

func (t Task) String() string {
	return fmt.Sprintf("%s, %s, %d levels", t.Data, t.Architecture, t.Levels)
}

// Image reports whether the inputs are images.
func (t Task) Image() bool {
	return slices.Contains(strings.Fields(`digits digits2 pose keypoints horizon texture gauge crowd ripples disc zoom
		noise jpeg inset tilt`), t.Data)
}

// Reading is what reads the outputs of a network: gen of bits, gen of logits, gen-ex of logits, or
// nothing of a prediction.
type Reading struct {
	Decoder string
	Logits  bool
}

// The readings that observed.csv has, in the order of its columns.
var (
	GenBits = Reading{"gen", false}
	Gen     = Reading{"gen", true}
	GenEx   = Reading{"gen-ex", true}
)

// direct is the reading of direct regression against real labels, where a prediction is not
// rounded.
var direct = Reading{observed.Prediction().Decoder.Name(), false}

// readable reports whether a reading means something after a training.
func readable(t perceived.Training, r Reading) bool {
	switch {
	case t.ThroughGenEx():
		return r == GenEx
	case t != perceived.BCE:
		return r != GenBits
	}
	return true
}

// A Network is a row of observed.csv.
type Network struct {
	Task     Task
	Code     string
	Training perceived.Training
	Seed     int
	Samples  float64
	Errors   map[Reading]observed.Error // in levels, against the level of the target, or the target itself
	Wrong    map[int]float64            // share of wrong bits by the column's number of transitions
}

// Set is all networks, with the priors of their test targets.
type Set struct {
	Networks []Network
	// Samples are those at each level; a uniform prior where there are none.
	Samples map[Labels][]float64
	labels  bool // errors are against the targets themselves, real numbers
}

// Labels are those of all tasks of the same data and levels.
type Labels struct {
	Data   string
	Levels int
}

// Load reads the evidence in a folder: all networks that a law may be fitted to. The first set has
// networks of one learning rate (observed.csv), and the second those whose learning rates
// validation chose: 13 codes (chosen.csv), and softmax, soft targets, CORN and direct regression of
// the same tasks (more.csv, and networks.csv of testdata/heads).
func Load(folder string) ([]*Set, error) {
	observed, err := LoadStopped(folder, "observed.csv", 1, false)
	if err != nil {
		return nil, err
	}
	chosen, err := LoadStopped(folder, "chosen.csv", 1, false)
	if err != nil {
		return nil, err
	}
	tasks := chosen.Tasks()
	for _, table := range []string{filepath.Join("..", "heads", "networks.csv"), "more.csv"} {
		more, err := LoadStopped(folder, table, 1, false)
		if err != nil {
			return nil, err
		}
		for _, n := range more.Networks {
			if slices.Contains(tasks, n.Task) && !slices.ContainsFunc(chosen.Networks, n.same) {
				chosen.Networks = append(chosen.Networks, n)
			}
		}
	}
	return []*Set{observed, chosen}, nil
}

// LoadBlind reads blind.csv: networks of data sets that chose nothing, and are to choose nothing.
// No program that fits reads it.
func LoadBlind(folder string) (*Set, error) { return LoadStopped(folder, "blind.csv", 1, false) }

// same reports whether two networks have the same task, head and seed.
func (n Network) same(m Network) bool {
	return n.Task == m.Task && n.Code == m.Code && n.Training == m.Training && n.Seed == m.Seed
}

// LoadStopped reads the networks of a table that were stopped at a share of their training, or have
// ended it; with their errors against the real labels, or against levels.
func LoadStopped(folder, table string, share float64, labels bool) (*Set, error) {
	s, suffix := &Set{Samples: map[Labels][]float64{}, labels: labels}, ""
	if labels {
		suffix = "_label"
	}
	err := readRows(filepath.Join(folder, table), func(r *row) {
		if epochs := r.cells["epochs"]; epochs != "" && r.number("epochs") != share {
			return
		}
		n := Network{
			Task: Task{r.cells["data"], r.cells["architecture"], r.whole("levels")}, Code: r.cells["code"],
			Training: perceived.Training(r.cells["training"]), Seed: r.whole("seed"), Samples: r.number("samples"),
			Errors: map[Reading]observed.Error{}, Wrong: map[int]float64{},
		}
		if n.Code == forecast.Direct { // l1
			n.Training = perceived.BCE
		}
		for reading, column := range map[Reading]string{GenBits: "gen_bits", Gen: "gen", GenEx: "gen_ex"} {
			if r.cells[column] == "" || !readable(n.Training, reading) { // direct regression has one reading
				continue
			}
			if labels && n.Code == forecast.Direct {
				reading = direct
			}
			n.Errors[reading] = observed.Error{Mean: r.number(column + suffix),
				StdErr: r.number(column + "_stderr" + suffix)}
		}
		for pair := range strings.FieldsSeq(r.cells["wrong"]) {
			t, share, _ := strings.Cut(pair, ":")
			transitions, err := strconv.Atoi(t)
			r.fail(err)
			n.Wrong[transitions], err = strconv.ParseFloat(share, 64)
			r.fail(err)
		}
		s.Networks = append(s.Networks, n)
	})
	if err != nil {
		return nil, err
	}
	err = readRows(filepath.Join(folder, "priors.csv"), func(r *row) {
		// Half a sample more at each level, because none in 5000 is not never.
		key := Labels{r.cells["data"], r.whole("levels")}
		s.Samples[key] = append(s.Samples[key], r.number("samples")+0.5)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// decoders are those that read some network.
func (s *Set) decoders() decode.Registry {
	names := map[string]bool{}
	for _, n := range s.Networks {
		for r := range n.Errors {
			names[r.Decoder] = true
		}
	}
	return slices.DeleteFunc(decode.Builtin(), func(e decode.Entry) bool { return !names[e.Name] })
}

// trainings are those of a task where some network was trained through gen-ex: no forecast is of
// these unless it is asked for. Else they are those of all forecasts.
func (s *Set) trainings(t Task) (out []perceived.Training) {
	through := false
	for _, n := range s.Networks {
		if n.Task == t && !slices.Contains(out, n.Training) {
			out = append(out, n.Training)
			through = through || n.Training.ThroughGenEx()
		}
	}
	if !through {
		return nil
	}
	return out
}

// Tasks lists the tasks, in the order of the table.
func (s *Set) Tasks() []Task {
	var out []Task
	for _, n := range s.Networks {
		if !slices.Contains(out, n.Task) {
			out = append(out, n.Task)
		}
	}
	return out
}

// Prior is the share of each level among the test targets of a task, length L.
func (s *Set) Prior(t Task) []float64 {
	samples, known := s.Samples[Labels{t.Data, t.Levels}]
	if !known {
		return theory.Uniform(t.Levels)
	}
	out := slices.Clone(samples)
	sum := floats.Sum(out)
	for i := range out {
		out[i] /= sum
	}
	return out
}

// errors are the errors of a code's networks, one for each seed.
func (s *Set) errors(t Task, name string, training perceived.Training, r Reading) (out []Trained) {
	for _, n := range s.Networks {
		if n.Task == t && n.Code == name && n.Training == training {
			if e, read := n.Errors[r]; read {
				out = append(out, Trained{e, n.Seed})
			}
		}
	}
	return out
}

// Source names a network that forecasts are made from.
type Source struct {
	Code     string
	Training perceived.Training
	Seed     int
}

// Sources are the networks that the law is fitted from, one at a time.
var Sources = []Source{
	{Code: "johnson", Training: perceived.BCE},
	{Code: "unary", Training: perceived.BCE},
	{Code: "b1jdj", Training: perceived.BCE},
	{Code: "gray", Training: perceived.BCE},
	{Code: "johnson", Training: perceived.CE},
	{Code: forecast.Direct, Training: perceived.BCE},
	{Code: "onehot", Training: perceived.Soft},
}

// Trained reports whether a task has the network named.
func (s *Set) Trained(t Task, source Source) bool { return s.find(t, source) != nil }

func (s *Set) find(t Task, src Source) *Network {
	i := slices.IndexFunc(s.Networks, func(n Network) bool {
		return n.Task == t && n.Code == src.Code && n.Training == src.Training && n.Seed == src.Seed
	})
	if i < 0 {
		return nil
	}
	return &s.Networks[i]
}

// observed is a source as package forecast takes it.
func (s *Set) observed(t Task, src Source) (*perceived.Observed, error) {
	n := s.find(t, src)
	if n == nil {
		return nil, fmt.Errorf("%v: no network of %+v", t, src)
	}
	c, err := forecast.OpenCode(n.Code, t.Levels)
	if err != nil {
		return nil, err
	}
	out := &perceived.Observed{Code: c, Training: n.Training, Samples: n.Samples}
	for _, r := range []Reading{GenBits, Gen, GenEx, direct} {
		if _, read := n.Errors[r]; !read {
			continue
		}
		d := observed.Prediction()
		if r != direct {
			reader, err := decode.Builtin().New(r.Decoder, c, decode.Options{})
			if err != nil {
				return nil, err
			}
			d = observed.Decoding{Decoder: reader, Soft: r.Logits}
		}
		out.Decodings, out.Errors = append(out.Decodings, d), append(out.Errors, n.Errors[r])
	}
	for _, at := range c.Transitions() {
		out.Rates = append(out.Rates, n.Wrong[len(at)])
	}
	if n.Training == perceived.BCE && len(n.Wrong) > 0 {
		out.Counts = s.counts(t, out)
	}
	return out, nil
}

// counts are the wrong bits of a network. The table has only the share of all samples in which
// bits are wrong, so each level has this share of its samples.
func (s *Set) counts(t Task, n *perceived.Observed) *errmodel.Counts {
	out := errmodel.NewCounts(t.Levels, n.Code.Bits())
	for i, v := range s.Samples[Labels{t.Data, t.Levels}] {
		out.Samples[i] = uint64(v)
	}
	for k, rate := range n.Rates {
		below, wrong := 0.0, uint64(0)
		for i, samples := range out.Samples {
			below += rate * float64(samples)
			now := min(uint64(math.Round(below))-wrong, samples)
			out.Row(i)[k] = now
			wrong += now
		}
	}
	return out
}

// row is a row of a table by the names in its header, with the first error of its methods.
type row struct {
	cells map[string]string
	err   error
}

func (r *row) number(column string) float64 {
	v, err := strconv.ParseFloat(r.cells[column], 64)
	r.fail(err)
	return v
}

func (r *row) whole(column string) int {
	v, err := strconv.Atoi(r.cells[column])
	r.fail(err)
	return v
}

func (r *row) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// readRows calls do for each row of a table below its header.
func readRows(path string, do func(*row)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err == nil && len(all) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i, cells := range all[1:] {
		r := &row{cells: map[string]string{}}
		for k, name := range all[0] {
			r.cells[name] = cells[k]
		}
		if do(r); r.err != nil {
			return fmt.Errorf("%s, line %d: %w", path, i+2, r.err)
		}
	}
	return nil
}

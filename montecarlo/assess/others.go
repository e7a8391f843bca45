package assess

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/safefile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Other names the outputs of another network, for the same targets.
type Other struct {
	Code     string             // a NAME or a FILE
	Outputs  string             // as Options.Outputs
	Training perceived.Training // "" where the outputs are to show it
	Seed     string             // of its training; any text
}

// ParseOther reads CODE:OUTPUTS.
func ParseOther(text string) (Other, error) {
	name, outputs, found := strings.Cut(text, ":")
	if !found || name == "" || outputs == "" {
		return Other{}, fmt.Errorf("%q: want CODE:OUTPUTS", text)
	}
	return Other{Code: name, Outputs: outputs}, nil
}

// maxRuns is the largest size of a table of runs, in bytes.
const maxRuns = 16 << 20

// ReadRuns reads a table of networks: a CSV file with the columns code, loss (BCE or CE), seed
// and outputs. Paths are relative to the file. Errors name the file and the line: the same outputs in
// two lines would count as two networks, and are refused, as is a column that occurs twice.
func ReadRuns(path string) ([]Other, error) {
	text, err := inputfile.Read(path, maxRuns)
	if err != nil {
		return nil, fmt.Errorf("reading runs: %w", err)
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff"))) // some spreadsheets write this mark
	r.TrimLeadingSpace = true
	head, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var at [4]int
	for j, name := range []string{"code", "loss", "seed", "outputs"} {
		if at[j] = slices.Index(head, name); at[j] < 0 {
			return nil, fmt.Errorf("%s: line 1 has no column %s; want the columns code,loss,seed,outputs", path, name)
		}
		if slices.Contains(head[at[j]+1:], name) {
			return nil, fmt.Errorf("%s: line 1 has the column %s twice", path, name)
		}
	}
	var out []Other
	lines := map[string]int{} // of the outputs
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		o := Other{Code: row[at[0]], Seed: row[at[2]], Outputs: row[at[3]]}
		switch strings.ToUpper(row[at[1]]) {
		case "BCE":
			o.Training = perceived.BitByBit
		case "CE":
			o.Training = perceived.ForDecoder
		default:
			return nil, fmt.Errorf("%s: line %d, column loss: %q; want BCE or CE", path, line, row[at[1]])
		}
		if o.Code == "" || o.Outputs == "" {
			return nil, fmt.Errorf("%s: line %d: a code and its outputs are needed", path, line)
		}
		o.Outputs = relativeTo(filepath.Dir(path), o.Outputs)
		if code.IsFile(o.Code) {
			o.Code = relativeTo(filepath.Dir(path), o.Code)
		}
		_, file := observed.SplitKind(o.Outputs)
		if before, known := lines[file]; known {
			return nil, fmt.Errorf("%s: lines %d and %d have the same outputs %s", path, before, line, file)
		}
		lines[file] = line
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no networks; want a row for each", path)
	}
	return out, nil
}

// CheckDistinct refuses networks with the same outputs, which would count as two. first are the
// outputs of the network that the others stand beside.
func CheckDistinct(first string, others []Other) error {
	all := []string{first}
	for _, o := range others {
		for _, before := range all {
			if sameArray(before, o.Outputs) {
				return fmt.Errorf("%s and %s: the same outputs would count as two networks; want each once, and arrays of .npz files by name", before, o.Outputs)
			}
		}
		all = append(all, o.Outputs)
	}
	return nil
}

// sameArray reports whether two [KIND:]FILE are the same array. A file without the name of an array
// may be any of its arrays.
func sameArray(a, b string) bool {
	_, a = observed.SplitKind(a)
	_, b = observed.SplitKind(b)
	fileA, arrayA := arrayfile.SplitArray(a)
	fileB, arrayB := arrayfile.SplitArray(b)
	return safefile.Same(fileA, fileB) && (arrayA == arrayB || arrayA == "" || arrayB == "")
}

// relativeTo makes [KIND:]FILE relative to a folder.
func relativeTo(folder, path string) string {
	kind, file := observed.SplitKind(path)
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	if kind == "" {
		return file
	}
	return string(kind) + ":" + file
}

// other is another network that was read.
type other struct {
	Other
	seen   *perceived.Observed
	fitted *fitdecoder.Result
}

// AddOthers reads the outputs of other networks of the same targets. done is told how many
// samples were read since its last call, and may be nil. Call it before Perceive.
func (s *Study) AddOthers(ctx context.Context, workers int, others []Other, done func(samples uint64)) error {
	for _, x := range others {
		o := s.network.options
		o.Code, o.Outputs, o.Training, o.Candidates = x.Code, x.Outputs, x.Training, nil
		if o.Levels == 0 {
			o.Levels = s.Fit.Levels
		}
		n, err := Open(ctx, o)
		if err != nil {
			return err
		}
		seen, err := n.scan(ctx, workers, done)
		if err = errors.Join(err, n.Close()); err != nil {
			return err
		}
		if !slices.Equal(seen.summary.Counts.Samples, s.counts.Samples) {
			return fmt.Errorf("%s: its samples have other levels than those of the first network", x.Outputs)
		}
		if n.code.Real() {
			return fmt.Errorf("%s: the perceived-label model has no codes of real numbers", x.Code)
		}
		s.others = append(s.others, other{x, observe(n.code, seen.training, seen.decodings, seen.summary, deadBits(n.code, seen.summary.Counts)), seen.fitted})
	}
	return nil
}

// scanned is what one reading of a network gives.
type scanned struct {
	decodings []observed.Decoding
	summary   *observed.Summary
	training  perceived.Training
	fitted    *fitdecoder.Result // nil unless the options ask for it
}

// scan reads all samples once.
func (n *Network) scan(ctx context.Context, workers int, done func(uint64)) (*scanned, error) {
	decodings, err := observed.Decodings(n.options.Decoders, n.code, n.samples.Kind, decode.Options{Temperature: n.options.Temperature})
	if err != nil {
		return nil, err
	}
	summary, err := observed.Scan(ctx, workers, n.samples, n.code, decodings, done)
	if err != nil {
		return nil, err
	}
	out := &scanned{decodings: decodings, summary: summary, training: n.trainingOf(summary)}
	if n.options.FitDecoder {
		out.fitted, err = n.fitDecoder(ctx, workers, decodings, done)
	}
	return out, err
}

// NetworkRow is a decoder of the networks of one code and training: the means of their errors.
type NetworkRow struct {
	Code     string     `json:"code" text:"code" doc:"name of the code, or its file"`
	Bits     int        `json:"bits" text:"bits" doc:"number of bits M"`
	Training string     `json:"training" text:"trained for" doc:"bits or decoder"`
	Seeds    int        `json:"seeds" text:"seeds" doc:"number of networks, whose errors are averaged"`
	Decoder  string     `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Outputs  string     `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Observed float64    `json:"observed" text:"observed" doc:"mean observed |error|, in levels"`
	Interval [2]float64 `json:"interval" text:"95 % interval" doc:"95 % interval of observed: Student's over the seeds, or of one network's samples where there is one"`
	Model    float64    `json:"model" text:"perceived label" doc:"|error| under the fitted perceived-label model, in levels; null where it says nothing"`
	Best     bool       `json:"best" doc:"the smallest observed error of this code and training"`
}

// compareOthers lists all networks beside the model: Fit.Networks.
func (s *Study) compareOthers(ctx context.Context, workers int, nodes *perceived.Nodes) error {
	s.Fit.Networks = nil
	if len(s.others) == 0 {
		return nil
	}
	type group struct {
		networks []*perceived.Observed
		fitted   []*fitdecoder.Result
	}
	var groups []*group
	all := []*perceived.Observed{observe(s.code, s.training, s.decodings, s.observed, s.Fit.Dead)}
	fitted := []*fitdecoder.Result{s.fitted}
	for _, o := range s.others {
		all, fitted = append(all, o.seen), append(fitted, o.fitted)
	}
	for at, n := range all {
		i := slices.IndexFunc(groups, func(g *group) bool {
			first := g.networks[0]
			return first.Code.Name() == n.Code.Name() && first.Training == n.Training && len(first.Decodings) == len(n.Decodings)
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{})
		}
		groups[i].networks = append(groups[i].networks, n)
		if fitted[at] != nil {
			groups[i].fitted = append(groups[i].fitted, fitted[at])
		}
	}
	for _, g := range groups {
		first := g.networks[0]
		beside, err := s.forecasts.Compare(ctx, workers, first, nodes)
		if err != nil {
			return err
		}
		from := len(s.Fit.Networks)
		for j, r := range first.Decodings {
			var errors []observed.Error
			for _, n := range g.networks {
				errors = append(errors, n.Errors[j])
			}
			mean, half := overSeeds(errors)
			s.Fit.Networks = append(s.Fit.Networks, NetworkRow{
				Code: first.Code.Name(), Bits: first.Code.Bits(), Training: string(first.Training), Seeds: len(g.networks), Decoder: r.Decoder.Name(), Outputs: r.Outputs(),
				Observed: mean, Interval: [2]float64{mean - half, mean + half}, Model: beside.Errors[j].Model,
			})
		}
		if slices.ContainsFunc(g.fitted, func(r *fitdecoder.Result) bool { return r.Fitted }) {
			s.Fit.Networks = append(s.Fit.Networks, fittedRow(first, g.fitted))
		}
		rows := s.Fit.Networks[from:]
		best := 0
		for j := range rows {
			if rows[j].Observed < rows[best].Observed {
				best = j
			}
		}
		rows[best].Best = true
	}
	return nil
}

// fittedRow is the row of the decoders that were fitted to the networks of one code and training.
func fittedRow(first *perceived.Observed, fitted []*fitdecoder.Result) NetworkRow {
	var errors []observed.Error
	name, reads := fitted[0].Decoder.About().Text(), fitted[0].Decoder.About().Reads
	for _, r := range fitted {
		errors = append(errors, r.Levels)
		if about := r.Decoder.About(); about.Text() != name || about.Reads != reads {
			name, reads = "the best fitted", ""
		}
	}
	mean, half := overSeeds(errors)
	return NetworkRow{
		Code: first.Code.Name(), Bits: first.Code.Bits(), Training: string(first.Training), Seeds: len(fitted), Decoder: name, Outputs: reads,
		Observed: mean, Interval: [2]float64{mean - half, mean + half}, Model: math.NaN(),
	}
}

// overSeeds is the mean error over networks, and half of its 95 % interval.
func overSeeds(errors []observed.Error) (mean, half float64) {
	n := float64(len(errors))
	for _, e := range errors {
		mean += e.Mean / n
	}
	if len(errors) == 1 {
		return mean, distuv.UnitNormal.Quantile((1+errmodel.Confidence)/2) * errors[0].StdErr
	}
	square := 0.0
	for _, e := range errors {
		square += (e.Mean - mean) * (e.Mean - mean)
	}
	t := distuv.StudentsT{Nu: n - 1, Sigma: 1}.Quantile((1 + errmodel.Confidence) / 2)
	return mean, t * math.Sqrt(square/(n-1)/n)
}

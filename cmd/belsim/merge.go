package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo/sweep"
	"belsim/plots"
	"belsim/theory/arrayfile"
)

type mergeCmd struct {
	Results     string   `arg:"" name:"results" help:"Folder of the results of a sweep."`
	ListMissing bool     `help:"Print the shards that lack something, as Slurm's --array= wants them, and end."`
	Shards      int      `placeholder:"N" help:"With --list-missing: of how many shards (default: as many as the files are of)."`
	Plan        string   `placeholder:"FILE" help:"Refuse results of another plan than this one."`
	Method      string   `enum:",bound,exact,mc" default:"" help:"Method that a figure shows (default: the first of the plan)."`
	Pair        []string `placeholder:"A,B" help:"The two that a figure compares, each CODE, CODE:DECODER or CODE:DECODER:LEVELS (default: those of a sweep that has but two)."`
	outputFlags
}

func (mergeCmd) Help() string {
	return `One row for each cell of the plan, in its order, from the files that 'belsim sweep' left in a folder. Sums are integers, and added by the cells' IDs: the numbers, and the bytes of the files, are the same however many shards there were. Files of another plan or version, edited or truncated ones are refused; what several files have is counted once.

Examples, after 'belsim sweep testdata/sweep/plan.json --out results':

  belsim merge results -o map.csv -o map.npz -o map.png

  belsim merge results --list-missing --shards 8`
}

// merged is what merge finds: its JSON. It does not say which command made it, for the
// same bytes come from any number of shards.
type merged struct {
	PlanID  string       `json:"plan_id"`
	Plan    sweep.Plan   `json:"plan"`
	Cells   []mergedCell `json:"cells"`
	Version string       `json:"version"`
}

// mergedCell is a cell: a row of the CSV.
type mergedCell struct {
	ID      string  `json:"id"`
	Code    string  `json:"code"`
	Decoder string  `json:"decoder"`
	Levels  int     `json:"levels"`
	Bits    int     `json:"bits"`
	Outputs string  `json:"outputs"`
	R       float64 `json:"r"`
	Sigma   float64 `json:"sigma"`
	Method  string  `json:"method"`
	Valid   bool    `json:"valid"`
	Mean    number  `json:"mean"`
	StdErr  number  `json:"stderr"`
	RMS     number  `json:"rms"`
	Within  number  `json:"within"`
	// What only samples have; nil elsewhere.
	WorstLevel *int         `json:"worst_level"`
	WorstMean  number       `json:"worst_mean"`
	Samples    *sweep.Total `json:"samples"`
	Abs        *sweep.Total `json:"sum_abs"`
	Square     *sweep.Total `json:"sum_square"`
	WithinSum  *sweep.Total `json:"sum_within"`
	Fraction   *uint8       `json:"fraction"`
	Reached    *bool        `json:"reached"` // nil without rel_err
}

// Run implements the command.
func (cmd *mergeCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput("csv", "json", "npz", "png", "svg", "pdf"); err != nil {
		return err
	}
	if cmd.Shards < 0 || cmd.Shards > 0 && !cmd.ListMissing {
		return fmt.Errorf("--shards %d: want 1 or more, with --list-missing", cmd.Shards)
	}
	var s *sweep.Sweep
	if cmd.Plan != "" {
		f, err := readPlan(cmd.Plan)
		if err != nil {
			return err
		}
		if s, _, _, err = f.open(ctx); err != nil {
			return err
		}
	}
	m, err := sweep.Merge(ctx, cmd.Results, s)
	if err != nil {
		return environmental(err)
	}
	if cmd.ListMissing {
		return cmd.listMissing(env, m)
	}
	if missing := m.Missing(); missing > 0 {
		return fmt.Errorf("%s: %d of %d %s are missing: 'belsim merge %s --list-missing' lists their shards", cmd.Results, missing, m.Pieces(), plural(m.Pieces(), "piece"), cmd.Results)
	}
	if err := cmd.write(func(w io.Writer, path string) error { return cmd.writeMerged(ctx, w, path, m) }); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, cmd.json(m))
	}
	invalid := 0
	for _, r := range m.Rows {
		if !r.Valid {
			invalid++
		}
	}
	_, err = fmt.Fprintf(env.stdout, "plan %.12s: %d cells, %d of them invalid, from %d %s\n", m.ID, m.Tasks(), invalid, m.Files, plural(m.Files, "file"))
	return outside(err)
}

// listMissing prints what is missing as 3,7-9; nothing where nothing is.
func (cmd *mergeCmd) listMissing(env *environment, m *sweep.Merged) error {
	n := cmd.Shards
	switch {
	case n == 0 && m.Shards == 0:
		return fmt.Errorf("%s: its files do not say of how many shards they are with one voice; want --shards N", cmd.Results)
	case n == 0:
		n = m.Shards
	}
	missing := m.MissingShards(n)
	var ranges []string
	for at := 0; at < len(missing); {
		end := at
		for end+1 < len(missing) && missing[end+1] == missing[end]+1 {
			end++
		}
		text := strconv.Itoa(missing[at])
		if end > at {
			text += "-" + strconv.Itoa(missing[end])
		}
		ranges = append(ranges, text)
		at = end + 1
	}
	if len(ranges) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(env.stdout, strings.Join(ranges, ","))
	return outside(err)
}

// cellOf is row t of the merged table.
func cellOf(m *sweep.Merged, t int) mergedCell {
	task, r := m.Task(t), &m.Rows[t]
	p := m.Pairs[task.Pair]
	c := mergedCell{
		ID: m.TaskID(t).String(), Code: p.Code, Decoder: p.Decoder, Levels: p.Levels, Bits: p.Bits, Outputs: p.Outputs,
		R: task.R, Sigma: task.Sigma, Method: task.Method, Valid: r.Valid,
		Mean: number(r.Mean), StdErr: number(r.StdErr), RMS: number(r.RMS), Within: number(r.Within), WorstMean: number(r.WorstMean),
	}
	if r.Valid && task.Method == sweep.Sample {
		c.WorstLevel, c.Samples, c.Abs, c.Square, c.WithinSum = &r.WorstLevel, &r.Samples, &r.Abs, &r.Square, &r.WithinSamples
		c.Fraction = &r.Fraction
		if m.RelErr > 0 {
			c.Reached = &r.Reached
		}
	}
	return c
}

// mergedColumns are those of the CSV and the arrays of the .npz.
var mergedColumns = []struct {
	name string
	of   func(c mergedCell) any // a string, number or *Total; a nil pointer where there is none
}{
	{"id", func(c mergedCell) any { return c.ID }},
	{"code", func(c mergedCell) any { return c.Code }},
	{"decoder", func(c mergedCell) any { return c.Decoder }},
	{"levels", func(c mergedCell) any { return &c.Levels }},
	{"bits", func(c mergedCell) any { return &c.Bits }},
	{"outputs", func(c mergedCell) any { return c.Outputs }},
	{"r", func(c mergedCell) any { return number(c.R) }},
	{"sigma", func(c mergedCell) any { return number(c.Sigma) }},
	{"method", func(c mergedCell) any { return c.Method }},
	{"valid", func(c mergedCell) any { return &c.Valid }},
	{"mean", func(c mergedCell) any { return c.Mean }},
	{"stderr", func(c mergedCell) any { return c.StdErr }},
	{"rms", func(c mergedCell) any { return c.RMS }},
	{"within", func(c mergedCell) any { return c.Within }},
	{"worst_level", func(c mergedCell) any { return c.WorstLevel }},
	{"worst_mean", func(c mergedCell) any { return c.WorstMean }},
	{"samples", func(c mergedCell) any { return c.Samples }},
	{"sum_abs", func(c mergedCell) any { return c.Abs }},
	{"sum_square", func(c mergedCell) any { return c.Square }},
	{"sum_within", func(c mergedCell) any { return c.WithinSum }},
	{"fraction", func(c mergedCell) any { return c.Fraction }},
	{"reached", func(c mergedCell) any { return c.Reached }},
}

// integer is the value of a column of integers, 0 where there is none; ok is false for
// other columns.
func integer(v any) (n sweep.Total, ok bool) {
	switch v := v.(type) {
	case *int:
		if v != nil {
			n.Lo = uint64(*v)
		}
	case *uint8:
		if v != nil {
			n.Lo = uint64(*v)
		}
	case *bool:
		if v != nil && *v {
			n.Lo = 1
		}
	case *sweep.Total:
		if v != nil {
			n = *v
		}
	default:
		return n, false
	}
	return n, true
}

// text is a value of a column in the CSV.
func text(v any) string {
	switch v := v.(type) {
	case *int:
		if v == nil {
			return ""
		}
	case *uint8:
		if v == nil {
			return ""
		}
	case *sweep.Total:
		if v == nil {
			return ""
		}
	case *bool:
		if v == nil {
			return ""
		}
		return strconv.FormatBool(*v)
	default:
		return fmt.Sprint(v)
	}
	n, _ := integer(v)
	return n.String()
}

func (cmd *mergeCmd) json(m *sweep.Merged) merged {
	out := merged{PlanID: m.ID, Plan: m.Sweep.Plan, Cells: make([]mergedCell, m.Tasks()), Version: version()}
	for t := range out.Cells {
		out.Cells[t] = cellOf(m, t)
	}
	return out
}

// writeMerged writes the table to a file.
func (cmd *mergeCmd) writeMerged(ctx context.Context, w io.Writer, path string, m *sweep.Merged) error {
	switch format(path) {
	case "json":
		return writeJSON(w, cmd.json(m))
	case "csv":
		return writeMergedCSV(ctx, w, m)
	case "npz":
		return writeMergedNPZ(ctx, w, m)
	}
	f, err := cmd.figure(m)
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}

func writeMergedCSV(ctx context.Context, w io.Writer, m *sweep.Merged) error {
	out := csv.NewWriter(w)
	record := make([]string, len(mergedColumns))
	for k, column := range mergedColumns {
		record[k] = column.name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for t := range m.Rows {
		if t%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := cellOf(m, t)
		for k, column := range mergedColumns {
			record[k] = text(column.of(c))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeMergedNPZ writes the columns of the CSV as arrays of one dimension each. Where a
// number does not exist it is NaN, or 0 in an array of integers.
func writeMergedNPZ(ctx context.Context, w io.Writer, m *sweep.Merged) error {
	n := m.Tasks()
	z := arrayfile.NewNPZWriter(w)
	for _, column := range mergedColumns {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := func(t int) any { return column.of(cellOf(m, t)) }
		var err error
		switch at(0).(type) {
		case string:
			err = z.Strings(column.name, n, func(t int) string { return at(t).(string) })
		case number:
			err = z.Floats(column.name, n, func(t int) float64 { return float64(at(t).(number)) })
		default:
			for t := range n {
				if v, _ := integer(at(t)); v.Hi > 0 {
					return fmt.Errorf("%s of cell %s is %s, which no integer of NumPy holds; a .csv or .json does", column.name, m.TaskID(t), v)
				}
			}
			err = z.Integers(column.name, n, func(t int) uint64 { v, _ := integer(at(t)); return v.Lo })
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// figure is the map of two codes, as heatmap draws it.
func (cmd *mergeCmd) figure(m *sweep.Merged) (*plots.Figure, error) {
	pair, err := cmd.pair(m)
	if err != nil {
		return nil, err
	}
	a, b := m.Pairs[pair[0]], m.Pairs[pair[1]]
	if a.Levels != b.Levels {
		return nil, fmt.Errorf("%s has %d levels, and %s has %d: a figure compares codes of as many; take .csv, .json or .npz", a.Code, a.Levels, b.Code, b.Levels)
	}
	if !m.R.Even || !m.Sigma.Even {
		return nil, errors.New("a figure needs r and sigma at even distances, or in even ratios; take .csv, .json or .npz")
	}
	method := cmd.Method
	if method == "" {
		method = a.Methods[0]
	}
	var z [2][][]float64
	for t := range m.Rows {
		task := m.Task(t)
		which := slices.Index(pair[:], task.Pair)
		if task.Method != method || which < 0 {
			continue
		}
		rows := &z[which]
		if len(*rows) == 0 || len((*rows)[len(*rows)-1]) == len(m.R.Values) {
			*rows = append(*rows, nil)
		}
		last := len(*rows) - 1
		value := math.NaN()
		if m.Rows[t].Valid {
			value = m.Rows[t].Mean
		}
		(*rows)[last] = append((*rows)[last], value)
	}
	if len(z[0]) == 0 || len(z[1]) == 0 {
		return nil, fmt.Errorf("a figure of method %s: this sweep does not have it for both codes", method)
	}
	for y, row := range z[0] {
		for x := range row {
			if b := z[1][y][x]; b > 0 {
				row[x] = 100 * (row[x]/b - 1)
			} else {
				row[x] = math.NaN()
			}
		}
	}
	return increaseMap(plots.HeatmapData{
		Title: fmt.Sprintf("A = %s (%s), B = %s (%s): %s, %d levels", a.Code, a.Decoder, b.Code, b.Decoder, methodText(method), a.Levels),
		X:     m.R.Values, Y: m.Sigma.Values, XLog: m.R.Log, YLog: m.Sigma.Log, Z: z[0], Size: cmd.size(),
	})
}

// pair is the two codes, with their decoders and levels, that a figure compares.
func (cmd *mergeCmd) pair(m *sweep.Merged) ([2]int, error) {
	if len(cmd.Pair) == 0 && len(m.Pairs) == 2 {
		return [2]int{0, 1}, nil
	}
	if len(cmd.Pair) != 2 {
		return [2]int{}, fmt.Errorf("a figure compares two codes, and this sweep has %d, counted with their decoders and levels; want --pair A,B, or .csv, .json or .npz", len(m.Pairs))
	}
	var out [2]int
	for i, name := range cmd.Pair {
		var fits []string
		for k, p := range m.Pairs {
			full := fmt.Sprintf("%s:%s:%d", p.Code, p.Decoder, p.Levels)
			if full == name || strings.HasPrefix(full, name+":") {
				out[i] = k
				fits = append(fits, full)
			}
		}
		if len(fits) == 0 {
			return out, fmt.Errorf("--pair %s: this sweep has no such code; its first is %s:%s:%d", name, m.Pairs[0].Code, m.Pairs[0].Decoder, m.Pairs[0].Levels)
		}
		if len(fits) > 1 {
			return out, fmt.Errorf("--pair %s: is it %s?", name, strings.Join(fits, " or "))
		}
	}
	if out[0] == out[1] {
		return out, fmt.Errorf("--pair %s,%s: want two that differ", cmd.Pair[0], cmd.Pair[1])
	}
	return out, nil
}

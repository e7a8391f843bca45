package assess

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/code"
)

// Other names the outputs of another network, for the same targets.
type Other struct {
	Code     string             // a NAME or a FILE
	Outputs  string             // as Options.Outputs
	Training perceived.Training // "" where the outputs are to show it
	Line     string             // of the table that names it; "" without one
}

// at names the line of the table in an error about the network.
func (o Other) at(err error) error {
	if err == nil || o.Line == "" {
		return err
	}
	return fmt.Errorf("%s: %w", o.Line, err)
}

// ParseOther reads CODE:OUTPUTS. A file of a code may have colons in its path.
func ParseOther(text string) (Other, error) {
	name, outputs, found := strings.Cut(text, ":")
	for at := range text {
		if info, err := os.Stat(text[:at]); text[at] == ':' && err == nil && info.Mode().IsRegular() {
			name, outputs = text[:at], text[at+1:]
			break
		}
	}
	if !found || name == "" || outputs == "" {
		return Other{}, fmt.Errorf("%q: want CODE:OUTPUTS", text)
	}
	return Other{Code: name, Outputs: outputs}, nil
}

// ReadRuns reads a table of networks: a CSV file with the columns code, loss (BCE, CE, soft, L1 or
// L2), seed and outputs. The seed may be any text; it is for people. Paths are relative to the
// file. A column that occurs twice is refused. Errors name the file and the line.
func ReadRuns(path string) ([]Other, error) {
	const largest = 16 << 20 // of a table, in bytes
	text, err := inputfile.Read(path, largest)
	if err != nil {
		return nil, fmt.Errorf("reading runs: %w", err)
	}
	// some spreadsheets write this mark
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
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
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0) // the reader skips empty lines, and a field may have several
		o := Other{Code: row[at[0]], Outputs: row[at[3]], Training: perceived.Training(strings.ToLower(row[at[1]])),
			Line: fmt.Sprintf("%s: line %d", path, line)}
		if h := forecast.LookupHead(o.Code); h.Name != "" {
			o.Training = h.Training
		} else if !slices.Contains(perceived.Trainings(), o.Training) {
			return nil, fmt.Errorf("%s, column loss: %q; want BCE, CE, soft, L1 or L2", o.Line, row[at[1]])
		}
		if o.Code == "" || o.Outputs == "" {
			return nil, o.at(errors.New("a code and its outputs are needed"))
		}
		o.Outputs = relativeTo(filepath.Dir(path), o.Outputs)
		if code.IsFile(o.Code) {
			name, file := code.SplitName(o.Code)
			if o.Code = relativeTo(filepath.Dir(path), file); name != "" {
				o.Code = name + "=" + o.Code
			}
		}
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no networks; want a row for each", path)
	}
	// The first row says whose head is forecast from. Otherwise the order of rows changes nothing.
	first := out[0]
	key := func(o Other) string {
		text := strings.Join([]string{o.Code, string(o.Training), o.Outputs}, "\x00")
		return when(o.Code == first.Code && o.Training == first.Training, "\x00") + text
	}
	slices.SortStableFunc(out, func(a, b Other) int { return cmp.Compare(key(a), key(b)) })
	return out, nil
}

// CheckDistinct refuses networks with the same outputs, which would count as two. first are the
// outputs of the network that the others stand beside.
func CheckDistinct(first string, others []Other) error {
	all := []string{first}
	for _, o := range others {
		if i := slices.IndexFunc(all, func(before string) bool { return sameArray(before, o.Outputs) }); i >= 0 {
			return o.at(fmt.Errorf("%s and %s: the same outputs are given twice; want each once", all[i], o.Outputs))
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
	return inputfile.Same(fileA, fileB) && (arrayA == arrayB || arrayA == "" || arrayB == "")
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

// openAll opens a network, and the others for the same targets.
func openAll(ctx context.Context, o Options) (own *network, others []*network, err error) {
	if own, err = openNetwork(ctx, o); err != nil {
		return nil, nil, err
	}
	for _, x := range o.Others {
		o := own.options
		o.Code, o.Outputs, o.Training, o.Baseline = x.Code, x.Outputs, x.Training, Baseline{}
		o.Levels = cmp.Or(o.Levels, own.code.Levels())
		n, err := openNetwork(ctx, o)
		if err == nil && n.code.Real() {
			others = append(others, n)
			err = fmt.Errorf("%s: the perceived-label model has no codes of real numbers", x.Code)
		}
		if err != nil {
			return nil, nil, errors.Join(x.at(err), closeAll(own, others))
		}
		others = append(others, n)
	}
	return own, others, nil
}

// closeAll closes the files of networks.
func closeAll(own *network, others []*network) error {
	err := own.Close()
	for _, n := range others {
		err = errors.Join(err, n.Close())
	}
	return err
}

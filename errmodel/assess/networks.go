package assess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
)

// Other names the outputs of another network, for the same targets.
type Other struct {
	Code    string // a NAME or a FILE
	Outputs string // as Options.Outputs
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

// CheckDistinct refuses networks with the same outputs, which would count as two. first are the
// outputs of the network that the others stand beside.
func CheckDistinct(first string, others []Other) error {
	all := []string{first}
	for _, o := range others {
		if i := slices.IndexFunc(all, func(before string) bool { return sameArray(before, o.Outputs) }); i >= 0 {
			return fmt.Errorf("%s and %s: the same outputs are given twice; want each once", all[i], o.Outputs)
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

// openAll opens a network, and behind it the others for the same targets.
func openAll(ctx context.Context, o Options) ([]*network, error) {
	own, err := openNetwork(ctx, o)
	if err != nil {
		return nil, err
	}
	all := []*network{own}
	for _, x := range o.Others {
		o := own.options
		if x.Code != o.Code { // its outputs are to show what it was trained for
			o.Training = ""
		}
		o.Code, o.Outputs, o.Baseline, o.Levels = x.Code, x.Outputs, Baseline{}, own.code.Levels()
		n, err := openNetwork(ctx, o)
		if err == nil {
			if all = append(all, n); n.code.Real() {
				err = fmt.Errorf("%s: the perceived-label model has no codes of real numbers", x.Code)
			}
		}
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
	}
	return all, nil
}

// closeAll closes the files of networks.
func closeAll(all []*network) (err error) {
	for _, n := range all {
		err = errors.Join(err, n.Close())
	}
	return err
}

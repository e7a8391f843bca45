package evidence

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/code"
)

// head is a head of heads.csv: what it is trained with, its code, the σ of soft targets in levels, and what reads it.
type head struct{ loss, code, sigma, read string }

// l1 is direct regression, which the others stand beside, and alone that of direct.csv, whose tasks have no other heads.
var l1, alone = head{"l1", "", "", "direct"}, head{loss: "direct"}

// loadHeads adds networks of heads.csv: direct regression, and codes with soft targets of forecast.SoftSigma. Their errors are those of
// observed.csv after CE, of unary and of the same code, times the ratio of the two heads of heads.csv, whose trunks, budgets and choice of the
// learning rate are the same. So all networks of a task stand beside each other. Where heads.csv has no regression of a task, direct.csv has.
func (s *Set) loadHeads(folder string) error {
	seen := map[Task]map[head]map[int]observed.Error{} // by seed
	put := func(t Task, h head, r *row) {
		if seen[t] == nil {
			seen[t] = map[head]map[int]observed.Error{}
		}
		if seen[t][h] == nil {
			seen[t][h] = map[int]observed.Error{}
		}
		seen[t][h][r.whole("seed")] = observed.Error{Mean: r.number("error"), StdErr: r.number("error_stderr")}
	}
	err := rows(filepath.Join(folder, "direct.csv"), func(r *row) {
		put(Task{r.cells["data"], r.cells["architecture"], r.whole("levels")}, alone, r)
	})
	if err != nil {
		return err
	}
	err = rows(filepath.Join(folder, "..", "heads", "heads.csv"), func(r *row) {
		part := strings.Split(r.cells["task"], "/")
		put(Task{part[0], part[1], 64}, head{r.cells["head"], r.cells["code"], r.cells["sigma"], r.cells["read"]}, r)
	})
	if err != nil {
		return err
	}
	for _, t := range s.Tasks() {
		samples := s.Networks[slices.IndexFunc(s.Networks, func(n Network) bool { return n.Task == t })].Samples
		// add adds the networks of a head, whose errors are multiplied.
		add := func(n Network, r Reading, of head, times func(seed int) float64) {
			for _, seed := range slices.Sorted(maps.Keys(seen[t][of])) {
				e, k := seen[t][of][seed], times(seed)
				if !(k > 0) || math.IsInf(k, 0) { // the other head has no such seed
					continue
				}
				n.Task, n.Seed, n.Samples, n.Errors = t, seed, samples, map[Reading]observed.Error{r: {Mean: k * e.Mean, StdErr: k * e.StdErr}}
				if n.Code == forecast.Direct {
					n.Wrong = map[int]float64{1: k * e.Mean / float64(t.Levels-1)}
				}
				s.Networks = append(s.Networks, n)
			}
		}
		for _, name := range s.Codes(t) {
			base := stat.Mean(s.errors(t, name, perceived.CE, GenEx), nil)
			beside := func(seed int) float64 { return base / seen[t][head{"ce", name, "", "mean"}][seed].Mean }
			add(Network{Code: name, Training: perceived.Soft}, GenEx, head{"soft", name, fmt.Sprint(forecast.SoftSigma), "mean"}, beside)
			if name != "unary" {
				continue
			}
			direct := Network{Code: forecast.Direct, Training: perceived.BCE}
			if add(direct, GenBits, l1, beside); seen[t][l1] == nil {
				add(direct, GenBits, alone, func(int) float64 { return 1 })
			}
		}
	}
	return nil
}

// codeOf is a code by its name, or unary under that of direct regression.
func codeOf(name string, levels int) (*code.Code, error) {
	if name != forecast.Direct {
		return code.New(name, levels)
	}
	c, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	return c.As(name), nil
}

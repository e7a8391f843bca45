package evidence

import (
	"fmt"
	"maps"
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

// l1 is direct regression, to which the others are ratios.
var l1 = head{"l1", "", "", "direct"}

// loadHeads adds networks of heads.csv: direct regression, and codes with soft targets of forecast.SoftSigma. Their errors are those of
// observed.csv after CE, of unary and of the same code, times the ratio of the two heads of heads.csv, whose trunks, budgets and choice of the
// learning rate are the same. So all networks of a task stand beside each other. Where heads.csv has no regression of a task, direct.csv has.
func (s *Set) loadHeads(folder string) error {
	ratios := map[Task]map[head]map[int]float64{} // by seed
	predicted := map[Task]map[int]float64{}       // by seed, of direct.csv
	err := rows(filepath.Join(folder, "direct.csv"), func(r *row) {
		t := Task{r.cells["data"], r.cells["architecture"], r.whole("levels")}
		if predicted[t] == nil {
			predicted[t] = map[int]float64{}
		}
		predicted[t][r.whole("seed")] = r.number("error")
	})
	if err != nil {
		return err
	}
	err = rows(filepath.Join(folder, "..", "heads", "heads.csv"), func(r *row) {
		part := strings.Split(r.cells["task"], "/")
		t := Task{part[0], part[1], 64}
		h := head{r.cells["head"], r.cells["code"], r.cells["sigma"], r.cells["read"]}
		if ratios[t] == nil {
			ratios[t] = map[head]map[int]float64{}
		}
		if ratios[t][h] == nil {
			ratios[t][h] = map[int]float64{}
		}
		ratios[t][h][r.whole("seed")] = r.number("ratio")
	})
	if err != nil {
		return err
	}
	for _, t := range s.Tasks() {
		network := func(n Network, r Reading, e float64) {
			n.Task, n.Samples, n.Errors = t, 5000, map[Reading]observed.Error{r: {Mean: e, StdErr: 0.01 * e}}
			if n.Code == forecast.Direct {
				n.Wrong = map[int]float64{1: e / float64(t.Levels-1)}
			}
			s.Networks = append(s.Networks, n)
		}
		add := func(of, than head, n Network, r Reading, base []float64) {
			for _, seed := range slices.Sorted(maps.Keys(ratios[t][of])) {
				if beside := ratios[t][than][seed]; beside > 0 && len(base) > 0 {
					n.Seed = seed
					network(n, r, stat.Mean(base, nil)*ratios[t][of][seed]/beside)
				}
			}
		}
		for _, name := range s.Codes(t) {
			ce := head{"ce", name, "", "mean"}
			soft := head{"soft", name, fmt.Sprint(forecast.SoftSigma), "mean"}
			base := s.errors(t, name, perceived.CE, GenEx)
			add(soft, ce, Network{Code: name, Training: perceived.Soft}, GenEx, base)
			if name == "unary" {
				add(l1, ce, Network{Code: forecast.Direct, Training: perceived.BCE}, GenBits, base)
				for _, seed := range slices.Sorted(maps.Keys(predicted[t])) {
					if len(ratios[t]) == 0 {
						network(Network{Code: forecast.Direct, Training: perceived.BCE, Seed: seed}, GenBits, predicted[t][seed])
					}
				}
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

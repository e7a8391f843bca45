package compare_test

import (
	"bytes"
	"strings"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

var networks = scenario.Perceived{Model: perceived.Model{Noise: 1.4, Misfit: 0.25, Training: perceived.BCE}}

// compared compares codes of 32 levels, read by gen, with few samples.
func compared(t *testing.T, m scenario.Model, names ...string) (*scenario.Scenario, *compare.Ranking) {
	t.Helper()
	s := &scenario.Scenario{Model: m, Decoders: decode.Builtin(), Outputs: scenario.AutoOutputs}
	var codes []*code.Code
	for _, name := range names {
		codes = append(codes, must.Get(code.New(name, 32))(t))
	}
	draw := scenario.Sampling{Samples: 500, Seed: 1, Within: 5}
	candidates := must.Get(compare.NewCandidates(t.Context(), s, codes, []string{"gen"}, draw))(t)
	return s, must.Get(compare.Rank(t.Context(), s, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw))(t)
}

// TestInvalidCode: a code for which the model is invalid has a row of its own, the last one, and
// others are compared. Where all are invalid, that is an error.
func TestInvalidCode(t *testing.T) {
	m := scenario.Mixture{R: 2, Sigma: 1}
	_, c := compared(t, m, "onehot", "unary", "gray")
	if len(c.Results) != 3 || c.Results[0].Code != "unary" || c.Results[0].Invalid != "" {
		t.Fatalf("results %+v; want unary and gray, then one that is invalid", c.Results)
	}
	for _, r := range c.Results[2:] {
		if !strings.Contains(r.Invalid, "a probability is at most 1") || !table.Missing(r.Mean) || r.Tie {
			t.Errorf("%+v: want a reason, and no numbers", r)
		}
	}
	if v := c.Valid(); len(v.Results) != 2 || len(c.Results) != 3 {
		t.Errorf("%d valid of %d; want 2 of 3", len(v.Results), len(c.Results))
	}
	var text, other bytes.Buffer
	must.Succeed(t, c.Table().Write(&text))
	must.Succeed(t, c.DecoderTable(decode.Builtin()).Write(&other))
	for _, got := range []string{text.String(), other.String()} {
		if strings.Count(got, "invalid: e > 1") != 1 || strings.Contains(got, "NaN") {
			t.Errorf("want an invalid row:\n%s", got)
		}
	}
	b, err := table.JSON(c.Results[2])
	if err != nil || !strings.Contains(string(b), `"mean":null`) || !strings.Contains(string(b), `"invalid":"`) {
		t.Errorf("%s, %v; want null and the reason", b, err)
	}
	s := &scenario.Scenario{Model: m, Decoders: decode.Builtin()}
	if _, err := compare.NewCandidates(t.Context(), s, []*code.Code{must.Get(code.New("onehot", 32))(t)}, []string{"gen"},
		scenario.FixedSampling()); !scenario.Invalid(err) {
		t.Errorf("error %v; want that the model is invalid", err)
	}
}

// TestMarks: transitions, ties and the worst level, and the words that say what they mean.
func TestMarks(t *testing.T) {
	s, c := compared(t, scenario.Mixture{R: 0.5, Sigma: 1.5}, "unary", "johnson", "hadamard", "hexj")
	rows := map[string]compare.Result{}
	for _, r := range c.Results {
		rows[r.Code] = r
	}
	if got := rows["hadamard"].Transitions; got != 15.5 {
		t.Errorf("hadamard of 32 levels: %v transitions a bit, want 15.5", got)
	}
	if unary, johnson := rows["unary"], rows["johnson"]; unary.Tie == johnson.Tie || rows["hexj"].Tie {
		t.Errorf("ties: unary %v, johnson %v, hexj %v; unary and johnson are alike, one is first", unary.Tie,
			johnson.Tie, rows["hexj"].Tie)
	}
	if r := rows["hexj"]; r.WorstErr != 0 || r.WorstMean < r.Exact {
		t.Errorf("hexj: worst level %d, %v ± %v; want an exact value above the mean %v", r.WorstLevel, r.WorstMean,
			r.WorstErr, r.Exact)
	}
	if r := rows["hadamard"]; r.WorstErr <= 0 {
		t.Errorf("hadamard: standard error %v of the worst level; want a positive one", r.WorstErr)
	}
	var text bytes.Buffer
	must.Succeed(t, c.Table().Write(&text))
	if got := text.String(); !strings.Contains(got, "! 15.5") || strings.Count(got, "!") != 1 ||
		strings.Count(got, "~") != 1 {
		t.Errorf("want one mark of each kind:\n%s", got)
	}
	if got := c.Heading(s); !strings.Contains(got, "\nmodel: bits err independently") {
		t.Errorf("heading %q", got)
	}
	for _, want := range []string{"! Networks", "hadamard has 15.5", "~ Not told"} {
		if got := c.Notes(); !strings.Contains(got, want) {
			t.Errorf("notes lack %q:\n%s", want, got)
		}
	}
	if _, c = compared(t, networks, "unary", "hadamard"); strings.Contains(c.Notes(), "!") {
		t.Errorf("networks that learn as they can need no warning:\n%s", c.Notes())
	}
}

// TestTransposed: a comparison notes once of each file with more bits than levels that it may be
// transposed, whatever the number of decoders; of no named code and of no other file.
func TestTransposed(t *testing.T) {
	standard := inputfile.Name(inputfile.Standard)
	c := compare.Ranking{Levels: 4}
	for _, decoder := range []string{"gen", "bel-j"} {
		for name, bits := range map[string]int{"bits.csv": 5, standard: 5, "johnson": 5, "square.npy": 4} {
			c.Results = append(c.Results, compare.Result{Design: scenario.Design{
				Code: name, Bits: bits, Decoder: decoder}})
		}
	}
	notes := strings.Join(strings.Fields(c.Notes()), " ")
	for name, want := range map[string]int{"bits.csv": 1, standard: 1, "johnson": 0, "square.npy": 0} {
		if got := strings.Count(notes, name+" has more bits"); got != want {
			t.Errorf("%s: %d notes, want %d: %s", name, got, want, notes)
		}
	}
}

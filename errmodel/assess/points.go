package assess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Points is the error of points, such as landmarks, of which the outputs of a network are the
// coordinates: x and y in turn.
type Points struct {
	// mean Euclidean distance of the answer from the target, with the best decoder of each output,
	// in the unit of the targets
	Error float64 `json:"error"`
	// its standard error: over the samples, each with the mean of its points
	StdErr float64 `json:"stderr"`
	// points of a sample, half as many as outputs
	Count int `json:"count"`
}

// pointsPrefix stands before the file of Options.Targets where outputs are the coordinates of
// points.
const pointsPrefix = "points:"

// points reports whether the outputs are the coordinates of points.
func (o Options) points() bool { return strings.HasPrefix(o.Targets, pointsPrefix) }

// MeasurePoints adds the error of points, from the reports of NewSeveral, where the targets are
// called so. It reads the samples again. Errors name the file and the place, or are the context's.
func (s *Several) MeasurePoints(ctx context.Context, reports []*Report, workers int, progress Progress) (err error) {
	if !reports[0].network.options.points() {
		return nil
	}
	var outputs []observed.Coordinate
	for i, r := range reports {
		best, o := bestDecoder(r.Fit.Decoders), r.network.options
		if best < 0 {
			return fmt.Errorf("output %s: no decoder fits the code, so it is no coordinate of a point", position.At(i+1))
		}
		o.Baseline = Baseline{}
		n, openErr := openNetwork(ctx, o)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, n.Close()) }()
		outputs = append(outputs, observed.Coordinate{Source: n.source, Code: n.code,
			Decoding: r.network.decodings[best]})
	}
	done, end := progress.begin("samples of points read", reports[0].Fit.Samples)
	defer end()
	found, err := observed.Distance(ctx, workers, outputs, done)
	if err != nil {
		return err
	}
	s.Points = &Points{found.Mean, found.StdErr, len(reports) / 2}
	of := fmt.Sprintf("over %d points", s.Points.Count)
	if s.Points.Count == 1 {
		of = "of the point"
	}
	s.Verdict = slices.Insert(s.Verdict, 1, fmt.Sprintf("The mean Euclidean error %s is %s%s.", of,
		table.PlusMinus(s.Points.Error, s.Points.StdErr), reports[0].Fit.unit()))
	return nil
}

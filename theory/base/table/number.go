package table

import (
	"fmt"
	"math"
	"strconv"
)

// Missing reports whether a number does not exist: it is NaN or infinite. Such a number is null in
// JSON, empty in CSV and a dash in tables for people.
func Missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Short is for people: four significant digits, or a dash where the number does not
// exist.
func Short(v float64) string {
	if Missing(v) {
		return dash
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// dash is printed for a value that does not exist.
const dash = "–"

// PlusMinus is a mean with its standard error, such as 1.082 ± 0.002.
func PlusMinus(mean, stderr float64) string {
	if Missing(stderr) {
		return Short(mean) + " ± " + dash
	}
	return fmt.Sprintf("%s ± %.1g", Short(mean), stderr)
}

// Sampled is the mean size of the errors of some samples, which is certain where its standard error
// is 0. Where no sample erred, how many there were tells more than a mean of 0 would: none in 400.
func Sampled(mean, stderr float64, samples uint64) string {
	if mean == 0 && stderr != 0 {
		return fmt.Sprintf("none in %d", samples)
	}
	return Short(mean)
}

// SampledPlusMinus is Sampled with the standard error, where there is one.
func SampledPlusMinus(mean, stderr float64, samples uint64) string {
	if mean == 0 || stderr == 0 {
		return Sampled(mean, stderr, samples)
	}
	return PlusMinus(mean, stderr)
}

// SampledRoot is Short of a root of a mean of squares, with the standard error of the mean that
// Sampled prints: it is not known where no sample erred.
func SampledRoot(root, stderr float64) string {
	if root == 0 && stderr != 0 {
		return dash
	}
	return Short(root)
}

// Metric writes a rate with three digits and a prefix.
func Metric(rate float64) string {
	if Missing(rate) {
		return dash
	}
	for _, p := range []struct {
		unit float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if rate >= p.unit {
			return fmt.Sprintf("%.3g%s", rate/p.unit, p.name)
		}
	}
	return fmt.Sprintf("%.3g", rate)
}

package theory_test

import (
	"context"
	"testing"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/must"
)

// BenchmarkHeatmapCell is the work of one cell of the default heatmap, per
// code: what 200 × 200 cells of bounds and 100 × 100 of exact values are made
// of.
func BenchmarkHeatmapCell(b *testing.B) {
	for _, bb := range []struct {
		name     string
		r, sigma float64
	}{{"r=2/σ=5", 2, 5}, {"r=40/σ=50", 40, 50}, {"r=100/σ=90", 100, 90}} {
		for _, name := range []string{"unary", "johnson-nonzero"} {
			c := mustCode(b, name, 255)
			d := mustDecoder(b, "auto", c)
			e := must.Get(errmodel.NewMixture(context.Background(), c, bb.r, bb.sigma))(b)
			prior := theory.Uniform(255)
			b.Run("bound/"+name+"/"+bb.name, func(b *testing.B) {
				bound, row := must.Get(theory.NewBound(c, d))(b), []float64(nil)
				for b.Loop() {
					must.Get(theory.Mean(b.Context(), prior, func(ctx context.Context, i int) (float64, error) {
						row = matrix.Row(row, i, e)
						return bound.Row(ctx, i, row)
					}))(b)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cells/s")
			})
			b.Run("exact/"+name+"/"+bb.name, func(b *testing.B) {
				exact := must.Get(theory.NewExact(b.Context(), c, d))(b)
				for b.Loop() {
					must.Get(exact.Mean(b.Context(), prior, e))(b)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cells/s")
			})
		}
	}
}

// BenchmarkOutcomes is the exact values of a cell without a formula, and what goes before the first one.
func BenchmarkOutcomes(b *testing.B) {
	for _, bb := range []struct{ code, decoder string }{{"hexj", "gen"}, {"b1jdj", "gen"}, {"b1jdj", "gen-ex"}} {
		c := mustCode(b, bb.code, 64)
		d := mustDecoder(b, bb.decoder, c)
		e := must.Get(errmodel.NewMixture(context.Background(), c, 1, 2))(b)
		b.Run("first/"+bb.code+"/"+bb.decoder, func(b *testing.B) {
			for b.Loop() {
				must.Get(theory.NewExact(b.Context(), c, d))(b)
			}
		})
		b.Run("cell/"+bb.code+"/"+bb.decoder, func(b *testing.B) {
			exact := must.Get(theory.NewExact(b.Context(), c, d))(b)
			for b.Loop() {
				must.Get(exact.Mean(b.Context(), theory.Uniform(64), e))(b)
			}
		})
	}
}

// BenchmarkUnionBound is the union bound of all labels: most of the pairs of words matter little.
func BenchmarkUnionBound(b *testing.B) {
	for _, name := range []string{"johnson", "hexj"} {
		c := mustCode(b, name, 256)
		d := mustDecoder(b, "gen", c)
		e := must.Get(errmodel.NewMixture(context.Background(), c, 2, 3))(b)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must.Get(theory.Bounds(context.Background(), 1, c, d, e))(b)
			}
		})
	}
}

// BenchmarkLarge is the bound and the exact value of all labels of a large code,
// on all cores.
func BenchmarkLarge(b *testing.B) {
	for _, name := range []string{"unary", "johnson-nonzero"} {
		b.Run(name, func(b *testing.B) {
			c := mustCode(b, name, 4096)
			d := mustDecoder(b, "auto", c)
			e := must.Get(errmodel.NewMixture(context.Background(), c, 2, 5))(b)
			b.ReportAllocs()
			for b.Loop() {
				must.Get(theory.Bounds(context.Background(), 0, c, d, e))(b)
				must.Get(theory.ExactMoments(context.Background(), 0, c, d, e))(b)
			}
		})
	}
}

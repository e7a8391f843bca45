//go:build !purego

package fitdecoder

import "golang.org/x/sys/cpu"

// scoresAVX2 is scoresGeneric for so many blocks of levels and so many features, at least one of
// each. stride is the length of a row of weights in bytes.
//
//go:noescape
func scoresAVX2(dst, weights, features *float64, blocks, width, stride int)

func addScores(dst, weights, features []float64) {
	if !cpu.X86.HasAVX2 {
		scoresGeneric(dst, weights, features)
		return
	}
	scoresAVX2(&dst[0], &weights[0], &features[0], len(dst)/block, len(features), 8*len(dst))
}

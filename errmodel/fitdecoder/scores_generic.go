//go:build !amd64 || purego

package fitdecoder

func addScores(dst, weights, features []float64) { scoresGeneric(dst, weights, features) }

package fitdecoder

// block is how many levels the routine for AVX2 takes together.
const block = 32

// padded is the number of levels with room for a whole number of blocks.
func padded(levels int) int { return (levels + block - 1) / block * block }

// scoresGeneric adds Σ_k features[k]·weights[k,n] to dst[n], for weights of len(features) rows as
// long as dst. It adds in the order of k, and rounds every product, so that all processors give the
// same.
func scoresGeneric(dst, weights, features []float64) {
	for k, f := range features {
		row := weights[k*len(dst):][:len(dst)]
		for n, w := range row {
			dst[n] += float64(f * w)
		}
	}
}

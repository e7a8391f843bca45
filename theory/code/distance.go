package code

// Distances sets dst, of length L, to the Hamming distances of all rows from row i.
func (c *Code) Distances(dst []int32, i int) {
	for n := range dst {
		dst[n] = int32(c.Distance(i, n))
	}
}

// OrderByDistance sorts the numbers 0 … n−1 of n things, such as the rows of a code, by their
// distances: order, of length n, lists them; numbers of the same distance are in ascending
// order. reach[d] becomes the number of things at a distance of at most d; its length is at
// least two more than the largest distance. The sort counts, and costs O(n + len(reach)).
func OrderByDistance[O ~uint16 | ~int32, R ~uint32 | ~int32](order []O, reach []R, distances []int32) {
	clear(reach)
	for _, d := range distances {
		reach[d+1]++
	}
	for d := 1; d < len(reach); d++ {
		reach[d] += reach[d-1]
	}
	// Now reach[d] is how many are nearer than d: the place of the next at d.
	for i, d := range distances {
		order[reach[d]] = O(i)
		reach[d]++
	}
}

// NearestRows returns the row of the word that is nearest to each of the 2^M outputs of M bits, the first of
// several, for words of M ≤ 20 bits. The distance and the row of each output are the smallest of its own and
// of those that a bit leads to, bit by bit: O(M·2^M).
func NearestRows(words []uint64, bits int) []uint32 {
	const far, row = 1 << 16, 1<<16 - 1 // a bit of distance counts as much; rows are below
	out := make([]uint32, 1<<bits)
	for w := range out {
		out[w] = uint32(bits+1) * far
	}
	for i, word := range words {
		out[word] = min(out[word], uint32(i))
	}
	for half := 1; half < len(out); half *= 2 {
		for from := 0; from < len(out); from += 2 * half {
			zeros, ones := out[from:from+half], out[from+half:from+2*half]
			for w, a := range zeros {
				b := ones[w]
				zeros[w], ones[w] = min(a, b+far), min(b, a+far)
			}
		}
	}
	for w := range out {
		out[w] &= row
	}
	return out
}

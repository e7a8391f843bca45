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

package philox

// Fill writes the calls c, c+1, … (in element 0, wrapping) to dst, two words of 64
// bits a call: outputs 0 and 1, then 2 and 3, the first of each pair in the low half.
// len(dst) is even.
func Fill(dst []uint64, keys *Keys, c Counter) { fill(dst, keys, c) }

// fillGeneric is Fill in Go.
func fillGeneric(dst []uint64, keys *Keys, c Counter) {
	for i := 0; i+1 < len(dst); i += 2 {
		x := Call(keys, c)
		dst[i] = uint64(x[0]) | uint64(x[1])<<32
		dst[i+1] = uint64(x[2]) | uint64(x[3])<<32
		c[0]++
	}
}

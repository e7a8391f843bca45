package decode

import "math"

// powers are 2^(j/64), each the nearest double.
var powers = [64]float64{
	1.0, 1.0108892860517005, 1.0218971486541166, 1.0330248790212284,
	1.0442737824274138, 1.0556451783605572, 1.0671404006768237, 1.0787607977571199,
	1.0905077326652577, 1.102382583307841, 1.1143867425958924, 1.1265216186082418,
	1.1387886347566916, 1.1511892299529827, 1.1637248587775775, 1.1763969916502812,
	1.189207115002721, 1.202156731452703, 1.215247359980469, 1.22848053610687,
	1.241857812073484, 1.255380757024691, 1.2690509571917332, 1.2828700160787783,
	1.2968395546510096, 1.3109612115247644, 1.3252366431597413, 1.339667524053303,
	1.3542555469368927, 1.3690024229745905, 1.383909881963832, 1.3989796725383112,
	1.4142135623730951, 1.42961333839197, 1.4451808069770467, 1.460917794180647,
	1.4768261459394993, 1.4929077282912648, 1.5091644275934228, 1.5255981507445384,
	1.5422108254079407, 1.559004400237837, 1.5759808451078865, 1.593142151342267,
	1.6104903319492543, 1.6280274218573478, 1.645755478153965, 1.6636765803267364,
	1.681792830507429, 1.7001063537185235, 1.718619298122478, 1.7373338352737062,
	1.7562521603732995, 1.7753764925265212, 1.7947090750031072, 1.8142521755003989,
	1.8340080864093424, 1.8539791250833855, 1.8741676341103, 1.8945759815869656,
	1.9152065613971474, 1.9360617934922943, 1.9571441241754002, 1.978456026387951,
}

// Exp is e^x for |x| ≤ 80, within 2 units in the last place and the same on every machine. Below −80, where e^x
// is less than 2·10⁻³⁵, it is 0, as for what is not a number. math.Exp takes two or three times as long, and differs
// between processors.
//
// With k the whole number nearest to x·64/ln 2, e^x = 2^(k/64)·e^r for r = x − k·ln 2/64, of which |r| < 0.00542.
// ln 2/64 is the sum of high, of 39 bits, and low. As |k| < 2^13, k·high is exact, and so is x − k·high, in which
// leading bits cancel, so that r has an error below 2^−61. The terms of e^r that are left out are below r⁶/720 <
// 2^−54.6. Their share of the result is at most 0.34 units in its last place, those of the table and of the last
// sum are half a unit each, and all other roundings are below 0.01. Conversions to float64 keep compilers
// from fusing products with sums.
func Exp(x float64) float64 {
	const (
		high  = 0x1.62e42fefa0000p-7
		low   = 0x1.cf79abc9e3b3ap-46
		whole = 3 << 51 // numbers beside it are whole: its last bits are those of k
	)
	if !(x >= -80) {
		return 0
	}
	shifted := float64(x*(64/math.Ln2)) + whole
	k := shifted - whole
	r := (x - float64(k*high)) - float64(k*low)
	square := float64(r * r)
	more := (0.5 + float64(r*(1.0/6))) + float64(square*((1.0/24)+float64(r*(1.0/120)))) // (e^r − 1 − r)/r²
	bits := int64(math.Float64bits(shifted)) - int64(math.Float64bits(whole))
	power := powers[uint64(bits)%uint64(len(powers))]
	y := power + float64(power*(r+float64(square*more)))
	return math.Float64frombits(math.Float64bits(y) + uint64(bits>>6)<<52)
}

// Sigmoid is 1/(1+e^−x), the probability whose logit is x; 0 below −80.
func Sigmoid(x float64) float64 {
	e := Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// Softplus is ln(1 + e^x): the loss of a bit whose logit is −x times its true sign; 0 below −80.
func Softplus(x float64) float64 { return max(x, 0) + math.Log1p(Exp(-math.Abs(x))) }

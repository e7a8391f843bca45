//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

#define MEMBER(g, sum) \
	FMUL(8, g, g)     \
	FADD(g, sum, sum)

// PREFIX adds the weight f of a prefix, and the products with what its suffixes sum up to.
#define PREFIX(all, t, f, x, weight, sum) \
	FADD(f, weight, weight) \
	FMUL(all, 8, x)         \
	FADD(t, x, x)           \
	FMUL(f, x, x)           \
	FADD(x, sum, sum)

// func mixVector(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n, stride int)
TEXT ·mixVector(SB), NOSPLIT, $0-96
	MOVD prefixes+16(FP), R0
	MOVD suffixes+24(FP), R1
	MOVD patterns+32(FP), R2
	MOVD q+72(FP), R3
	MOVD stride+88(FP), R4

	// V0 to V3: the sums of all suffixes' weights.
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R1, R5
	MOVD R3, R6

suffix:
	VLD1.P (R5)(R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	FADD(16, 0, 0)
	FADD(17, 1, 1)
	FADD(18, 2, 2)
	FADD(19, 3, 3)
	SUBS   $1, R6
	BNE    suffix

	// V4 to V7: the sums of j·G of each pattern.
	MOVD order+56(FP), R7
	MOVD n+80(FP), R8
	BROADCAST(0x3F800000, V9.S4) // 1

pattern:
	VEOR V8.B16, V8.B16, V8.B16 // j
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD R3, R6

member:
	MOVHU.P 2(R7), R5
	MADD    R4, R1, R5, R5
	VLD1    (R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	MEMBER(16, 4)
	MEMBER(17, 5)
	MEMBER(18, 6)
	MEMBER(19, 7)
	FADD(9, 8, 8)
	SUBS    $1, R6
	BNE     member
	VST1.P  [V4.S4, V5.S4, V6.S4, V7.S4], (R2)(R4)
	SUBS    $1, R8
	BNE     pattern

	// V4 to V7: the sums of prefixes' weights. V24 to V27: those of weights times offsets.
	MOVD patterns+32(FP), R2
	MOVD offsets+40(FP), R7
	MOVD patternOf+48(FP), R8
	MOVD p+64(FP), R6
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16

prefix:
	MOVHU.P 2(R8), R5
	MADD    R4, R2, R5, R5
	VLD1    (R5), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P  (R0)(R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1R.P 4(R7), [V8.S4]
	PREFIX(0, 20, 16, 28, 4, 24)
	PREFIX(1, 21, 17, 29, 5, 25)
	PREFIX(2, 22, 18, 30, 6, 26)
	PREFIX(3, 23, 19, 31, 7, 27)
	SUBS    $1, R6
	BNE     prefix

	FMUL(0, 4, 4)
	FMUL(1, 5, 5)
	FMUL(2, 6, 6)
	FMUL(3, 7, 7)
	MOVD weight+0(FP), R0
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	MOVD sum+8(FP), R0
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R0)
	RET

//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// WEIGH adds weights p and q to two sums, and their products with the offset in V22 to two others.
#define WEIGH(p, q, weight0, weight1, sum0, sum1) \
	FADD(p, weight0, weight0) \
	FADD(q, weight1, weight1) \
	FMUL(22, p, p)            \
	FMUL(22, q, q)            \
	FADD(p, sum0, sum0)       \
	FADD(q, sum1, sum1)

// func softmaxVector(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32, stride int)
TEXT ·softmaxVector(SB), NOSPLIT, $0-72
	MOVD  sums+16(FP), R0
	MOVD  most+24(FP), R1
	MOVD  n+40(FP), R5
	MOVWU limit+48(FP), R2
	MOVWU scale+52(FP), R3
	MOVD  c+56(FP), R4
	MOVD  offsets+32(FP), R8
	MOVD  stride+64(FP), R9
	WEIGHTCONSTANTS
	VLD1 (R1), [V12.S4, V13.S4, V14.S4, V15.S4]
	VEOR V4.B16, V4.B16, V4.B16 // V4 to V7: the sums of weights
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16 // V8 to V11: those of their products with offsets
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

candidate:
	VLD1.P (R0)(R9), [V0.S4, V1.S4, V2.S4, V3.S4]
	VSUB   V0.S4, V12.S4, V0.S4
	VSUB   V1.S4, V13.S4, V1.S4
	VSUB   V2.S4, V14.S4, V2.S4
	VSUB   V3.S4, V15.S4, V3.S4
	HEAVY
	BEQ    next
	WEIGHTS(0, 1, 16, 17, 18, 19)
	VLD1R  (R8), [V22.S4]
	WEIGH(18, 19, 4, 5, 8, 9)
	WEIGHTS(2, 3, 16, 17, 20, 21)
	VLD1R  (R8), [V22.S4]
	WEIGH(20, 21, 6, 7, 10, 11)

next:
	ADD  $4, R8
	SUBS $1, R5
	BNE  candidate

	MOVD weight+0(FP), R0
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	MOVD sum+8(FP), R0
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R0)
	RET

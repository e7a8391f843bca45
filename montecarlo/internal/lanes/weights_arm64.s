//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// func weightsVector(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, stride int)
TEXT ·weightsVector(SB), NOSPLIT, $0-56
	MOVD  dst+0(FP), R8
	MOVD  sums+8(FP), R0
	MOVD  most+16(FP), R1
	MOVD  n+24(FP), R5
	MOVWU limit+32(FP), R2
	MOVWU scale+36(FP), R3
	MOVD  c+40(FP), R4
	MOVD  stride+48(FP), R9
	WEIGHTCONSTANTS
	VLD1 (R1), [V12.S4, V13.S4, V14.S4, V15.S4]

row:
	VLD1.P (R0)(R9), [V0.S4, V1.S4, V2.S4, V3.S4]
	VSUB   V0.S4, V12.S4, V0.S4
	VSUB   V1.S4, V13.S4, V1.S4
	VSUB   V2.S4, V14.S4, V2.S4
	VSUB   V3.S4, V15.S4, V3.S4
	WEIGHTS(0, 1, 16, 17, 4, 5)
	WEIGHTS(2, 3, 18, 19, 6, 7)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], (R8)(R9)
	SUBS   $1, R5
	BNE    row
	RET

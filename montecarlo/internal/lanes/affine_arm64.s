//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// ROW adds factor i of V20 times the numbers in V16 to V19 to a row of scores.
#define ROW(i, s0, s1, s2, s3) \
	FMULANY(i, 20, 16, 24) \
	FMULANY(i, 20, 17, 25) \
	FMULANY(i, 20, 18, 26) \
	FMULANY(i, 20, 19, 27) \
	FADD(24, s0, s0)       \
	FADD(25, s1, s1)       \
	FADD(26, s2, s2)       \
	FADD(27, s3, s3)

// ROUND rounds a row of scores to integers.
#define ROUND(s0, s1, s2, s3) \
	FCVTNS(s0, s0)   \
	FCVTNS(s1, s1)   \
	FCVTNS(s2, s2)   \
	FCVTNS(s3, s3)   \
	SMAX(s0, 28, 28) \
	SMAX(s1, 29, 29) \
	SMAX(s2, 30, 30) \
	SMAX(s3, 31, 31)

// func affineVector(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)
TEXT ·affineVector(SB), NOSPLIT, $0-56
	MOVD sums+0(FP), R0
	MOVD x+16(FP), R1
	MOVD factors+24(FP), R2
	MOVD offsets+32(FP), R3
	MOVD lengths+40(FP), R4
	MOVD n+48(FP), R5
	BROADCAST(0x80000000, V28.S4) // V28 to V31: the largest
	VMOV V28.B16, V29.B16
	VMOV V28.B16, V30.B16
	VMOV V28.B16, V31.B16

group:
	VLD1.P 16(R3), [V20.S4]
	VDUP   V20.S[0], V0.S4
	VDUP   V20.S[1], V4.S4
	VDUP   V20.S[2], V8.S4
	VDUP   V20.S[3], V12.S4
	VMOV   V0.B16, V1.B16
	VMOV   V0.B16, V2.B16
	VMOV   V0.B16, V3.B16
	VMOV   V4.B16, V5.B16
	VMOV   V4.B16, V6.B16
	VMOV   V4.B16, V7.B16
	VMOV   V8.B16, V9.B16
	VMOV   V8.B16, V10.B16
	VMOV   V8.B16, V11.B16
	VMOV   V12.B16, V13.B16
	VMOV   V12.B16, V14.B16
	VMOV   V12.B16, V15.B16
	MOVD   R1, R6
	MOVWU.P 4(R4), R7
	CBZ    R7, store

number:
	VLD1.P 64(R6), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 16(R2), [V20.S4]
	SCVTF(16, 16)
	SCVTF(17, 17)
	SCVTF(18, 18)
	SCVTF(19, 19)
	ROW(0, 0, 1, 2, 3)
	ROW(1, 4, 5, 6, 7)
	ROW(2, 8, 9, 10, 11)
	ROW(3, 12, 13, 14, 15)
	SUBS   $1, R7
	BNE    number

store:
	ROUND(0, 1, 2, 3)
	ROUND(4, 5, 6, 7)
	ROUND(8, 9, 10, 11)
	ROUND(12, 13, 14, 15)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R0)
	VST1.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R0)
	SUBS   $1, R5
	BNE    group

	MOVD most+8(FP), R0
	VST1 [V28.S4, V29.S4, V30.S4, V31.S4], (R0)
	RET

// func medianVector(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)
TEXT ·medianVector(SB), NOSPLIT, $0-56
	MOVD  sums+8(FP), R0
	MOVD  most+16(FP), R1
	MOVD  n+24(FP), R5
	MOVWU limit+32(FP), R2
	MOVWU scale+36(FP), R3
	MOVD  c+40(FP), R4
	MOVD  scratch+48(FP), R8
	WEIGHTCONSTANTS
	VLD1 (R1), [V12.S4, V13.S4, V14.S4, V15.S4]
	VEOR V8.B16, V8.B16, V8.B16 // V8 to V11: the sums of weights
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

	// Weights of the candidates within the limit of any sample, at R8; their places at R9.
	ADD  R5<<6, R8, R9
	ADD  $64, R9
	MOVD R8, R10
	MOVD R9, R11
	MOVD ZR, R12 // place
	MOVD ZR, R13 // number of these candidates

weigh:
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VSUB   V0.S4, V12.S4, V0.S4
	VSUB   V1.S4, V13.S4, V1.S4
	VSUB   V2.S4, V14.S4, V2.S4
	VSUB   V3.S4, V15.S4, V3.S4
	HEAVY
	BEQ    light
	WEIGHTS(0, 1, 16, 17, 4, 5)
	WEIGHTS(2, 3, 18, 19, 6, 7)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R8)
	FADD(4, 8, 8)
	FADD(5, 9, 9)
	FADD(6, 10, 10)
	FADD(7, 11, 11)
	MOVW.P R12, 4(R9)
	ADD    $1, R13

light:
	ADD  $1, R12
	CMP  R5, R12
	BLT  weigh
	MOVW ZR, (R9)

	BROADCAST(0x3F000000, V0.S4) // ½
	FMUL(0, 8, 8)
	FMUL(0, 9, 9)
	FMUL(0, 10, 10)
	FMUL(0, 11, 11)
	VEOR V4.B16, V4.B16, V4.B16 // V4 to V7: the weights up to a candidate
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VLD1R.P 4(R11), [V12.S4] // V12 to V15: places
	VMOV V12.B16, V13.B16
	VMOV V12.B16, V14.B16
	VMOV V12.B16, V15.B16

below:
	VLD1.P  64(R10), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1R.P 4(R11), [V20.S4]
	FADD(0, 4, 4)
	FADD(1, 5, 5)
	FADD(2, 6, 6)
	FADD(3, 7, 7)
	FCMGT(4, 8, 16) // half is more
	FCMGT(5, 9, 17)
	FCMGT(6, 10, 18)
	FCMGT(7, 11, 19)
	VBIT    V16.B16, V20.B16, V12.B16
	VBIT    V17.B16, V20.B16, V13.B16
	VBIT    V18.B16, V20.B16, V14.B16
	VBIT    V19.B16, V20.B16, V15.B16
	SUBS    $1, R13
	BNE     below

	MOVD place+0(FP), R0
	VST1 [V12.S4, V13.S4, V14.S4, V15.S4], (R0)
	RET

// func firstVector(place, sums, most *Ints, n int)
TEXT ·firstVector(SB), NOSPLIT, $0-32
	MOVD place+0(FP), R0
	MOVD sums+8(FP), R1
	MOVD most+16(FP), R2
	MOVD n+24(FP), R3
	VLD1 (R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	ADD  R3<<6, R1

candidate:
	SUB   $64, R1
	SUB   $1, R3
	VLD1  (R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VDUP  R3, V12.S4
	VCMEQ V0.S4, V4.S4, V0.S4
	VCMEQ V1.S4, V5.S4, V1.S4
	VCMEQ V2.S4, V6.S4, V2.S4
	VCMEQ V3.S4, V7.S4, V3.S4
	VBIT  V0.B16, V12.B16, V8.B16
	VBIT  V1.B16, V12.B16, V9.B16
	VBIT  V2.B16, V12.B16, V10.B16
	VBIT  V3.B16, V12.B16, V11.B16
	CBNZ  R3, candidate

	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R0)
	RET

//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// func runVector(sums, most, best, logits *Ints, fixed *int64, starts, steps *uint32, n, stride int)
TEXT ·runVector(SB), NOSPLIT, $0-72
	MOVD sums+0(FP), R0
	MOVD logits+24(FP), R1
	MOVD fixed+32(FP), R2
	MOVD starts+40(FP), R3
	MOVD steps+48(FP), R4
	MOVD n+56(FP), R5
	MOVD stride+64(FP), R6

	VEOR V0.B16, V0.B16, V0.B16 // V0 to V3: the running sums
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	BROADCAST(0x80000000, V4.S4) // V4 to V7: the largest
	VMOV V4.B16, V5.B16
	VMOV V4.B16, V6.B16
	VMOV V4.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16 // V8 to V11: their places
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16 // place of the candidate
	BROADCAST(1, V13.S4)
	MOVWU.P 4(R3), R7 // step
	ADD     R7<<2, R4

candidate:
	VLD1R   (R2), [V16.S4] // the low half of fixed, which fits it
	ADD     $8, R2
	MOVWU.P 4(R3), R8
	VADD    V16.S4, V0.S4, V0.S4
	VADD    V16.S4, V1.S4, V1.S4
	VADD    V16.S4, V2.S4, V2.S4
	VADD    V16.S4, V3.S4, V3.S4
	CMP     R8, R7
	BGE     summed

step:
	MOVWU.P 4(R4), R9
	ADD     $1, R7
	LSR     $1, R9, R10
	ADD     R10<<6, R1, R10
	VLD1    (R10), [V16.S4, V17.S4, V18.S4, V19.S4]
	TBNZ    $0, R9, less
	VADD    V16.S4, V0.S4, V0.S4
	VADD    V17.S4, V1.S4, V1.S4
	VADD    V18.S4, V2.S4, V2.S4
	VADD    V19.S4, V3.S4, V3.S4
	CMP     R8, R7
	BLT     step
	B       summed

less:
	VSUB V16.S4, V0.S4, V0.S4
	VSUB V17.S4, V1.S4, V1.S4
	VSUB V18.S4, V2.S4, V2.S4
	VSUB V19.S4, V3.S4, V3.S4
	CMP  R8, R7
	BLT  step

summed:
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], (R0)(R6)
	CMGT(4, 0, 16)
	CMGT(5, 1, 17)
	CMGT(6, 2, 18)
	CMGT(7, 3, 19)
	SMAX(0, 4, 4)
	SMAX(1, 5, 5)
	SMAX(2, 6, 6)
	SMAX(3, 7, 7)
	VBIT   V16.B16, V12.B16, V8.B16
	VBIT   V17.B16, V12.B16, V9.B16
	VBIT   V18.B16, V12.B16, V10.B16
	VBIT   V19.B16, V12.B16, V11.B16
	VADD   V13.S4, V12.S4, V12.S4
	SUBS   $1, R5
	BNE    candidate

	MOVD most+8(FP), R0
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	MOVD best+16(FP), R0
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R0)
	RET

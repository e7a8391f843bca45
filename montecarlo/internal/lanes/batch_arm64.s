//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// Two groups of 16 samples, and then two.

// START2 sets the sums of two groups, V0 to V7, to zero, and the largest, V8 to V15, to the smallest integer.
#define START2 \
	VEOR V0.B16, V0.B16, V0.B16   \
	VEOR V1.B16, V1.B16, V1.B16   \
	VEOR V2.B16, V2.B16, V2.B16   \
	VEOR V3.B16, V3.B16, V3.B16   \
	VEOR V4.B16, V4.B16, V4.B16   \
	VEOR V5.B16, V5.B16, V5.B16   \
	VEOR V6.B16, V6.B16, V6.B16   \
	VEOR V7.B16, V7.B16, V7.B16   \
	BROADCAST(0x80000000, V8.S4)  \
	VMOV V8.B16, V9.B16           \
	VMOV V8.B16, V10.B16          \
	VMOV V8.B16, V11.B16          \
	VMOV V8.B16, V12.B16          \
	VMOV V8.B16, V13.B16          \
	VMOV V8.B16, V14.B16          \
	VMOV V8.B16, V15.B16

// FIXED2 adds the low half of a fixed part, which fits it.
#define FIXED2 \
	VLD1R (R2), [V24.S4]           \
	ADD   $8, R2                   \
	VADD  V24.S4, V0.S4, V0.S4     \
	VADD  V24.S4, V1.S4, V1.S4     \
	VADD  V24.S4, V2.S4, V2.S4     \
	VADD  V24.S4, V3.S4, V3.S4     \
	VADD  V24.S4, V4.S4, V4.S4     \
	VADD  V24.S4, V5.S4, V5.S4     \
	VADD  V24.S4, V6.S4, V6.S4     \
	VADD  V24.S4, V7.S4, V7.S4

// LOGIT2 loads the logits of the next step, whose lowest bit says whether they are taken away.
#define LOGIT2 \
	MOVWU.P 4(R4), R9              \
	ADD     $1, R7                 \
	LSR     $1, R9, R10            \
	ADD     R10<<6, R1, R10        \
	ADD     R6, R10, R11           \
	VLD1    (R10), [V24.S4, V25.S4, V26.S4, V27.S4] \
	VLD1    (R11), [V28.S4, V29.S4, V30.S4, V31.S4]

#define EACH2 \
	VADD V24.S4, V0.S4, V0.S4  \
	VADD V25.S4, V1.S4, V1.S4  \
	VADD V26.S4, V2.S4, V2.S4  \
	VADD V27.S4, V3.S4, V3.S4  \
	VADD V28.S4, V4.S4, V4.S4  \
	VADD V29.S4, V5.S4, V5.S4  \
	VADD V30.S4, V6.S4, V6.S4  \
	VADD V31.S4, V7.S4, V7.S4

#define LESS2 \
	VSUB V24.S4, V0.S4, V0.S4  \
	VSUB V25.S4, V1.S4, V1.S4  \
	VSUB V26.S4, V2.S4, V2.S4  \
	VSUB V27.S4, V3.S4, V3.S4  \
	VSUB V28.S4, V4.S4, V4.S4  \
	VSUB V29.S4, V5.S4, V5.S4  \
	VSUB V30.S4, V6.S4, V6.S4  \
	VSUB V31.S4, V7.S4, V7.S4

#define MOST2 \
	SMAX(0, 8, 8)    \
	SMAX(1, 9, 9)    \
	SMAX(2, 10, 10)  \
	SMAX(3, 11, 11)  \
	SMAX(4, 12, 12)  \
	SMAX(5, 13, 13)  \
	SMAX(6, 14, 14)  \
	SMAX(7, 15, 15)

// func runBatchVector(sums *Ints, most *[Batch]Ints, logits *Ints, stride int, fixed *int64, starts, steps *uint32, n int)
TEXT ·runBatchVector(SB), NOSPLIT, $0-64
	MOVD sums+0(FP), R0
	MOVD most+8(FP), R12
	MOVD logits+16(FP), R1
	MOVD stride+24(FP), R6
	MOVD $2, R13

two:
	MOVD fixed+32(FP), R2
	MOVD starts+40(FP), R3
	MOVD steps+48(FP), R4
	MOVD n+56(FP), R5
	MOVD R0, R14
	START2
	MOVWU.P 4(R3), R7 // step
	ADD     R7<<2, R4

candidate:
	MOVWU.P 4(R3), R8
	FIXED2
	CMP R8, R7
	BGE summed

step:
	LOGIT2
	TBNZ $0, R9, less
	EACH2
	CMP  R8, R7
	BLT  step
	B    summed

less:
	LESS2
	CMP R8, R7
	BLT step

summed:
	ADD  $64, R14, R15
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R14)
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R15)
	MOST2
	ADD  $256, R14
	SUBS $1, R5
	BNE  candidate

	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R12)
	VST1.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R12)
	ADD    $128, R0
	ADD    R6<<1, R1
	SUBS   $1, R13
	BNE    two
	RET

// TAGS takes the candidate's tag, V24, where its sums are above the largest.
#define TAGS(sum, most, mask, maskregister, tags) \
	CMGT(most, sum, mask) \
	VBIT maskregister.B16, V24.B16, tags.B16

// func bestBatchVector(best *[Batch]Floats, logits *Ints, stride int, fixed *int64, starts, steps *uint32, tags *float32, n int)
TEXT ·bestBatchVector(SB), NOSPLIT, $0-64
	MOVD best+0(FP), R12
	MOVD logits+8(FP), R1
	MOVD stride+16(FP), R6
	MOVD $2, R13

two:
	MOVD fixed+24(FP), R2
	MOVD starts+32(FP), R3
	MOVD steps+40(FP), R4
	MOVD tags+48(FP), R14
	MOVD n+56(FP), R5
	START2
	VLD1R (R14), [V16.S4] // V16 to V23: tags of the largest
	VMOV V16.B16, V17.B16
	VMOV V16.B16, V18.B16
	VMOV V16.B16, V19.B16
	VMOV V16.B16, V20.B16
	VMOV V16.B16, V21.B16
	VMOV V16.B16, V22.B16
	VMOV V16.B16, V23.B16
	MOVWU.P 4(R3), R7
	ADD     R7<<2, R4

candidate:
	MOVWU.P 4(R3), R8
	FIXED2
	CMP R8, R7
	BGE summed

step:
	LOGIT2
	TBNZ $0, R9, less
	EACH2
	CMP  R8, R7
	BLT  step
	B    summed

less:
	LESS2
	CMP R8, R7
	BLT step

summed:
	VLD1R.P 4(R14), [V24.S4]
	TAGS(0, 8, 25, V25, V16)
	TAGS(1, 9, 26, V26, V17)
	TAGS(2, 10, 27, V27, V18)
	TAGS(3, 11, 28, V28, V19)
	TAGS(4, 12, 29, V29, V20)
	TAGS(5, 13, 30, V30, V21)
	TAGS(6, 14, 31, V31, V22)
	TAGS(7, 15, 25, V25, V23)
	MOST2
	SUBS $1, R5
	BNE  candidate

	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R12)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R12)
	ADD    R6<<1, R1
	SUBS   $1, R13
	BNE    two
	RET

// UNITS adds numbers x of units, rounded, to sum.
#define UNITS(x, sum) \
	FMULD(18, x, 27)    \
	FADDD(20, 27, 27)   \
	FCVTZSD(27, 27)     \
	VADD V27.D2, sum.D2, sum.D2

// ERRORS adds the errors of two samples, decoded x from the base.
#define ERRORS(x) \
	FADDD(16, x, x)      \
	FSUBD(16, x, x)      \
	FABSD(x, x)          \
	UNITS(x, V4)         \
	FMULD(x, x, x)       \
	UNITS(x, V5)

// func tallyBatchVector(parts *[2][8]uint64, sum, weight *[Batch]Floats, e *Errors)
TEXT ·tallyBatchVector(SB), NOSPLIT, $0-32
	MOVD parts+0(FP), R0
	MOVD sum+8(FP), R1
	MOVD weight+16(FP), R2
	MOVD e+24(FP), R3
	MOVD $16, R4
	MOVD 0(R3), R5
	VDUP R5, V16.D2 // Base
	MOVD 8(R3), R5
	VDUP R5, V18.D2 // Scale
	MOVD $0x3FE0000000000000, R5 // ½
	VDUP R5, V20.D2
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16

four:
	VLD1.P 16(R1), [V0.S4]
	FCVTL2(0, 1)
	FCVTL(0, 0)
	CBZ    R2, whole
	VLD1.P 16(R2), [V2.S4]
	FCVTL2(2, 3)
	FCVTL(2, 2)
	FDIVD(2, 0, 0)
	FDIVD(3, 1, 1)

whole:
	ERRORS(0)
	ERRORS(1)
	SUBS $1, R4
	BNE  four

	VST1 [V4.D2], (R0)
	ADD  $64, R0
	VST1 [V5.D2], (R0)
	RET

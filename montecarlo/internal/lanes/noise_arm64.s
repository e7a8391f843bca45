//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// V0 to V15 are the coefficients of the octaves 0 to 7, two registers each; other octaves occur in one of
// 32 halves of a row.
#define COEFFICIENTS \
	MOVD R3, R8                               \
	VLD1 (R8), [V0.B16, V1.B16]               \
	ADD  $256, R8                             \
	VLD1 (R8), [V2.B16, V3.B16]               \
	ADD  $256, R8                             \
	VLD1 (R8), [V4.B16, V5.B16]               \
	ADD  $256, R8                             \
	VLD1 (R8), [V6.B16, V7.B16]               \
	ADD  $256, R8                             \
	VLD1 (R8), [V8.B16, V9.B16]               \
	ADD  $256, R8                             \
	VLD1 (R8), [V10.B16, V11.B16]             \
	ADD  $256, R8                             \
	VLD1 (R8), [V12.B16, V13.B16]             \
	ADD  $256, R8                             \
	VLD1 (R8), [V14.B16, V15.B16]

// ODD sets bit 0 of each lane.
#define ODD(d) WORD $(0x4F001420 | (d))

// TERM2 is a step of Horner's scheme of two registers.
#define TERM2(lo, hi) \
	VTBL V18.B16, [lo.B16, hi.B16], V22.B16 \
	VTBL V19.B16, [lo.B16, hi.B16], V23.B16 \
	FMUL(16, 20, 20) \
	FMUL(17, 21, 21) \
	FADD(22, 20, 20) \
	FADD(23, 21, 21)

// ANYTERM2 is TERM2 for octaves up to 15: the coefficients are at R8, and those before R9 bytes on.
#define ANYTERM2 \
	VLD1.P (R8)(R9), [V0.B16, V1.B16, V2.B16, V3.B16] \
	VTBL V18.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V22.B16 \
	VTBL V19.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V23.B16 \
	FMUL(16, 20, 20) \
	FMUL(17, 21, 21) \
	FADD(22, 20, 20) \
	FADD(23, 21, 21)

// func noiseVector(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)
TEXT ·noiseVector(SB), NOSPLIT, $0-41
	MOVD dst+0(FP), R0
	MOVD words+8(FP), R1
	MOVD n+16(FP), R2
	MOVD table+24(FP), R3
	MOVD centers+32(FP), R4
	LSL  $1, R2 // halves of rows
	MOVD $-256, R9
	MOVD $0xFFFFFFF8FFFFFFF8, R10

	COEFFICIENTS
	BROADCAST(0x3F800000, V24.S4) // 1
	BROADCAST(0x3FC00000, V25.S4) // 1.5
	BROADCAST(0x04040404, V26.S4)
	BROADCAST(0x03020100, V27.S4)
	BROADCAST(0x80000000, V28.S4) // the sign of a floating-point number
	VEOR V29.B16, V29.B16, V29.B16 // the largest octave
	VEOR V30.B16, V30.B16, V30.B16

half:
	// V16, V17: where draws lie in their octaves, from −½ to ½. The octave is the number of zeros before the
	// highest bit of 2v+1, the draw without its sign, shifted. The bits from the highest on, where a
	// significand lies, have the lowest bit of the exponent of 1 themselves. V18, V19: the places of the
	// bytes of an octave's coefficients. V20, V21: the numbers.
	VLD1 (R1), [V16.S4, V17.S4]
	VSHL $1, V16.S4, V16.S4
	VSHL $1, V17.S4, V17.S4
	ODD(16)
	ODD(17)
	CLZ(16, 22)
	CLZ(17, 23)
	USHL(22, 16, 16)
	USHL(23, 17, 17)
	VUSHR $8, V16.S4, V16.S4
	VUSHR $8, V17.S4, V17.S4
	VORR  V24.B16, V16.B16, V16.B16
	VORR  V24.B16, V17.B16, V17.B16
	FSUB(25, 16, 16)
	FSUB(25, 17, 17)
	VMOV  V27.B16, V18.B16
	VMOV  V27.B16, V19.B16
	MLA(26, 22, 18)
	MLA(26, 23, 19)
	VUMAX V22.S4, V29.S4, V29.S4
	VUMAX V23.S4, V29.S4, V29.S4
	VORR  V22.B16, V23.B16, V22.B16
	VMOV  V22.D[0], R6
	VMOV  V22.D[1], R7
	ORR   R7, R6, R6
	TST   R10, R6
	BNE   any
	VTBL  V18.B16, [V14.B16, V15.B16], V20.B16
	VTBL  V19.B16, [V14.B16, V15.B16], V21.B16
	TERM2(V12, V13)
	TERM2(V10, V11)
	TERM2(V8, V9)
	TERM2(V6, V7)
	TERM2(V4, V5)
	TERM2(V2, V3)
	TERM2(V0, V1)

made:
	// The sign while the number is a floating-point one: cutting off what is behind the point knows no sign.
	VLD1.P 32(R1), [V22.B16, V23.B16]
	VAND   V28.B16, V22.B16, V22.B16
	VAND   V28.B16, V23.B16, V23.B16
	VEOR   V22.B16, V20.B16, V20.B16
	VEOR   V23.B16, V21.B16, V21.B16
	FCVTZS(20, 20)
	FCVTZS(21, 21)
	TBNZ   $0, R2, center // a second half
	MOVW.P 4(R4), R5
	ADD    $128, R5
	VDUP   R5, V30.S4

center:
	VADD V30.S4, V20.S4, V20.S4
	VADD V30.S4, V21.S4, V21.S4
	SSHR(8, 20, 20)
	SSHR(8, 21, 21)
	VST1.P [V20.S4, V21.S4], 32(R0)
	SUBS   $1, R2
	BNE    half

	// Octave 16 and above is the tail.
	VMOV V29.D[0], R6
	VMOV V29.D[1], R7
	ORR  R7, R6, R6
	TST  $0xFFFFFFF0FFFFFFF0, R6
	CSET NE, R6
	MOVB R6, tails+40(FP)
	RET

any:
	ADD    $(7*256), R3, R8
	VLD1.P (R8)(R9), [V0.B16, V1.B16, V2.B16, V3.B16]
	VTBL   V18.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V20.B16
	VTBL   V19.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V21.B16
	ANYTERM2
	ANYTERM2
	ANYTERM2
	ANYTERM2
	ANYTERM2
	ANYTERM2
	ANYTERM2
	VLD1   (R3), [V0.B16, V1.B16] // what they have overwritten
	ADD    $256, R3, R8
	VLD1   (R8), [V2.B16, V3.B16]
	B      made

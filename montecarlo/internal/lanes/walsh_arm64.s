//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// BUTTERFLY makes the sums and differences of two rows.
#define BUTTERFLY(a0, a1, a2, a3, b0, b1, b2, b3, s0, s1, s2, s3, d0, d1, d2, d3) \
	VADD b0.S4, a0.S4, s0.S4 \
	VADD b1.S4, a1.S4, s1.S4 \
	VADD b2.S4, a2.S4, s2.S4 \
	VADD b3.S4, a3.S4, s3.S4 \
	VSUB b0.S4, a0.S4, d0.S4 \
	VSUB b1.S4, a1.S4, d1.S4 \
	VSUB b2.S4, a2.S4, d2.S4 \
	VSUB b3.S4, a3.S4, d3.S4

// func walshVector(x *Ints, n, h int)
TEXT ·walshVector(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD h+16(FP), R2
	ADD  R1<<6, R0, R1        // the end
	LSL  $6, R2, R3           // bytes of h rows
	ADD  R3<<1, R3, R4

four:
	MOVD R2, R5

row:
	ADD    R3, R0, R6
	ADD    R3, R6, R7
	ADD    R3, R7, R8
	VLD1   (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R6), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1   (R7), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1   (R8), [V12.S4, V13.S4, V14.S4, V15.S4]
	BUTTERFLY(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	BUTTERFLY(V8, V9, V10, V11, V12, V13, V14, V15, V24, V25, V26, V27, V28, V29, V30, V31)
	BUTTERFLY(V16, V17, V18, V19, V24, V25, V26, V27, V0, V1, V2, V3, V8, V9, V10, V11)
	BUTTERFLY(V20, V21, V22, V23, V28, V29, V30, V31, V4, V5, V6, V7, V12, V13, V14, V15)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1   [V4.S4, V5.S4, V6.S4, V7.S4], (R6)
	VST1   [V8.S4, V9.S4, V10.S4, V11.S4], (R7)
	VST1   [V12.S4, V13.S4, V14.S4, V15.S4], (R8)
	SUBS   $1, R5
	BNE    row
	ADD    R4, R0
	CMP    R1, R0
	BLT    four
	RET

// func walshLastVector(x *Ints, h int)
TEXT ·walshLastVector(SB), NOSPLIT, $0-16
	MOVD x+0(FP), R0
	MOVD h+8(FP), R2
	ADD  R2<<6, R0, R1

last:
	VLD1   (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	BUTTERFLY(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R1)
	SUBS   $1, R2
	BNE    last
	RET

// func mostVector(most, sums *Ints, n int)
TEXT ·mostVector(SB), NOSPLIT, $0-24
	MOVD most+0(FP), R0
	MOVD sums+8(FP), R1
	MOVD n+16(FP), R2
	VLD1 (R1), [V0.S4, V1.S4, V2.S4, V3.S4]

next:
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	SMAX(4, 0, 0)
	SMAX(5, 1, 1)
	SMAX(6, 2, 2)
	SMAX(7, 3, 3)
	SUBS   $1, R2
	BNE    next
	VST1   [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	RET

DATA lanebits<>+0(SB)/8, $0x0000000200000001
DATA lanebits<>+8(SB)/8, $0x0000000800000004
DATA lanebits<>+16(SB)/8, $0x0000002000000010
DATA lanebits<>+24(SB)/8, $0x0000008000000040
DATA lanebits<>+32(SB)/8, $0x0000020000000100
DATA lanebits<>+40(SB)/8, $0x0000080000000400
DATA lanebits<>+48(SB)/8, $0x0000200000001000
DATA lanebits<>+56(SB)/8, $0x0000800000004000
GLOBL lanebits<>(SB), RODATA|NOPTR, $64

// SPREAD makes the logits x of four bits of V8.
#define SPREAD(bits, x) \
	VCMTST V8.S4, bits.S4, x.S4 \
	VAND   V9.B16, x.B16, x.B16 \
	VSUB   V10.S4, x.S4, x.S4

// func spreadVector(dst *Ints, places *uint16, words, ones *uint64, n, shift int)
TEXT ·spreadVector(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD places+8(FP), R1
	MOVD words+16(FP), R2
	MOVD ones+24(FP), R3
	MOVD n+32(FP), R4
	MOVD shift+40(FP), R5
	MOVD $lanebits<>(SB), R6
	VLD1 (R6), [V4.S4, V5.S4, V6.S4, V7.S4]
	BROADCAST(0x20000, V9.S4)
	BROADCAST(0x10000, V10.S4) // tables.LogitOne

word:
	MOVD.P  8(R2), R6
	MOVD.P  8(R3), R7
	MOVHU.P 2(R1), R8
	EOR     R7, R6, R6
	LSR     R5, R6, R6
	VDUP    R6, V8.S4
	ADD     R8<<6, R0, R8
	SPREAD(V4, V0)
	SPREAD(V5, V1)
	SPREAD(V6, V2)
	SPREAD(V7, V3)
	VST1    [V0.S4, V1.S4, V2.S4, V3.S4], (R8)
	SUBS    $1, R4
	BNE     word
	RET

//go:build !purego

#include "textflag.h"

// Four calls of Philox4x32-10 at a time, one to a lane of 32 bits.

// Go's assembler does not know the products of 64 bits, of the low and of the high two lanes of two
// registers, by their numbers.
#define UMULL(m, n, d) WORD $(0x2EA0C000 | (m)<<16 | (n)<<5 | (d))
#define UMULL2(m, n, d) WORD $(0x6EA0C000 | (m)<<16 | (n)<<5 | (d))

// MIX makes a round's state x0 to x3 of its products by the multipliers, V16 to V19 or V20 to V23, and
// the keys of the round, V30 and V31.
#define MIX(p0, p1, p2, p3, x0, x1, x2, x3) \
	VUZP2 p3.S4, p2.S4, x0.S4     \
	VEOR  V30.B16, x1.B16, x1.B16 \
	VEOR  x1.B16, x0.B16, x0.B16  \
	VUZP1 p3.S4, p2.S4, x1.S4     \
	VUZP2 p1.S4, p0.S4, x2.S4     \
	VEOR  V31.B16, x3.B16, x3.B16 \
	VEOR  x3.B16, x2.B16, x2.B16  \
	VUZP1 p1.S4, p0.S4, x3.S4

// func fillVector(dst *uint64, groups int, keys *Keys, c *Counter)
TEXT ·fillVector(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD groups+8(FP), R1
	MOVD keys+16(FP), R2
	MOVD c+24(FP), R3

	MOVD    $0xD2511F53, R4
	VDUP    R4, V28.S4
	MOVD    $0xCD9E8D57, R4
	VDUP    R4, V29.S4
	VLD1R.P 4(R3), [V8.S4] // the calls' words 0, of two groups, and words 1 to 3, which all have
	VLD1R.P 4(R3), [V10.S4]
	VLD1R.P 4(R3), [V11.S4]
	VLD1R   (R3), [V12.S4]
	MOVD    $0x0000000100000000, R4
	VMOV    R4, V13.D[0]
	MOVD    $0x0000000300000002, R4
	VMOV    R4, V13.D[1]
	VADD    V13.S4, V8.S4, V8.S4
	MOVD    $4, R4
	VDUP    R4, V14.S4

	// A round waits for the last: two groups at a time. Of an odd number, the second of the last two
	// is not stored.
two:
	VMOV V8.B16, V0.B16
	VMOV V10.B16, V1.B16
	VMOV V11.B16, V2.B16
	VMOV V12.B16, V3.B16
	VADD V14.S4, V8.S4, V4.S4
	VMOV V10.B16, V5.B16
	VMOV V11.B16, V6.B16
	VMOV V12.B16, V7.B16
	VADD V14.S4, V4.S4, V8.S4
	MOVD R2, R4
	MOVD $10, R5

round:
	VLD1R.P 4(R4), [V30.S4]
	VLD1R.P 4(R4), [V31.S4]
	UMULL(28, 0, 16)
	UMULL2(28, 0, 17)
	UMULL(29, 2, 18)
	UMULL2(29, 2, 19)
	UMULL(28, 4, 20)
	UMULL2(28, 4, 21)
	UMULL(29, 6, 22)
	UMULL2(29, 6, 23)
	MIX(V16, V17, V18, V19, V0, V1, V2, V3)
	MIX(V20, V21, V22, V23, V4, V5, V6, V7)
	SUBS $1, R5
	BNE  round

	VST4.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0) // word by word of each call
	SUBS   $1, R1
	BEQ    done
	VST4.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	SUBS   $1, R1
	BNE    two

done:
	RET

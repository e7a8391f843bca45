//go:build !purego

#include "textflag.h"

// Four calls of Philox4x32-10 at a time, one to a 64-bit lane of a YMM
// register. Only the low half of a lane counts: VPMULUDQ multiplies low halves,
// so what the shifts and XORs leave in the high halves never reaches a result,
// and a round needs neither masks nor shuffles.

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// Y0..Y3: the four words of the state. Y8, Y9: the multipliers.
#define ROUND(k0, k1) \
	VPMULUDQ     Y0, Y8, Y4     \
	VPMULUDQ     Y2, Y9, Y5     \
	VPBROADCASTD k0(SI), Y6     \
	VPBROADCASTD k1(SI), Y7     \
	VPXOR        Y1, Y6, Y6     \
	VPXOR        Y3, Y7, Y7     \
	VPSRLQ       $32, Y5, Y0    \
	VPSRLQ       $32, Y4, Y2    \
	VPXOR        Y0, Y6, Y0     \
	VPXOR        Y2, Y7, Y2     \
	VMOVDQA      Y5, Y1         \
	VMOVDQA      Y4, Y3

// func fillAVX2(dst *uint64, groups int, keys *Keys, c *Counter)
TEXT ·fillAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVQ keys+16(FP), SI
	MOVQ c+24(FP), DX

	MOVL         $0xD2511F53, AX
	MOVQ         AX, X8
	VPBROADCASTQ X8, Y8
	MOVL         $0xCD9E8D57, AX
	MOVQ         AX, X9
	VPBROADCASTQ X9, Y9

	VPBROADCASTD 0(DX), Y10
	VPADDD       lanes<>(SB), Y10, Y10 // the calls of this group
	MOVL         $4, AX
	MOVQ         AX, X14
	VPBROADCASTD X14, Y14
	VPBROADCASTD 4(DX), Y11
	VPBROADCASTD 8(DX), Y12
	VPBROADCASTD 12(DX), Y13

group:
	VMOVDQA Y10, Y0
	VMOVDQA Y11, Y1
	VMOVDQA Y12, Y2
	VMOVDQA Y13, Y3
	VPADDD  Y14, Y10, Y10

	ROUND(0, 4)
	ROUND(8, 12)
	ROUND(16, 20)
	ROUND(24, 28)
	ROUND(32, 36)
	ROUND(40, 44)
	ROUND(48, 52)
	ROUND(56, 60)
	ROUND(64, 68)
	ROUND(72, 76)

	// Lanes of words to words of calls: Y0 takes output 1 into its odd
	// halves and Y2 output 3, then the two are interleaved.
	VPSLLQ     $32, Y1, Y1
	VPSLLQ     $32, Y3, Y3
	VPBLENDD   $0xAA, Y1, Y0, Y0
	VPBLENDD   $0xAA, Y3, Y2, Y2
	VPUNPCKLQDQ Y2, Y0, Y4       // calls 0 and 2
	VPUNPCKHQDQ Y2, Y0, Y5       // calls 1 and 3
	VPERM2I128 $0x20, Y5, Y4, Y6 // calls 0 and 1
	VPERM2I128 $0x31, Y5, Y4, Y7 // calls 2 and 3
	VMOVDQU    Y6, 0(DI)
	VMOVDQU    Y7, 32(DI)
	ADDQ       $64, DI
	DECQ       CX
	JNZ        group

	VZEROUPPER
	RET

// Eight calls at a time, in ZMM registers. Lanes hold the calls 0, 4, 1, 5, 2, 6, 3,
// 7, so that interleaving words within each quarter of a register leaves whole calls
// in order.
DATA lanes512<>+0(SB)/8, $0
DATA lanes512<>+8(SB)/8, $4
DATA lanes512<>+16(SB)/8, $1
DATA lanes512<>+24(SB)/8, $5
DATA lanes512<>+32(SB)/8, $2
DATA lanes512<>+40(SB)/8, $6
DATA lanes512<>+48(SB)/8, $3
DATA lanes512<>+56(SB)/8, $7
GLOBL lanes512<>(SB), RODATA|NOPTR, $64

// ROUND512 takes the state x0, x1, x2, x3 to x0, p1, x2, p0: the words 1 and 3 are low halves of
// products, which stay where they are. VPTERNLOGD with 0x96 is the XOR of three.
#define ROUND512(x0, x1, x2, x3, p0, p1, k0, k1) \
	VPMULUDQ        x0, Z8, p0            \
	VPMULUDQ        x2, Z9, p1            \
	VPSRLQ          $32, p1, x0           \
	VPSRLQ          $32, p0, x2           \
	VPTERNLOGD.BCST $0x96, k0(SI), x1, x0 \
	VPTERNLOGD.BCST $0x96, k1(SI), x3, x2

// START512 makes the first two rounds of the calls in Z10, and sets Z10 to the next: x2 begins as
// word 3 after the first round, x0 as word 2. Word 3 after the second is in Z15.
#define START512(x0, p1, x2) \
	VPMULUDQ Z10, Z8, x2  \
	VPADDD   Z14, Z10, Z10 \
	VPSRLQ   $32, x2, x0  \
	VPXORD   Z12, x0, x0  \
	VPXORD   Z13, x2, x2  \
	VPMULUDQ x0, Z9, p1   \
	VPSRLQ   $32, p1, x0  \
	VPXORD   Z11, x0, x0

// There are two forms of a state, and ROUND512 takes one to the other.
#define EVEN512(k0, k1) \
	ROUND512(Z0, Z1, Z2, Z3, Z4, Z5, k0, k1)       \
	ROUND512(Z16, Z17, Z18, Z19, Z20, Z21, k0, k1) \
	ROUND512(Z22, Z23, Z24, Z25, Z26, Z27, k0, k1) \
	ROUND512(Z28, Z29, Z30, Z31, Z6, Z7, k0, k1)

#define ODD512(k0, k1) \
	ROUND512(Z0, Z5, Z2, Z4, Z3, Z1, k0, k1)       \
	ROUND512(Z16, Z21, Z18, Z20, Z19, Z17, k0, k1) \
	ROUND512(Z22, Z27, Z24, Z26, Z25, Z23, k0, k1) \
	ROUND512(Z28, Z7, Z30, Z6, Z31, Z29, k0, k1)

#define STORE512(at, x0, x1, x2, x3, t) \
	VPSLLQ      $32, x1, x1 \
	VPSLLQ      $32, x3, x3 \
	VMOVDQA32   x1, K1, x0  \
	VMOVDQA32   x3, K1, x2  \
	VPUNPCKLQDQ x2, x0, t   \
	VPUNPCKHQDQ x2, x0, x0  \
	VMOVDQU64   t, at(DI)   \
	VMOVDQU64   x0, (at+64)(DI)

// Calls of a stream differ in word 0 of the counter alone. So word 1 is multiplied in the first
// round, and word 0 in the second, of which all calls have the same: their products, and what they
// are mixed with, are made once.

// func fillAVX512(dst *uint64, groups int, keys *Keys, c *Counter)
TEXT ·fillAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVQ keys+16(FP), SI
	MOVQ c+24(FP), DX

	MOVL         $0xD2511F53, AX
	VPBROADCASTQ AX, Z8
	MOVL         $0xCD9E8D57, AX
	VPBROADCASTQ AX, Z9
	VPBROADCASTD 0(DX), Z10
	VPADDD       lanes512<>(SB), Z10, Z10
	MOVL         $8, AX
	VPBROADCASTD AX, Z14
	MOVL         $0xAAAA, AX
	KMOVW        AX, K1

	// After the first round words 0 and 1 are those of Z0 and Z11, and word 2 is the high half
	// of word 0's product with Z12.
	VPBROADCASTD 4(DX), Z0
	VPBROADCASTD 8(DX), Z11
	VPBROADCASTD 12(DX), Z12
	VPMULUDQ     Z11, Z9, Z11
	VPSRLQ       $32, Z11, Z1
	VPTERNLOGD.BCST $0x96, 0(SI), Z1, Z0
	VPXORD.BCST  4(SI), Z12, Z12

	// After the second, word 0 is the high half of word 2's product with Z11, word 2 what word 3
	// was with Z13, and word 3 that of Z15.
	VPXORD.BCST  8(SI), Z11, Z11
	VPMULUDQ     Z0, Z8, Z15
	VPSRLQ       $32, Z15, Z13
	VPXORD.BCST  12(SI), Z13, Z13

	// A round waits for the last: four groups at a time.
	SUBQ $4, CX
	JLT  last

four:
	START512(Z0, Z1, Z2)
	START512(Z16, Z17, Z18)
	START512(Z22, Z23, Z24)
	START512(Z28, Z29, Z30)
	ROUND512(Z0, Z1, Z2, Z15, Z4, Z5, 16, 20)
	ROUND512(Z16, Z17, Z18, Z15, Z20, Z21, 16, 20)
	ROUND512(Z22, Z23, Z24, Z15, Z26, Z27, 16, 20)
	ROUND512(Z28, Z29, Z30, Z15, Z6, Z7, 16, 20)
	ODD512(24, 28)
	EVEN512(32, 36)
	ODD512(40, 44)
	EVEN512(48, 52)
	ODD512(56, 60)
	EVEN512(64, 68)
	ODD512(72, 76)
	STORE512(0, Z0, Z1, Z2, Z3, Z4)
	STORE512(128, Z16, Z17, Z18, Z19, Z20)
	STORE512(256, Z22, Z23, Z24, Z25, Z26)
	STORE512(384, Z28, Z29, Z30, Z31, Z6)
	ADDQ $512, DI
	SUBQ $4, CX
	JGE  four

last:
	ADDQ $4, CX
	JZ   done

one:
	START512(Z0, Z1, Z2)
	ROUND512(Z0, Z1, Z2, Z15, Z4, Z5, 16, 20)
	ROUND512(Z0, Z5, Z2, Z4, Z3, Z1, 24, 28)
	ROUND512(Z0, Z1, Z2, Z3, Z4, Z5, 32, 36)
	ROUND512(Z0, Z5, Z2, Z4, Z3, Z1, 40, 44)
	ROUND512(Z0, Z1, Z2, Z3, Z4, Z5, 48, 52)
	ROUND512(Z0, Z5, Z2, Z4, Z3, Z1, 56, 60)
	ROUND512(Z0, Z1, Z2, Z3, Z4, Z5, 64, 68)
	ROUND512(Z0, Z5, Z2, Z4, Z3, Z1, 72, 76)
	STORE512(0, Z0, Z1, Z2, Z3, Z4)
	ADDQ $128, DI
	DECQ CX
	JNZ  one

done:
	VZEROUPPER
	RET

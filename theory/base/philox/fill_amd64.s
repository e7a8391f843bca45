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

// ROUND takes the state x0, x1, x2, x3 to x0, p1, x2, p0: the words 1 and 3 are low halves of products,
// which stay where they are. at is where the keys of the round lie, one in all lanes.
#define ROUND(x0, x1, x2, x3, p0, p1, at) \
	VPMULUDQ x0, Y14, p0          \
	VPMULUDQ x2, Y15, p1          \
	VPXOR    at(SP), x1, x1       \
	VPXOR    (at+32)(SP), x3, x3  \
	VPSRLQ   $32, p1, x0          \
	VPSRLQ   $32, p0, x2          \
	VPXOR    x1, x0, x0           \
	VPXOR    x3, x2, x2

// There are two forms of a state, and ROUND takes one to the other.
#define EVEN(at) \
	ROUND(Y0, Y1, Y2, Y3, Y4, Y5, at)  \
	ROUND(Y6, Y7, Y8, Y9, Y10, Y11, at)

#define ODD(at) \
	ROUND(Y0, Y5, Y2, Y4, Y3, Y1, at)  \
	ROUND(Y6, Y11, Y8, Y10, Y9, Y7, at)

// START begins with the calls from that in Y12 on: the other words are the same for all.
#define START(x0, x1, x2, x3) \
	VMOVDQA Y12, x0           \
	VMOVDQU 640(SP), x1       \
	VMOVDQU 672(SP), x2       \
	VMOVDQU 704(SP), x3       \
	VPADDD  Y13, Y12, Y12

// STORE turns lanes of words to words of calls: x0 takes output 1 into its odd halves and x2 output
// 3, then the two are interleaved.
#define STORE(x0, x1, x2, x3, to) \
	VPSLLQ      $32, x1, x1      \
	VPSLLQ      $32, x3, x3      \
	VPBLENDD    $0xAA, x1, x0, x0 \
	VPBLENDD    $0xAA, x3, x2, x2 \
	VPUNPCKLQDQ x2, x0, x1       \
	VPUNPCKHQDQ x2, x0, x3       \
	VPERM2I128  $0x20, x3, x1, x0 \
	VPERM2I128  $0x31, x3, x1, x2 \
	VMOVDQU     x0, to(DI)       \
	VMOVDQU     x2, (to+32)(DI)

// func fillVector(dst *uint64, groups int, keys *Keys, c *Counter)
TEXT ·fillVector(SB), 0, $736-32
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVQ keys+16(FP), SI
	MOVQ c+24(FP), DX

	// On the stack: the 20 keys, and the words 1 to 3 of the counter, each in all lanes.
	XORL R8, R8
	LEAQ 0(SP), R9

key:
	VPBROADCASTD (SI)(R8*4), Y0
	VMOVDQU      Y0, (R9)
	ADDQ         $32, R9
	INCQ         R8
	CMPQ         R8, $20
	JLT          key
	VPBROADCASTD 4(DX), Y0
	VPBROADCASTD 8(DX), Y1
	VPBROADCASTD 12(DX), Y2
	VMOVDQU      Y0, 640(SP)
	VMOVDQU      Y1, 672(SP)
	VMOVDQU      Y2, 704(SP)

	MOVL         $0xD2511F53, AX
	VMOVQ         AX, X14
	VPBROADCASTQ X14, Y14
	MOVL         $0xCD9E8D57, AX
	VMOVQ         AX, X15
	VPBROADCASTQ X15, Y15
	VPBROADCASTD 0(DX), Y12
	VPADDD       lanes<>(SB), Y12, Y12
	MOVL         $4, AX
	VMOVQ         AX, X13
	VPBROADCASTD X13, Y13

	// A round waits for the last: two groups at a time. Of an odd number, the second of the last two
	// is not stored.
two:
	START(Y0, Y1, Y2, Y3)
	START(Y6, Y7, Y8, Y9)
	EVEN(0)
	ODD(64)
	EVEN(128)
	ODD(192)
	EVEN(256)
	ODD(320)
	EVEN(384)
	ODD(448)
	EVEN(512)
	ODD(576)
	STORE(Y0, Y1, Y2, Y3, 0)
	DECQ CX
	JZ   done
	STORE(Y6, Y7, Y8, Y9, 64)
	ADDQ $128, DI
	DECQ CX
	JNZ  two

done:
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

// func fillWide(dst *uint64, groups int, keys *Keys, c *Counter)
TEXT ·fillWide(SB), NOSPLIT, $0-32
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

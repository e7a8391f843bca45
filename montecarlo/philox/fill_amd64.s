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

#define ROUND512(k0, k1) \
	VPMULUDQ   Z0, Z8, Z4         \
	VPMULUDQ   Z2, Z9, Z5         \
	VPXORD.BCST k0(SI), Z1, Z1    \
	VPXORD.BCST k1(SI), Z3, Z3    \
	VPSRLQ     $32, Z5, Z0        \
	VPSRLQ     $32, Z4, Z2        \
	VPXORD     Z1, Z0, Z0         \
	VPXORD     Z3, Z2, Z2         \
	VMOVDQA64  Z5, Z1             \
	VMOVDQA64  Z4, Z3

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
	VPBROADCASTD 4(DX), Z11
	VPBROADCASTD 8(DX), Z12
	VPBROADCASTD 12(DX), Z13
	MOVL         $0xAAAA, AX
	KMOVW        AX, K1

group:
	VMOVDQA64 Z10, Z0
	VMOVDQA64 Z11, Z1
	VMOVDQA64 Z12, Z2
	VMOVDQA64 Z13, Z3
	VPADDD    Z14, Z10, Z10

	ROUND512(0, 4)
	ROUND512(8, 12)
	ROUND512(16, 20)
	ROUND512(24, 28)
	ROUND512(32, 36)
	ROUND512(40, 44)
	ROUND512(48, 52)
	ROUND512(56, 60)
	ROUND512(64, 68)
	ROUND512(72, 76)

	VPSLLQ      $32, Z1, Z1
	VPSLLQ      $32, Z3, Z3
	VMOVDQA32   Z1, K1, Z0
	VMOVDQA32   Z3, K1, Z2
	VPUNPCKLQDQ Z2, Z0, Z4 // calls 0 to 3
	VPUNPCKHQDQ Z2, Z0, Z5 // calls 4 to 7
	VMOVDQU64   Z4, 0(DI)
	VMOVDQU64   Z5, 64(DI)
	ADDQ        $128, DI
	DECQ        CX
	JNZ         group

	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"

// A group of 16 samples is two YMM registers, or one ZMM register: the same integers
// and the same roundings as the loop in Go, which says what is computed. No fused
// products: they would round otherwise.

// TERM is a step of Horner's scheme: Y0 = Y0·Y1 + coefficient k of the octave in Y2,
// of which Y3 says whether it is 8 or more.
#define TERM(k) \
	VMULPS    Y1, Y0, Y0              \
	VPERMPS   (256*k)(BX), Y2, Y4     \
	VPERMPS   (256*k+32)(BX), Y2, Y5  \
	VBLENDVPS Y3, Y5, Y4, Y4          \
	VADDPS    Y4, Y0, Y0

// NORMALS sets Y0 to the noise of the draws in Y0; Y15 collects which are in the
// tail. The octave comes from the exponent of the magnitude as a floating-point
// number, whose second bit is cleared first so that it cannot be rounded up.
#define NORMALS \
	VPSRAD     $31, Y0, Y7            \
	VPAND      Y8, Y0, Y1             \
	VPCMPGTD   Y1, Y9, Y2             \
	VPOR       Y2, Y15, Y15           \
	VPSRLD     $1, Y1, Y2             \
	VPANDN     Y1, Y2, Y2             \
	VCVTDQ2PS  Y2, Y2                 \
	VPSRLD     $23, Y2, Y2            \
	VPSUBD     Y2, Y10, Y2            \
	VPADDD     Y1, Y1, Y1             \
	VPOR       Y11, Y1, Y1            \
	VPSLLVD    Y2, Y1, Y1             \
	VPSLLD     $1, Y1, Y1             \
	VPSRLD     $9, Y1, Y1             \
	VPOR       Y12, Y1, Y1            \
	VSUBPS     Y14, Y1, Y1            \
	VPSLLD     $28, Y2, Y3            \
	VPERMPS    (256*7)(BX), Y2, Y4    \
	VPERMPS    (256*7+32)(BX), Y2, Y5 \
	VBLENDVPS  Y3, Y5, Y4, Y0         \
	TERM(6)                           \
	TERM(5)                           \
	TERM(4)                           \
	TERM(3)                           \
	TERM(2)                           \
	TERM(1)                           \
	TERM(0)                           \
	VCVTTPS2DQ Y0, Y0                 \
	VPXOR      Y7, Y0, Y0             \
	VPSUBD     Y7, Y0, Y0

// func noiseAVX2(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)
TEXT ·noiseAVX2(SB), NOSPLIT, $0-41
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	MOVQ centers+32(FP), DX

	MOVL         $0x7FFFFFFF, AX
	MOVQ         AX, X8
	VPBROADCASTD X8, Y8
	MOVL         $(1<<15), AX
	MOVQ         AX, X9
	VPBROADCASTD X9, Y9
	MOVL         $157, AX
	MOVQ         AX, X10
	VPBROADCASTD X10, Y10
	MOVL         $1, AX
	MOVQ         AX, X11
	VPBROADCASTD X11, Y11
	MOVL         $0x3F800000, AX // 1
	MOVQ         AX, X12
	VPBROADCASTD X12, Y12
	MOVL         $0x3FC00000, AX // 1.5
	MOVQ         AX, X14
	VPBROADCASTD X14, Y14
	VPXOR        Y15, Y15, Y15
	MOVL         $128, AX
	MOVQ         AX, X13
	VPBROADCASTD X13, Y13

bit:
	VMOVDQU (SI), Y0
	NORMALS
	TESTQ   DX, DX
	JZ      raw
	VPBROADCASTD (DX), Y1
	VPADDD  Y13, Y1, Y1
	VPADDD  Y1, Y0, Y0
	VPSRAD  $8, Y0, Y0
	VMOVDQU Y0, (DI)
	VMOVDQU 32(SI), Y0
	NORMALS
	VPBROADCASTD (DX), Y1
	VPADDD  Y13, Y1, Y1
	VPADDD  Y1, Y0, Y0
	VPSRAD  $8, Y0, Y0
	VMOVDQU Y0, 32(DI)
	ADDQ    $4, DX
	JMP     next

raw:
	VMOVDQU Y0, (DI)
	VMOVDQU 32(SI), Y0
	NORMALS
	VMOVDQU Y0, 32(DI)

next:
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  bit

	VPMOVMSKB Y15, AX
	TESTL     AX, AX
	SETNE     tails+40(FP)
	VZEROUPPER
	RET

#define TERM512(c) \
	VMULPS  Z1, Z0, Z0 \
	VPERMPS c, Z2, Z4  \
	VADDPS  Z4, Z0, Z0

// func noiseAVX512(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)
TEXT ·noiseAVX512(SB), NOSPLIT, $0-41
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	MOVQ centers+32(FP), DX

	MOVL         $0x7FFFFFFF, AX
	VPBROADCASTD AX, Z8
	MOVL         $(1<<15), AX
	VPBROADCASTD AX, Z9
	MOVL         $1, AX
	VPBROADCASTD AX, Z11
	MOVL         $0x3F800000, AX // 1
	VPBROADCASTD AX, Z12
	MOVL         $0x3FC00000, AX // 1.5
	VPBROADCASTD AX, Z14
	MOVL         $128, AX
	VPBROADCASTD AX, Z13
	VMOVUPS      0(BX), Z16
	VMOVUPS      256(BX), Z17
	VMOVUPS      512(BX), Z18
	VMOVUPS      768(BX), Z19
	VMOVUPS      1024(BX), Z20
	VMOVUPS      1280(BX), Z21
	VMOVUPS      1536(BX), Z22
	VMOVUPS      1792(BX), Z23
	XORL         R8, R8

bit:
	VMOVDQU32  (SI), Z0
	VPSRAD     $31, Z0, Z7
	VPANDD     Z8, Z0, Z1
	VPCMPGTD   Z1, Z9, K1 // v < 2¹⁵
	KMOVW      K1, AX
	ORL        AX, R8
	VPADDD     Z1, Z1, Z1
	VPORD      Z11, Z1, Z1
	VPLZCNTD   Z1, Z2
	VPSLLVD    Z2, Z1, Z1
	VPSLLD     $1, Z1, Z1
	VPSRLD     $9, Z1, Z1
	VPORD      Z12, Z1, Z1
	VSUBPS     Z14, Z1, Z1
	VPERMPS    Z23, Z2, Z0
	TERM512(Z22)
	TERM512(Z21)
	TERM512(Z20)
	TERM512(Z19)
	TERM512(Z18)
	TERM512(Z17)
	TERM512(Z16)
	VCVTTPS2DQ Z0, Z0
	VPXORD     Z7, Z0, Z0
	VPSUBD     Z7, Z0, Z0
	TESTQ      DX, DX
	JZ         raw
	VPBROADCASTD (DX), Z1
	VPADDD     Z13, Z1, Z1
	VPADDD     Z1, Z0, Z0
	VPSRAD     $8, Z0, Z0
	ADDQ       $4, DX

raw:
	VMOVDQU32 Z0, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  bit

	TESTL R8, R8
	SETNE tails+40(FP)
	VZEROUPPER
	RET

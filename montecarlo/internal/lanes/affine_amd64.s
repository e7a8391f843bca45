//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"
#include "decay_amd64.h"

// ROW adds a factor times the numbers in Y8 and Y9 to two halves of a row.
#define ROW(at, low, high) \
	VBROADCASTSS at(DI), Y10 \
	VMULPS       Y8, Y10, Y11 \
	VMULPS       Y9, Y10, Y12 \
	VADDPS       Y11, low, low \
	VADDPS       Y12, high, high

// STORE rounds two halves of a row to integers.
#define STORE(at, low, high) \
	VCVTPS2DQ low, low        \
	VCVTPS2DQ high, high      \
	VMOVDQU   low, at(R9)     \
	VMOVDQU   high, (at+32)(R9) \
	VPMAXSD   low, Y14, Y14   \
	VPMAXSD   high, Y15, Y15

// func affineVector(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)
TEXT ·affineVector(SB), NOSPLIT, $0-56
	IFWIDE(wide)
	MOVQ sums+0(FP), R9
	MOVQ most+8(FP), R10
	MOVQ x+16(FP), DX
	MOVQ factors+24(FP), DI
	MOVQ offsets+32(FP), R8
	MOVQ lengths+40(FP), R11
	MOVQ n+48(FP), R12

	VPCMPEQD Y14, Y14, Y14
	VPSLLD   $31, Y14, Y14 // the smallest integer
	VMOVDQA  Y14, Y15

group:
	VBROADCASTSS (R8), Y0
	VBROADCASTSS 4(R8), Y2
	VBROADCASTSS 8(R8), Y4
	VBROADCASTSS 12(R8), Y6
	VMOVAPS      Y0, Y1
	VMOVAPS      Y2, Y3
	VMOVAPS      Y4, Y5
	VMOVAPS      Y6, Y7
	MOVQ         DX, SI
	MOVL         (R11), CX
	TESTL        CX, CX
	JEQ          store

number:
	VCVTDQ2PS (SI), Y8
	VCVTDQ2PS 32(SI), Y9
	ROW(0, Y0, Y1)
	ROW(4, Y2, Y3)
	ROW(8, Y4, Y5)
	ROW(12, Y6, Y7)
	ADDQ $64, SI
	ADDQ $16, DI
	DECL CX
	JNZ  number

store:
	STORE(0, Y0, Y1)
	STORE(64, Y2, Y3)
	STORE(128, Y4, Y5)
	STORE(192, Y6, Y7)
	ADDQ $256, R9
	ADDQ $16, R8
	ADDQ $4, R11
	DECQ R12
	JNZ  group

	VMOVDQU Y14, (R10)
	VMOVDQU Y15, 32(R10)
	VZEROUPPER
	RET

wide:
	MOVQ sums+0(FP), R9
	MOVQ most+8(FP), R10
	MOVQ x+16(FP), DX
	MOVQ factors+24(FP), DI
	MOVQ offsets+32(FP), R8
	MOVQ lengths+40(FP), R11
	MOVQ n+48(FP), R12

	VPTERNLOGD $0xFF, Z15, Z15, Z15
	VPSLLD     $31, Z15, Z15 // the smallest integer

group512:
	VBROADCASTSS (R8), Z0
	VBROADCASTSS 4(R8), Z1
	VBROADCASTSS 8(R8), Z2
	VBROADCASTSS 12(R8), Z3
	MOVQ         DX, SI
	MOVL         (R11), CX
	TESTL        CX, CX
	JEQ          store512

number512:
	VCVTDQ2PS   (SI), Z4
	VMULPS.BCST (DI), Z4, Z5
	VMULPS.BCST 4(DI), Z4, Z6
	VMULPS.BCST 8(DI), Z4, Z7
	VMULPS.BCST 12(DI), Z4, Z8
	VADDPS      Z5, Z0, Z0
	VADDPS      Z6, Z1, Z1
	VADDPS      Z7, Z2, Z2
	VADDPS      Z8, Z3, Z3
	ADDQ        $64, SI
	ADDQ        $16, DI
	DECL        CX
	JNZ         number512

store512:
	VCVTPS2DQ Z0, Z0
	VCVTPS2DQ Z1, Z1
	VCVTPS2DQ Z2, Z2
	VCVTPS2DQ Z3, Z3
	VMOVDQU32 Z0, (R9)
	VMOVDQU32 Z1, 64(R9)
	VMOVDQU32 Z2, 128(R9)
	VMOVDQU32 Z3, 192(R9)
	VPMAXSD   Z0, Z15, Z15
	VPMAXSD   Z1, Z15, Z15
	VPMAXSD   Z2, Z15, Z15
	VPMAXSD   Z3, Z15, Z15
	ADDQ      $256, R9
	ADDQ      $16, R8
	ADDQ      $4, R11
	DECQ      R12
	JNZ       group512

	VMOVDQU32 Z15, (R10)
	VZEROUPPER
	RET

// func medianVector(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)
TEXT ·medianVector(SB), NOSPLIT, $0-56
	IFWIDE(wide)
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX
	MOVQ scratch+48(FP), DI

	MOVL limit+32(FP), R11
	VMOVQ R11, X15
	VPBROADCASTD X15, Y15
	VBROADCASTSS scale+36(FP), Y14
	VBROADCASTSS 20(AX), Y13
	VBROADCASTSS 16(AX), Y12
	VBROADCASTSS 12(AX), Y11
	VBROADCASTSS 8(AX), Y10
	VBROADCASTSS 4(AX), Y9
	VBROADCASTSS (AX), Y8
	VMOVDQU (DX), Y6
	VMOVDQU 32(DX), Y7
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2

	// Weights of the candidates within the limit of any sample, at DI; their places at R8.
	MOVQ CX, R8
	SHLQ $6, R8
	LEAQ 64(DI)(R8*1), R8
	MOVQ DI, R12
	MOVQ R8, R13
	XORL R10, R10
	XORL R11, R11 // their number

weigh:
	VPSUBD    (SI), Y6, Y0
	VPSUBD    32(SI), Y7, Y3
	VPCMPGTD  Y15, Y0, Y4
	VPCMPGTD  Y15, Y3, Y5
	VPAND     Y4, Y5, Y5
	VMOVMSKPS Y5, AX
	CMPL      AX, $0xFF
	JEQ       light
	DECAY
	VMOVUPS   Y5, (DI)
	VADDPS    Y5, Y1, Y1
	VPSUBD    32(SI), Y7, Y0
	DECAY
	VMOVUPS   Y5, 32(DI)
	VADDPS    Y5, Y2, Y2
	MOVL      R10, (R8)
	ADDQ      $64, DI
	ADDQ      $4, R8
	INCQ      R11

light:
	ADDQ $64, SI
	INCL R10
	CMPL R10, CX
	JLT  weigh
	MOVL $0, (R8)

	MOVL         $0x3F000000, AX // 0.5
	VMOVQ         AX, X0
	VBROADCASTSS X0, Y0
	VMULPS       Y0, Y1, Y1
	VMULPS       Y0, Y2, Y2
	VPXOR        Y3, Y3, Y3
	VPXOR        Y4, Y4, Y4
	VPBROADCASTD (R13), Y5
	VMOVDQA      Y5, Y6

below:
	VADDPS       (R12), Y3, Y3
	VADDPS       32(R12), Y4, Y4
	VPBROADCASTD 4(R13), Y7
	VCMPPS       $1, Y1, Y3, Y8 // below < half
	VCMPPS       $1, Y2, Y4, Y9
	VBLENDVPS    Y8, Y7, Y5, Y5
	VBLENDVPS    Y9, Y7, Y6, Y6
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R11
	JNZ          below

	MOVQ    place+0(FP), DI
	VMOVDQU Y5, (DI)
	VMOVDQU Y6, 32(DI)
	VZEROUPPER
	RET

wide:
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX
	MOVQ scratch+48(FP), DI

	MOVL limit+32(FP), R11
	VPBROADCASTD R11, Z15
	VBROADCASTSS scale+36(FP), Z14
	VBROADCASTSS 20(AX), Z13
	VBROADCASTSS 16(AX), Z12
	VBROADCASTSS 12(AX), Z11
	VBROADCASTSS 8(AX), Z10
	VBROADCASTSS 4(AX), Z9
	VBROADCASTSS (AX), Z8
	VMOVDQU32 (DX), Z6
	VPXORD Z1, Z1, Z1

	MOVQ CX, R8
	SHLQ $6, R8
	LEAQ 64(DI)(R8*1), R8
	MOVQ DI, R12
	MOVQ R8, R13
	XORL R10, R10
	XORL R11, R11

weigh512:
	VPSUBD    (SI), Z6, Z0
	VPCMPD    $2, Z15, Z0, K1 // within the limit
	KORTESTW  K1, K1
	JEQ       light512
	DECAY512
	VMOVUPS.Z Z5, K1, Z5
	VMOVUPS   Z5, (DI)
	VADDPS    Z5, Z1, Z1
	MOVL      R10, (R8)
	ADDQ      $64, DI
	ADDQ      $4, R8
	INCQ      R11

light512:
	ADDQ $64, SI
	INCL R10
	CMPL R10, CX
	JLT  weigh512
	MOVL $0, (R8)

	MOVL         $0x3F000000, AX // 0.5
	VPBROADCASTD AX, Z0
	VMULPS       Z0, Z1, Z1
	VPXORD       Z3, Z3, Z3
	VPBROADCASTD (R13), Z5

below512:
	VADDPS       (R12), Z3, Z3
	VCMPPS       $1, Z1, Z3, K1 // below < half
	VPBROADCASTD 4(R13), K1, Z5
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R11
	JNZ          below512

	MOVQ      place+0(FP), DI
	VMOVDQU32 Z5, (DI)
	VZEROUPPER
	RET

// func firstVector(place, sums, most *Ints, n int)
TEXT ·firstVector(SB), NOSPLIT, $0-32
	IFWIDE(wide)
	MOVQ place+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX

	VMOVDQU (DX), Y6
	VMOVDQU 32(DX), Y7
	VPXOR   Y4, Y4, Y4
	VPXOR   Y5, Y5, Y5
	MOVQ    CX, R8
	SHLQ    $6, R8
	ADDQ    R8, SI

candidate:
	SUBQ         $64, SI
	DECQ         CX
	VMOVQ         CX, X0
	VPBROADCASTD X0, Y0
	VPCMPEQD     (SI), Y6, Y1
	VPCMPEQD     32(SI), Y7, Y2
	VBLENDVPS    Y1, Y0, Y4, Y4
	VBLENDVPS    Y2, Y0, Y5, Y5
	TESTQ        CX, CX
	JNZ          candidate

	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	VZEROUPPER
	RET

wide:
	MOVQ place+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX

	VMOVDQU32 (DX), Z6
	VPXORD    Z4, Z4, Z4
	MOVQ      CX, R8
	SHLQ      $6, R8
	ADDQ      R8, SI

candidate512:
	SUBQ         $64, SI
	DECQ         CX
	VPCMPEQD     (SI), Z6, K1
	VPBROADCASTD CX, K1, Z4
	TESTQ        CX, CX
	JNZ          candidate512

	VMOVDQU32 Z4, (DI)
	VZEROUPPER
	RET

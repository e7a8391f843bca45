//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"
#include "decay_amd64.h"

// func weightsVector(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, stride int)
TEXT ·weightsVector(SB), NOSPLIT, $0-56
	IFWIDE(wide)
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX
	MOVQ stride+48(FP), BX

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

word:
	VPSUBD  (SI), Y6, Y0
	DECAY
	VMOVUPS Y5, (DI)
	VPSUBD  32(SI), Y7, Y0
	DECAY
	VMOVUPS Y5, 32(DI)
	ADDQ    BX, SI
	ADDQ    BX, DI
	DECQ    CX
	JNZ     word

	VZEROUPPER
	RET

wide:
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX
	MOVQ stride+48(FP), BX

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

word512:
	VPSUBD   (SI), Z6, Z0
	VPCMPD   $2, Z15, Z0, K1 // within the limit
	DECAY512
	VMOVUPS.Z Z5, K1, Z5
	VMOVUPS  Z5, (DI)
	ADDQ     BX, SI
	ADDQ     BX, DI
	DECQ     CX
	JNZ      word512

	VZEROUPPER
	RET

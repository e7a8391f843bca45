//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"
#include "decay_amd64.h"

// WEIGH adds the weights of DECAY, and their products with the offset in Y7, to two
// sums.
#define WEIGH(weight, sum) \
	DECAY                         \
	VADDPS     Y5, weight, weight \
	VMULPS     Y7, Y5, Y5         \
	VADDPS     Y5, sum, sum

// func softmaxVector(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32, stride int)
TEXT ·softmaxVector(SB), NOSPLIT, $0-72
	IFWIDE(wide)
	MOVQ sums+16(FP), SI
	MOVQ most+24(FP), DX
	MOVQ offsets+32(FP), R8
	MOVQ n+40(FP), CX
	MOVQ c+56(FP), AX
	MOVQ stride+64(FP), BX

	MOVL limit+48(FP), R11
	VMOVQ R11, X15
	VPBROADCASTD X15, Y15
	VBROADCASTSS scale+52(FP), Y14
	VBROADCASTSS 20(AX), Y13
	VBROADCASTSS 16(AX), Y12
	VBROADCASTSS 12(AX), Y11
	VBROADCASTSS 8(AX), Y10
	VBROADCASTSS 4(AX), Y9
	VBROADCASTSS (AX), Y8
	MOVQ weight+0(FP), R9
	MOVQ sum+8(FP), R10
	VPXOR Y1, Y1, Y1
	VMOVDQU Y1, (R9)
	VMOVDQU Y1, 32(R9)
	VMOVDQU Y1, (R10)
	VMOVDQU Y1, 32(R10)
	MOVQ CX, R11
	MOVQ SI, R12
	MOVQ R8, R13
	VMOVDQU (DX), Y6
	VPXOR Y2, Y2, Y2

low:
	VPSUBD    (SI), Y6, Y0
	VPCMPGTD  Y15, Y0, Y3
	VMOVMSKPS Y3, AX
	CMPL      AX, $0xFF
	JEQ       lownext
	VBROADCASTSS (R8), Y7
	WEIGH(Y1, Y2)

lownext:
	ADDQ BX, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  low
	VMOVDQU Y1, (R9)
	VMOVDQU Y2, (R10)

	VMOVDQU 32(DX), Y6
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2

high:
	VPSUBD    32(R12), Y6, Y0
	VPCMPGTD  Y15, Y0, Y3
	VMOVMSKPS Y3, AX
	CMPL      AX, $0xFF
	JEQ       highnext
	VBROADCASTSS (R13), Y7
	WEIGH(Y1, Y2)

highnext:
	ADDQ BX, R12
	ADDQ $4, R13
	DECQ R11
	JNZ  high
	VMOVDQU Y1, 32(R9)
	VMOVDQU Y2, 32(R10)
	VZEROUPPER
	RET

wide:
	MOVQ sums+16(FP), SI
	MOVQ most+24(FP), DX
	MOVQ offsets+32(FP), R8
	MOVQ n+40(FP), CX
	MOVQ c+56(FP), AX
	MOVQ stride+64(FP), BX

	MOVL limit+48(FP), R11
	VPBROADCASTD R11, Z15
	VBROADCASTSS scale+52(FP), Z14
	VBROADCASTSS 20(AX), Z13
	VBROADCASTSS 16(AX), Z12
	VBROADCASTSS 12(AX), Z11
	VBROADCASTSS 8(AX), Z10
	VBROADCASTSS 4(AX), Z9
	VBROADCASTSS (AX), Z8
	MOVQ weight+0(FP), R9
	MOVQ sum+8(FP), R10
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VMOVDQU32 (DX), Z6

candidate512:
	VPSUBD   (SI), Z6, Z0
	VPCMPD   $2, Z15, Z0, K1 // within the limit
	KORTESTW K1, K1
	JEQ      next512
	DECAY512
	VADDPS     Z5, Z1, K1, Z1
	VBROADCASTSS (R8), Z7
	VMULPS     Z7, Z5, Z5
	VADDPS     Z5, Z2, K1, Z2

next512:
	ADDQ BX, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  candidate512

	VMOVUPS Z1, (R9)
	VMOVUPS Z2, (R10)
	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"

// func mixVector(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n, stride int)
TEXT ·mixVector(SB), NOSPLIT, $0-96
	IFWIDE(wide)
	MOVQ prefixes+16(FP), SI
	MOVQ suffixes+24(FP), DI
	MOVQ patterns+32(FP), R8
	MOVQ q+72(FP), R9
	MOVQ stride+88(FP), BX

	// Y0: the sum of all suffixes' weights.
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ DI, AX
	MOVQ R9, CX

suffix:
	VADDPS 0(AX), Y0, Y0
	VADDPS 32(AX), Y1, Y1
	ADDQ BX, AX
	DECQ CX
	JNZ  suffix

	// The sums of j·G of each pattern.
	MOVQ order+56(FP), R10
	MOVQ n+80(FP), R11
	MOVL $0x3F800000, AX // 1
	VMOVQ AX, X15
	VPBROADCASTD X15, Y15

pattern:
	VXORPS Y14, Y14, Y14 // j
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ R9, CX

member:
	MOVWLZX (R10), AX
	IMULQ   BX, AX
	VMULPS  0(DI)(AX*1), Y14, Y4
	VADDPS  Y4, Y2, Y2
	VMULPS  32(DI)(AX*1), Y14, Y5
	VADDPS  Y5, Y3, Y3
	VADDPS  Y15, Y14, Y14
	ADDQ    $2, R10
	DECQ    CX
	JNZ     member
	VMOVUPS Y2, 0(R8)
	VMOVUPS Y3, 32(R8)
	ADDQ    BX, R8
	DECQ    R11
	JNZ     pattern

	// Y2: the sum of prefixes' weights. Y6: that of weights times offsets.
	MOVQ patterns+32(FP), R8
	MOVQ offsets+40(FP), R10
	MOVQ patternOf+48(FP), R11
	MOVQ p+64(FP), CX
	VXORPS Y2, Y2, Y2
	VXORPS Y6, Y6, Y6
	VXORPS Y3, Y3, Y3
	VXORPS Y7, Y7, Y7

prefix:
	MOVWLZX (R11), AX
	IMULQ   BX, AX
	VBROADCASTSS (R10), Y8
	VMOVUPS 0(SI), Y9
	VADDPS  Y9, Y2, Y2
	VMULPS  Y0, Y8, Y10
	VADDPS  0(R8)(AX*1), Y10, Y10
	VMULPS  Y9, Y10, Y10
	VADDPS  Y10, Y6, Y6
	VMOVUPS 32(SI), Y9
	VADDPS  Y9, Y3, Y3
	VMULPS  Y1, Y8, Y10
	VADDPS  32(R8)(AX*1), Y10, Y10
	VMULPS  Y9, Y10, Y10
	VADDPS  Y10, Y7, Y7
	ADDQ    BX, SI
	ADDQ    $4, R10
	ADDQ    $2, R11
	DECQ    CX
	JNZ     prefix

	MOVQ weight+0(FP), AX
	MOVQ sum+8(FP), DX
	VMULPS  Y0, Y2, Y2
	VMOVUPS Y2, 0(AX)
	VMOVUPS Y6, 0(DX)
	VMULPS  Y1, Y3, Y3
	VMOVUPS Y3, 32(AX)
	VMOVUPS Y7, 32(DX)
	VZEROUPPER
	RET

wide:
	MOVQ prefixes+16(FP), SI
	MOVQ suffixes+24(FP), DI
	MOVQ patterns+32(FP), R8
	MOVQ q+72(FP), R9
	MOVQ stride+88(FP), BX

	// Z0: the sum of all suffixes' weights.
	VPXORD Z0, Z0, Z0
	MOVQ DI, AX
	MOVQ R9, CX

suffix512:
	VADDPS 0(AX), Z0, Z0
	ADDQ BX, AX
	DECQ CX
	JNZ  suffix512

	// The sums of j·G of each pattern.
	MOVQ order+56(FP), R10
	MOVQ n+80(FP), R11
	MOVL $0x3F800000, AX // 1
	VPBROADCASTD AX, Z15

pattern512:
	VPXORD Z14, Z14, Z14 // j
	VPXORD Z2, Z2, Z2
	MOVQ R9, CX

member512:
	MOVWLZX (R10), AX
	IMULQ   BX, AX
	VMULPS  0(DI)(AX*1), Z14, Z4
	VADDPS  Z4, Z2, Z2
	VADDPS  Z15, Z14, Z14
	ADDQ    $2, R10
	DECQ    CX
	JNZ     member512
	VMOVUPS Z2, 0(R8)
	ADDQ    BX, R8
	DECQ    R11
	JNZ     pattern512

	// Z2: the sum of prefixes' weights. Z6: that of weights times offsets.
	MOVQ patterns+32(FP), R8
	MOVQ offsets+40(FP), R10
	MOVQ patternOf+48(FP), R11
	MOVQ p+64(FP), CX
	VPXORD Z2, Z2, Z2
	VPXORD Z6, Z6, Z6

prefix512:
	MOVWLZX (R11), AX
	IMULQ   BX, AX
	VBROADCASTSS (R10), Z8
	VMOVUPS 0(SI), Z9
	VADDPS  Z9, Z2, Z2
	VMULPS  Z0, Z8, Z10
	VADDPS  0(R8)(AX*1), Z10, Z10
	VMULPS  Z9, Z10, Z10
	VADDPS  Z10, Z6, Z6
	ADDQ    BX, SI
	ADDQ    $4, R10
	ADDQ    $2, R11
	DECQ    CX
	JNZ     prefix512

	MOVQ weight+0(FP), AX
	MOVQ sum+8(FP), DX
	VMULPS  Z0, Z2, Z2
	VMOVUPS Z2, 0(AX)
	VMOVUPS Z6, 0(DX)
	VZEROUPPER
	RET

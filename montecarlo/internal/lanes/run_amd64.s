//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"

// func runVector(sums, most, best, logits *Ints, fixed *int64, starts, steps *uint32, n, stride int)
TEXT ·runVector(SB), NOSPLIT, $0-72
	IFWIDE(wide)
	MOVQ sums+0(FP), DI
	MOVQ logits+24(FP), SI
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ steps+48(FP), R10
	MOVQ n+56(FP), CX
	MOVQ stride+64(FP), R13

	VPXOR Y0, Y0, Y0 // the running sums
	VPXOR Y1, Y1, Y1
	VPXOR Y4, Y4, Y4 // places of the largest
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6 // place of the candidate
	VPCMPEQD Y7, Y7, Y7
	MOVL  $0x80000000, AX
	VMOVQ  AX, X2
	VPBROADCASTD X2, Y2 // the largest
	VMOVDQA Y2, Y3
	MOVL  (R9), R11 // step
	ADDQ  $4, R9

candidate:
	VPBROADCASTD (R8), Y8 // the low half of fixed, which fits it
	VPADDD Y8, Y0, Y0
	VPADDD Y8, Y1, Y1
	MOVL   (R9), R12
	CMPL   R11, R12
	JGE    summed

step:
	MOVL (R10)(R11*4), AX
	MOVL AX, DX
	SHRL $1, DX
	SHLQ $6, DX
	TESTL $1, AX
	JNZ  less
	VPADDD (SI)(DX*1), Y0, Y0
	VPADDD 32(SI)(DX*1), Y1, Y1
	INCQ R11
	CMPL R11, R12
	JLT  step
	JMP  summed

less:
	VPSUBD (SI)(DX*1), Y0, Y0
	VPSUBD 32(SI)(DX*1), Y1, Y1
	INCQ R11
	CMPL R11, R12
	JLT  step

summed:
	VMOVDQU  Y0, (DI)
	VMOVDQU  Y1, 32(DI)
	VPCMPGTD Y2, Y0, Y8
	VPCMPGTD Y3, Y1, Y9
	VPMAXSD  Y0, Y2, Y2
	VPMAXSD  Y1, Y3, Y3
	VPBLENDVB Y8, Y6, Y4, Y4
	VPBLENDVB Y9, Y6, Y5, Y5
	VPSUBD   Y7, Y6, Y6
	ADDQ     R13, DI
	ADDQ     $8, R8
	ADDQ     $4, R9
	DECQ     CX
	JNZ      candidate

	MOVQ    most+8(FP), AX
	VMOVDQU Y2, (AX)
	VMOVDQU Y3, 32(AX)
	MOVQ    best+16(FP), AX
	VMOVDQU Y4, (AX)
	VMOVDQU Y5, 32(AX)
	VZEROUPPER
	RET

wide:
	MOVQ sums+0(FP), DI
	MOVQ logits+24(FP), SI
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ steps+48(FP), R10
	MOVQ n+56(FP), CX
	MOVQ stride+64(FP), R13

	VPXORD       Z0, Z0, Z0 // the running sum
	VPXORD       Z4, Z4, Z4 // place of the largest
	VPXORD       Z6, Z6, Z6 // place of the candidate
	MOVL         $1, AX
	VPBROADCASTD AX, Z7
	MOVL         $0x80000000, AX
	VPBROADCASTD AX, Z2 // the largest
	MOVL         (R9), R11 // step
	ADDQ         $4, R9

candidate512:
	VPBROADCASTD (R8), Z8 // the low half of fixed, which fits it
	VPADDD Z8, Z0, Z0
	MOVL   (R9), R12
	CMPL   R11, R12
	JGE    summed512

step512:
	MOVL  (R10)(R11*4), AX
	MOVL  AX, DX
	SHRL  $1, DX
	SHLQ  $6, DX
	TESTL $1, AX
	JNZ   less512
	VPADDD (SI)(DX*1), Z0, Z0
	INCQ  R11
	CMPL  R11, R12
	JLT   step512
	JMP   summed512

less512:
	VPSUBD (SI)(DX*1), Z0, Z0
	INCQ  R11
	CMPL  R11, R12
	JLT   step512

summed512:
	VMOVDQU32 Z0, (DI)
	VPCMPGTD  Z2, Z0, K1
	VPMAXSD   Z0, Z2, Z2
	VMOVDQA32 Z6, K1, Z4
	VPADDD    Z7, Z6, Z6
	ADDQ      R13, DI
	ADDQ      $8, R8
	ADDQ      $4, R9
	DECQ      CX
	JNZ       candidate512

	MOVQ      most+8(FP), AX
	VMOVDQU32 Z2, (AX)
	MOVQ      best+16(FP), AX
	VMOVDQU32 Z4, (AX)
	VZEROUPPER
	RET

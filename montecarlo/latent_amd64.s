//go:build !purego

#include "textflag.h"

// Logits, correlations and softmax weights of a group of 16 samples, 8 to a YMM
// register: the same integers and the same roundings as the loops in Go, which
// say what is computed. No fused products: they would round otherwise.

// MULHIGH sets out to the high halves of a·b, 32 bits each: even lanes by one
// product, odd lanes, moved down, by another. Clobbers x, y.
#define MULHIGH(a, b, out, x, y) \
	VPSRLQ   $32, a, x     \
	VPSRLQ   $32, b, y     \
	VPMULUDQ a, b, out     \
	VPMULUDQ x, y, y       \
	VPSRLQ   $32, out, out \
	VPBLENDD $0xAA, y, out, out

// NORMALS sets Y0 to the noise of the draws in Y0; Y15 collects which are in the
// tail. The octave comes from the exponent of the magnitude as a floating-point
// number, whose second bit is cleared first so that it cannot be rounded up.
#define NORMALS \
	VPSRAD     $31, Y0, Y7      \
	VPAND      Y8, Y0, Y1       \
	VPCMPGTD   Y1, Y9, Y2       \
	VPOR       Y2, Y15, Y15     \
	VPSRLD     $1, Y1, Y2       \
	VPANDN     Y1, Y2, Y2       \
	VCVTDQ2PS  Y2, Y2           \
	VPSRLD     $23, Y2, Y2      \
	VPSUBD     Y2, Y10, Y2      \
	VPADDD     Y1, Y1, Y1       \
	VPOR       Y11, Y1, Y1      \
	VPSLLVD    Y2, Y1, Y1       \
	VPSLLD     $6, Y2, Y2       \
	VPSLLD     $1, Y1, Y3       \
	VPSRLD     $26, Y3, Y3      \
	VPADDD     Y3, Y2, Y2       \
	VPMAXSD    Y12, Y2, Y2      \
	VPMINSD    Y14, Y2, Y2      \
	VPADDD     Y2, Y2, Y3       \
	VPADDD     Y3, Y2, Y2       \
	VPSLLD     $7, Y1, Y1       \
	VPCMPEQD   Y3, Y3, Y3       \
	VPGATHERDD Y3, 8(BX)(Y2*4), Y4 \
	MULHIGH(Y1, Y4, Y5, Y3, Y6) \
	VPCMPEQD   Y3, Y3, Y3       \
	VPGATHERDD Y3, 4(BX)(Y2*4), Y4 \
	VPSUBD     Y5, Y4, Y4       \
	MULHIGH(Y1, Y4, Y5, Y3, Y6) \
	VPCMPEQD   Y3, Y3, Y3       \
	VPGATHERDD Y3, (BX)(Y2*4), Y0 \
	VPSUBD     Y5, Y0, Y0       \
	VPXOR      Y7, Y0, Y0       \
	VPSUBD     Y7, Y0, Y0

// func noiseGroups(dst *lane, words *uint64, n int, table *normalTable, centers *int32) (tails bool)
TEXT ·noiseGroups(SB), NOSPLIT, $0-41
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
	VPXOR        Y12, Y12, Y12
	MOVL         $4095, AX
	MOVQ         AX, X14
	VPBROADCASTD X14, Y14
	VPXOR        Y15, Y15, Y15
	MOVL         $128, AX
	MOVQ         AX, X13
	VPBROADCASTD X13, Y13
	TESTQ        CX, CX
	JZ           finished

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

finished:
	VPMOVMSKB Y15, AX
	TESTL     AX, AX
	SETNE     tails+40(FP)
	VZEROUPPER
	RET

// func runGroup(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)
TEXT ·runGroup(SB), NOSPLIT, $0-64
	MOVQ sums+0(FP), DI
	MOVQ logits+24(FP), SI
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ steps+48(FP), R10
	MOVQ n+56(FP), CX

	VPXOR Y0, Y0, Y0 // the running sums
	VPXOR Y1, Y1, Y1
	VPXOR Y4, Y4, Y4 // places of the largest
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6 // place of the candidate
	VPCMPEQD Y7, Y7, Y7
	MOVL  $0x80000000, AX
	MOVQ  AX, X2
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
	ADDQ     $64, DI
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

// WEIGH adds the weights of 8 samples whose correlations are d below the largest:
// Y0 holds d, at least one of which is within the limit. Y1: weights' sum, Y2: sum
// of weights times offset.
#define WEIGH(weight, sum) \
	VPCMPGTD   Y15, Y0, Y3   \
	VCVTDQ2PS  Y0, Y0        \
	VMULPS     Y14, Y0, Y0   \
	VCVTTPS2DQ Y0, Y4        \
	VCVTDQ2PS  Y4, Y5        \
	VSUBPS     Y5, Y0, Y0    \
	VMULPS     Y0, Y13, Y5   \
	VADDPS     Y12, Y5, Y5   \
	VMULPS     Y0, Y5, Y5    \
	VADDPS     Y11, Y5, Y5   \
	VMULPS     Y0, Y5, Y5    \
	VADDPS     Y10, Y5, Y5   \
	VMULPS     Y0, Y5, Y5    \
	VADDPS     Y9, Y5, Y5    \
	VMULPS     Y0, Y5, Y5    \
	VADDPS     Y8, Y5, Y5    \
	VPSLLD     $23, Y4, Y4   \
	VPSUBD     Y4, Y5, Y5    \
	VPANDN     Y5, Y3, Y5    \
	VADDPS     Y5, weight, weight \
	VMULPS     Y7, Y5, Y5    \
	VADDPS     Y5, sum, sum

// func softmaxGroup(weight, sum *[lanes]float32, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)
TEXT ·softmaxGroup(SB), NOSPLIT, $0-64
	MOVQ sums+16(FP), SI
	MOVQ most+24(FP), DX
	MOVQ offsets+32(FP), R8
	MOVQ n+40(FP), CX
	MOVQ c+56(FP), AX

	MOVL limit+48(FP), R11
	MOVQ R11, X15
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
	ADDQ $64, SI
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
	ADDQ $64, R12
	ADDQ $4, R13
	DECQ R11
	JNZ  high
	VMOVDQU Y1, 32(R9)
	VMOVDQU Y2, 32(R10)
	VZEROUPPER
	RET

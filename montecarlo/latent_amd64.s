//go:build !purego

#include "textflag.h"

// Logits, correlations and softmax weights of a group of 16 samples, 8 to a YMM
// register: the same integers and the same roundings as the loops in Go, which
// say what is computed. No fused products: they would round otherwise.

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

// func noiseAVX2(dst *lane, words *uint64, n int, table *NormalTable, centers *int32) (tails bool)
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

// func noiseAVX512(dst *lane, words *uint64, n int, table *NormalTable, centers *int32) (tails bool)
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

// func runAVX2(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)
TEXT ·runAVX2(SB), NOSPLIT, $0-64
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

// DECAY sets Y5 to the weights of 8 samples whose correlations are Y0 below the
// largest, zero beyond the limit. WEIGH adds them, and their products with the
// offset in Y7, to two sums.
#define DECAY \
	VPCMPGTD   Y15, Y0, Y3        \
	VCVTDQ2PS  Y0, Y0             \
	VMULPS     Y14, Y0, Y0        \
	VCVTTPS2DQ Y0, Y4             \
	VCVTDQ2PS  Y4, Y5             \
	VSUBPS     Y5, Y0, Y0         \
	VMULPS     Y0, Y13, Y5        \
	VADDPS     Y12, Y5, Y5        \
	VMULPS     Y0, Y5, Y5         \
	VADDPS     Y11, Y5, Y5        \
	VMULPS     Y0, Y5, Y5         \
	VADDPS     Y10, Y5, Y5        \
	VMULPS     Y0, Y5, Y5         \
	VADDPS     Y9, Y5, Y5         \
	VMULPS     Y0, Y5, Y5         \
	VADDPS     Y8, Y5, Y5         \
	VPSLLD     $23, Y4, Y4        \
	VPSUBD     Y4, Y5, Y5         \
	VPANDN     Y5, Y3, Y5

#define WEIGH(weight, sum) \
	DECAY                         \
	VADDPS     Y5, weight, weight \
	VMULPS     Y7, Y5, Y5         \
	VADDPS     Y5, sum, sum

// func softmaxAVX2(weight, sum *[lanes]float32, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-64
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

// func runAVX512(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)
TEXT ·runAVX512(SB), NOSPLIT, $0-64
	MOVQ sums+0(FP), DI
	MOVQ logits+24(FP), SI
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ steps+48(FP), R10
	MOVQ n+56(FP), CX

	VPXORD       Z0, Z0, Z0 // the running sum
	VPXORD       Z4, Z4, Z4 // place of the largest
	VPXORD       Z6, Z6, Z6 // place of the candidate
	MOVL         $1, AX
	VPBROADCASTD AX, Z7
	MOVL         $0x80000000, AX
	VPBROADCASTD AX, Z2 // the largest
	MOVL         (R9), R11 // step
	ADDQ         $4, R9

candidate:
	VPBROADCASTD (R8), Z8 // the low half of fixed, which fits it
	VPADDD Z8, Z0, Z0
	MOVL   (R9), R12
	CMPL   R11, R12
	JGE    summed

step:
	MOVL  (R10)(R11*4), AX
	MOVL  AX, DX
	SHRL  $1, DX
	SHLQ  $6, DX
	TESTL $1, AX
	JNZ   less
	VPADDD (SI)(DX*1), Z0, Z0
	INCQ  R11
	CMPL  R11, R12
	JLT   step
	JMP   summed

less:
	VPSUBD (SI)(DX*1), Z0, Z0
	INCQ  R11
	CMPL  R11, R12
	JLT   step

summed:
	VMOVDQU32 Z0, (DI)
	VPCMPGTD  Z2, Z0, K1
	VPMAXSD   Z0, Z2, Z2
	VMOVDQA32 Z6, K1, Z4
	VPADDD    Z7, Z6, Z6
	ADDQ      $64, DI
	ADDQ      $8, R8
	ADDQ      $4, R9
	DECQ      CX
	JNZ       candidate

	MOVQ      most+8(FP), AX
	VMOVDQU32 Z2, (AX)
	MOVQ      best+16(FP), AX
	VMOVDQU32 Z4, (AX)
	VZEROUPPER
	RET

// DECAY512 sets Z5 to the weights of 16 samples, but for those beyond the limit.
#define DECAY512 \
	VCVTDQ2PS  Z0, Z0 \
	VMULPS     Z14, Z0, Z0 \
	VCVTTPS2DQ Z0, Z4 \
	VCVTDQ2PS  Z4, Z5 \
	VSUBPS     Z5, Z0, Z0 \
	VMULPS     Z0, Z13, Z5 \
	VADDPS     Z12, Z5, Z5 \
	VMULPS     Z0, Z5, Z5 \
	VADDPS     Z11, Z5, Z5 \
	VMULPS     Z0, Z5, Z5 \
	VADDPS     Z10, Z5, Z5 \
	VMULPS     Z0, Z5, Z5 \
	VADDPS     Z9, Z5, Z5 \
	VMULPS     Z0, Z5, Z5 \
	VADDPS     Z8, Z5, Z5 \
	VPSLLD     $23, Z4, Z4 \
	VPSUBD     Z4, Z5, Z5

// func softmaxAVX512(weight, sum *[lanes]float32, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-64
	MOVQ sums+16(FP), SI
	MOVQ most+24(FP), DX
	MOVQ offsets+32(FP), R8
	MOVQ n+40(FP), CX
	MOVQ c+56(FP), AX

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

candidate:
	VPSUBD   (SI), Z6, Z0
	VPCMPD   $2, Z15, Z0, K1 // within the limit
	KORTESTW K1, K1
	JEQ      next
	DECAY512
	VADDPS     Z5, Z1, K1, Z1
	VBROADCASTSS (R8), Z7
	VMULPS     Z7, Z5, Z5
	VADDPS     Z5, Z2, K1, Z2

next:
	ADDQ $64, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  candidate

	VMOVUPS Z1, (R9)
	VMOVUPS Z2, (R10)
	VZEROUPPER
	RET

// func weighAVX2(dst *weights, sums, most *lane, n int, limit int32, scale float32, c *[6]float32)
TEXT ·weighAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX

	MOVL limit+32(FP), R11
	MOVQ R11, X15
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
	ADDQ    $64, SI
	ADDQ    $64, DI
	DECQ    CX
	JNZ     word

	VZEROUPPER
	RET

// func weighAVX512(dst *weights, sums, most *lane, n int, limit int32, scale float32, c *[6]float32)
TEXT ·weighAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX

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

word:
	VPSUBD   (SI), Z6, Z0
	VPCMPD   $2, Z15, Z0, K1 // within the limit
	DECAY512
	VMOVUPS.Z Z5, K1, Z5
	VMOVUPS  Z5, (DI)
	ADDQ     $64, SI
	ADDQ     $64, DI
	DECQ     CX
	JNZ      word

	VZEROUPPER
	RET

// func mixAVX2(weight, sum, prefixes, suffixes, patterns *weights, offsets *float32, patternOf, order *uint16, p, q, n int)
TEXT ·mixAVX2(SB), NOSPLIT, $0-88
	MOVQ prefixes+16(FP), SI
	MOVQ suffixes+24(FP), DI
	MOVQ patterns+32(FP), R8
	MOVQ q+72(FP), R9

	// Y0: the sum of all suffixes' weights.
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ DI, AX
	MOVQ R9, CX

suffix:
	VADDPS 0(AX), Y0, Y0
	VADDPS 32(AX), Y1, Y1
	ADDQ $64, AX
	DECQ CX
	JNZ  suffix

	// The sums of j·G of each pattern.
	MOVQ order+56(FP), R10
	MOVQ n+80(FP), R11
	MOVL $0x3F800000, AX // 1
	MOVQ AX, X15
	VPBROADCASTD X15, Y15

pattern:
	VXORPS Y14, Y14, Y14 // j
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ R9, CX

member:
	MOVWLZX (R10), AX
	SHLQ    $6, AX
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
	ADDQ    $64, R8
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
	SHLQ    $6, AX
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
	ADDQ    $64, SI
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

// func mixAVX512(weight, sum, prefixes, suffixes, patterns *weights, offsets *float32, patternOf, order *uint16, p, q, n int)
TEXT ·mixAVX512(SB), NOSPLIT, $0-88
	MOVQ prefixes+16(FP), SI
	MOVQ suffixes+24(FP), DI
	MOVQ patterns+32(FP), R8
	MOVQ q+72(FP), R9

	// Z0: the sum of all suffixes' weights.
	VPXORD Z0, Z0, Z0
	MOVQ DI, AX
	MOVQ R9, CX

suffix:
	VADDPS 0(AX), Z0, Z0
	ADDQ $64, AX
	DECQ CX
	JNZ  suffix

	// The sums of j·G of each pattern.
	MOVQ order+56(FP), R10
	MOVQ n+80(FP), R11
	MOVL $0x3F800000, AX // 1
	VPBROADCASTD AX, Z15

pattern:
	VPXORD Z14, Z14, Z14 // j
	VPXORD Z2, Z2, Z2
	MOVQ R9, CX

member:
	MOVWLZX (R10), AX
	SHLQ    $6, AX
	VMULPS  0(DI)(AX*1), Z14, Z4
	VADDPS  Z4, Z2, Z2
	VADDPS  Z15, Z14, Z14
	ADDQ    $2, R10
	DECQ    CX
	JNZ     member
	VMOVUPS Z2, 0(R8)
	ADDQ    $64, R8
	DECQ    R11
	JNZ     pattern

	// Z2: the sum of prefixes' weights. Z6: that of weights times offsets.
	MOVQ patterns+32(FP), R8
	MOVQ offsets+40(FP), R10
	MOVQ patternOf+48(FP), R11
	MOVQ p+64(FP), CX
	VPXORD Z2, Z2, Z2
	VPXORD Z6, Z6, Z6

prefix:
	MOVWLZX (R11), AX
	SHLQ    $6, AX
	VBROADCASTSS (R10), Z8
	VMOVUPS 0(SI), Z9
	VADDPS  Z9, Z2, Z2
	VMULPS  Z0, Z8, Z10
	VADDPS  0(R8)(AX*1), Z10, Z10
	VMULPS  Z9, Z10, Z10
	VADDPS  Z10, Z6, Z6
	ADDQ    $64, SI
	ADDQ    $4, R10
	ADDQ    $2, R11
	DECQ    CX
	JNZ     prefix

	MOVQ weight+0(FP), AX
	MOVQ sum+8(FP), DX
	VMULPS  Z0, Z2, Z2
	VMOVUPS Z2, 0(AX)
	VMOVUPS Z6, 0(DX)
	VZEROUPPER
	RET

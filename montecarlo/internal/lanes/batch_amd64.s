//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"

// Four groups of 16 samples: in four ZMM registers, or two and then two in four YMM registers.

// LOGIT finds the logit of the next step, and whether it is taken away.
#define LOGIT \
	MOVL  (R10)(R11*4), AX \
	INCQ  R11              \
	MOVL  AX, DX           \
	SHRL  $1, DX           \
	SHLQ  $6, DX           \
	ADDQ  SI, DX           \
	TESTL $1, AX

// EACH2 adds what two groups have at an address, R13 bytes apart, to their sums Y0 to Y3; LESS2
// takes it away.
#define EACH2 \
	VPADDD (DX), Y0, Y0           \
	VPADDD 32(DX), Y1, Y1         \
	VPADDD (DX)(R13*1), Y2, Y2    \
	VPADDD 32(DX)(R13*1), Y3, Y3

#define LESS2 \
	VPSUBD (DX), Y0, Y0           \
	VPSUBD 32(DX), Y1, Y1         \
	VPSUBD (DX)(R13*1), Y2, Y2    \
	VPSUBD 32(DX)(R13*1), Y3, Y3

#define FIXED2 \
	VPBROADCASTD (R8), Y12    \
	VPADDD       Y12, Y0, Y0  \
	VPADDD       Y12, Y1, Y1  \
	VPADDD       Y12, Y2, Y2  \
	VPADDD       Y12, Y3, Y3

#define ZERO2 \
	VPXOR    Y0, Y0, Y0   \
	VPXOR    Y1, Y1, Y1   \
	VPXOR    Y2, Y2, Y2   \
	VPXOR    Y3, Y3, Y3   \
	VPCMPEQD Y4, Y4, Y4   \
	VPSLLD   $31, Y4, Y4  \
	VMOVDQA  Y4, Y5       \
	VMOVDQA  Y4, Y6       \
	VMOVDQA  Y4, Y7

// EACH adds what four groups have at an address, R13 bytes apart, to their sums Z0 to Z3; LESS
// takes it away.
#define EACH \
	VPADDD (DX), Z0, Z0         \
	VPADDD (DX)(R13*1), Z1, Z1  \
	VPADDD (DX)(R13*2), Z2, Z2  \
	VPADDD (DX)(BX*1), Z3, Z3

#define LESS \
	VPSUBD (DX), Z0, Z0         \
	VPSUBD (DX)(R13*1), Z1, Z1  \
	VPSUBD (DX)(R13*2), Z2, Z2  \
	VPSUBD (DX)(BX*1), Z3, Z3

#define FIXED \
	VPBROADCASTD (R8), Z8    \
	VPADDD       Z8, Z0, Z0  \
	VPADDD       Z8, Z1, Z1  \
	VPADDD       Z8, Z2, Z2  \
	VPADDD       Z8, Z3, Z3

#define ZERO \
	VPXORD       Z0, Z0, Z0 \
	VPXORD       Z1, Z1, Z1 \
	VPXORD       Z2, Z2, Z2 \
	VPXORD       Z3, Z3, Z3 \
	MOVL         $0x80000000, AX \
	VPBROADCASTD AX, Z4     \
	VMOVDQA32    Z4, Z5     \
	VMOVDQA32    Z4, Z6     \
	VMOVDQA32    Z4, Z7

// func runBatchVector(sums *Ints, most *[Batch]Ints, logits *Ints, stride int, fixed *int64, starts, steps *uint32, n int)
TEXT ·runBatchVector(SB), NOSPLIT, $0-64
	IFWIDE(wide)
	MOVQ sums+0(FP), DI
	MOVQ most+8(FP), R15
	MOVQ logits+16(FP), SI
	MOVQ stride+24(FP), R13
	MOVQ steps+48(FP), R10
	MOVL $2, BX

two:
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ n+56(FP), CX
	ZERO2 // the running sums, and the largest
	MOVL (R9), R11 // step
	ADDQ $4, R9

candidate:
	FIXED2 // its low half, which fits
	MOVL (R9), R12
	CMPL R11, R12
	JGE  summed

step:
	LOGIT
	JNZ  less
	EACH2
	CMPL R11, R12
	JLT  step
	JMP  summed

less:
	LESS2
	CMPL R11, R12
	JLT  step

summed:
	VMOVDQU Y0, 0(DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VPMAXSD Y0, Y4, Y4
	VPMAXSD Y1, Y5, Y5
	VPMAXSD Y2, Y6, Y6
	VPMAXSD Y3, Y7, Y7
	ADDQ    $256, DI
	ADDQ    $8, R8
	ADDQ    $4, R9
	DECQ    CX
	JNZ     candidate

	VMOVDQU Y4, 0(R15)
	VMOVDQU Y5, 32(R15)
	VMOVDQU Y6, 64(R15)
	VMOVDQU Y7, 96(R15)
	MOVQ    sums+0(FP), DI
	ADDQ    $128, DI
	ADDQ    $128, R15
	LEAQ    (SI)(R13*2), SI
	DECQ    BX
	JNZ     two
	VZEROUPPER
	RET

wide:
	MOVQ sums+0(FP), DI
	MOVQ logits+16(FP), SI
	MOVQ stride+24(FP), R13
	MOVQ fixed+32(FP), R8
	MOVQ starts+40(FP), R9
	MOVQ steps+48(FP), R10
	MOVQ n+56(FP), CX
	LEAQ (R13)(R13*2), BX

	ZERO // the running sums, and the largest
	MOVL (R9), R11 // step
	ADDQ $4, R9

candidate512:
	FIXED // its low half, which fits
	MOVL (R9), R12
	CMPL R11, R12
	JGE  summed512

step512:
	LOGIT
	JNZ  less512
	EACH
	CMPL R11, R12
	JLT  step512
	JMP  summed512

less512:
	LESS
	CMPL R11, R12
	JLT  step512

summed512:
	VMOVDQU32 Z0, 0(DI)
	VMOVDQU32 Z1, 64(DI)
	VMOVDQU32 Z2, 128(DI)
	VMOVDQU32 Z3, 192(DI)
	VPMAXSD   Z0, Z4, Z4
	VPMAXSD   Z1, Z5, Z5
	VPMAXSD   Z2, Z6, Z6
	VPMAXSD   Z3, Z7, Z7
	ADDQ      $256, DI
	ADDQ      $8, R8
	ADDQ      $4, R9
	DECQ      CX
	JNZ       candidate512

	MOVQ      most+8(FP), AX
	VMOVDQU32 Z4, 0(AX)
	VMOVDQU32 Z5, 64(AX)
	VMOVDQU32 Z6, 128(AX)
	VMOVDQU32 Z7, 192(AX)
	VZEROUPPER
	RET

// func bestBatchVector(best *[Batch]Floats, logits *Ints, stride int, fixed *int64, starts, steps *uint32, tags *float32, n int)
TEXT ·bestBatchVector(SB), NOSPLIT, $0-64
	IFWIDE(wide)
	MOVQ best+0(FP), R15
	MOVQ logits+8(FP), SI
	MOVQ stride+16(FP), R13
	MOVQ steps+40(FP), R10
	MOVL $2, BX

two:
	MOVQ fixed+24(FP), R8
	MOVQ starts+32(FP), R9
	MOVQ tags+48(FP), DI
	MOVQ n+56(FP), CX
	ZERO2
	VPBROADCASTD (DI), Y8 // tags of the largest
	VMOVDQA Y8, Y9
	VMOVDQA Y8, Y10
	VMOVDQA Y8, Y11
	MOVL (R9), R11
	ADDQ $4, R9

candidate:
	FIXED2
	MOVL (R9), R12
	CMPL R11, R12
	JGE  summed

step:
	LOGIT
	JNZ  less
	EACH2
	CMPL R11, R12
	JLT  step
	JMP  summed

less:
	LESS2
	CMPL R11, R12
	JLT  step

summed:
	VPBROADCASTD (DI), Y12
	VPCMPGTD  Y4, Y0, Y13
	VPMAXSD   Y0, Y4, Y4
	VBLENDVPS Y13, Y12, Y8, Y8
	VPCMPGTD  Y5, Y1, Y14
	VPMAXSD   Y1, Y5, Y5
	VBLENDVPS Y14, Y12, Y9, Y9
	VPCMPGTD  Y6, Y2, Y15
	VPMAXSD   Y2, Y6, Y6
	VBLENDVPS Y15, Y12, Y10, Y10
	VPCMPGTD  Y7, Y3, Y13
	VPMAXSD   Y3, Y7, Y7
	VBLENDVPS Y13, Y12, Y11, Y11
	ADDQ      $4, DI
	ADDQ      $8, R8
	ADDQ      $4, R9
	DECQ      CX
	JNZ       candidate

	VMOVDQU Y8, 0(R15)
	VMOVDQU Y9, 32(R15)
	VMOVDQU Y10, 64(R15)
	VMOVDQU Y11, 96(R15)
	ADDQ    $128, R15
	LEAQ    (SI)(R13*2), SI
	DECQ    BX
	JNZ     two
	VZEROUPPER
	RET

wide:
	MOVQ logits+8(FP), SI
	MOVQ stride+16(FP), R13
	MOVQ fixed+24(FP), R8
	MOVQ starts+32(FP), R9
	MOVQ steps+40(FP), R10
	MOVQ tags+48(FP), DI
	MOVQ n+56(FP), CX
	LEAQ (R13)(R13*2), BX

	ZERO
	VPBROADCASTD (DI), Z16 // tags of the largest
	VMOVDQA32    Z16, Z17
	VMOVDQA32    Z16, Z18
	VMOVDQA32    Z16, Z19
	MOVL (R9), R11
	ADDQ $4, R9

candidate512:
	FIXED
	MOVL (R9), R12
	CMPL R11, R12
	JGE  summed512

step512:
	LOGIT
	JNZ  less512
	EACH
	CMPL R11, R12
	JLT  step512
	JMP  summed512

less512:
	LESS
	CMPL R11, R12
	JLT  step512

summed512:
	VPBROADCASTD (DI), Z9
	VPCMPGTD  Z4, Z0, K1
	VPCMPGTD  Z5, Z1, K2
	VPCMPGTD  Z6, Z2, K3
	VPCMPGTD  Z7, Z3, K4
	VPMAXSD   Z0, Z4, Z4
	VPMAXSD   Z1, Z5, Z5
	VPMAXSD   Z2, Z6, Z6
	VPMAXSD   Z3, Z7, Z7
	VMOVDQA32 Z9, K1, Z16
	VMOVDQA32 Z9, K2, Z17
	VMOVDQA32 Z9, K3, Z18
	VMOVDQA32 Z9, K4, Z19
	ADDQ      $4, DI
	ADDQ      $8, R8
	ADDQ      $4, R9
	DECQ      CX
	JNZ       candidate512

	MOVQ      best+0(FP), AX
	VMOVDQU32 Z16, 0(AX)
	VMOVDQU32 Z17, 64(AX)
	VMOVDQU32 Z18, 128(AX)
	VMOVDQU32 Z19, 192(AX)
	VZEROUPPER
	RET

// Weights, as in decay_amd64.h: t is how far correlations are below the largest and then where that
// lies between whole exponents n, p the weight. Rounding mode 0x0B cuts, as the conversion does. AX points to the coefficients.

#define BELOW(at, most, t, k) \
	VPSUBD at(SI), most, t  \
	VPCMPD $2, Z15, t, k

#define SPLIT(t, n, p) \
	VCVTDQ2PS    t, t        \
	VMULPS       Z14, t, t   \
	VRNDSCALEPS  $0x0B, t, p \
	VCVTTPS2DQ   t, n        \
	VSUBPS       p, t, t     \
	VMULPS       t, Z13, p

#define TERM(at, t, p) \
	VADDPS.BCST at(AX), p, p \
	VMULPS      t, p, p

#define POWER(n, p) \
	VADDPS.BCST (AX), p, p \
	VPSLLD      $23, n, n  \
	VPSUBD      n, p, p

// POWERTO is POWER that leaves no weight beyond the limit.
#define POWERTO(n, p, k) \
	VADDPS.BCST (AX), p, p \
	VPSLLD      $23, n, n  \
	VPSUBD.Z    n, p, k, p

#define BELOWS \
	BELOW(0, Z16, Z0, K1)   \
	BELOW(64, Z17, Z1, K2)  \
	BELOW(128, Z18, Z2, K3) \
	BELOW(192, Z19, Z3, K4) \
	KORW     K1, K2, K5     \
	KORW     K3, K4, K6     \
	KORTESTW K5, K6

#define TERMS(at) \
	TERM(at, Z0, Z8)  \
	TERM(at, Z1, Z9)  \
	TERM(at, Z2, Z10) \
	TERM(at, Z3, Z11)

#define MORETERMS(at) \
	TERM(at, Z20, Z28) \
	TERM(at, Z21, Z29) \
	TERM(at, Z22, Z30) \
	TERM(at, Z23, Z31)

#define POLYNOMIALS \
	SPLIT(Z0, Z4, Z8)  \
	SPLIT(Z1, Z5, Z9)  \
	SPLIT(Z2, Z6, Z10) \
	SPLIT(Z3, Z7, Z11) \
	TERMS(16)          \
	TERMS(12)          \
	TERMS(8)           \
	TERMS(4)

#define DECAYS \
	POLYNOMIALS        \
	POWER(Z4, Z8)      \
	POWER(Z5, Z9)      \
	POWER(Z6, Z10)     \
	POWER(Z7, Z11)

#define ADD(p, weight, sum, k) \
	VADDPS p, weight, k, weight \
	VMULPS Z12, p, p            \
	VADDPS p, sum, k, sum

// func softmaxBatchWide(weight, sum *[Batch]Floats, sums *Ints, most *[Batch]Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)
TEXT ·softmaxBatchWide(SB), NOSPLIT, $0-64
	MOVQ sums+16(FP), SI
	MOVQ most+24(FP), DX
	MOVQ offsets+32(FP), R8
	MOVQ n+40(FP), CX
	MOVQ c+56(FP), AX

	MOVL limit+48(FP), R11
	VPBROADCASTD R11, Z15
	VBROADCASTSS scale+52(FP), Z14
	VBROADCASTSS 20(AX), Z13
	VMOVDQU32 0(DX), Z16
	VMOVDQU32 64(DX), Z17
	VMOVDQU32 128(DX), Z18
	VMOVDQU32 192(DX), Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23
	VPXORD Z24, Z24, Z24
	VPXORD Z25, Z25, Z25
	VPXORD Z26, Z26, Z26
	VPXORD Z27, Z27, Z27

candidate:
	BELOWS
	JEQ next
	DECAYS
	VBROADCASTSS (R8), Z12
	ADD(Z8, Z20, Z24, K1)
	ADD(Z9, Z21, Z25, K2)
	ADD(Z10, Z22, Z26, K3)
	ADD(Z11, Z23, Z27, K4)

next:
	ADDQ $256, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  candidate

	MOVQ weight+0(FP), DI
	VMOVUPS Z20, 0(DI)
	VMOVUPS Z21, 64(DI)
	VMOVUPS Z22, 128(DI)
	VMOVUPS Z23, 192(DI)
	MOVQ sum+8(FP), DI
	VMOVUPS Z24, 0(DI)
	VMOVUPS Z25, 64(DI)
	VMOVUPS Z26, 128(DI)
	VMOVUPS Z27, 192(DI)
	VZEROUPPER
	RET

// func weightsBatchWide(dst *Floats, sums *Ints, most *[Batch]Ints, n int, limit int32, scale float32, c *[6]float32)
TEXT ·weightsBatchWide(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ most+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+40(FP), AX

	MOVL limit+32(FP), R11
	VPBROADCASTD R11, Z15
	VBROADCASTSS scale+36(FP), Z14
	VBROADCASTSS 20(AX), Z13
	VMOVDQU32 0(DX), Z16
	VMOVDQU32 64(DX), Z17
	VMOVDQU32 128(DX), Z18
	VMOVDQU32 192(DX), Z19
	SUBQ      $2, CX
	JLT       last

	// Two correlations of each group, while there are two. The last compares when a mask is free.
two:
	BELOW(0, Z16, Z0, K1)
	BELOW(64, Z17, Z1, K2)
	BELOW(128, Z18, Z2, K3)
	BELOW(192, Z19, Z3, K4)
	BELOW(256, Z16, Z20, K5)
	BELOW(320, Z17, Z21, K6)
	BELOW(384, Z18, Z22, K7)
	VPSUBD 448(SI), Z19, Z23
	SPLIT(Z0, Z4, Z8)
	SPLIT(Z1, Z5, Z9)
	SPLIT(Z2, Z6, Z10)
	SPLIT(Z3, Z7, Z11)
	SPLIT(Z20, Z24, Z28)
	SPLIT(Z21, Z25, Z29)
	SPLIT(Z22, Z26, Z30)
	SPLIT(Z23, Z27, Z31)
	TERMS(16)
	MORETERMS(16)
	TERMS(12)
	MORETERMS(12)
	TERMS(8)
	MORETERMS(8)
	TERMS(4)
	MORETERMS(4)
	POWERTO(Z4, Z8, K1)
	BELOW(448, Z19, Z0, K1)
	POWERTO(Z5, Z9, K2)
	POWERTO(Z6, Z10, K3)
	POWERTO(Z7, Z11, K4)
	POWERTO(Z24, Z28, K5)
	POWERTO(Z25, Z29, K6)
	POWERTO(Z26, Z30, K7)
	POWERTO(Z27, Z31, K1)
	VMOVUPS Z8, 0(DI)
	VMOVUPS Z9, 64(DI)
	VMOVUPS Z10, 128(DI)
	VMOVUPS Z11, 192(DI)
	VMOVUPS Z28, 256(DI)
	VMOVUPS Z29, 320(DI)
	VMOVUPS Z30, 384(DI)
	VMOVUPS Z31, 448(DI)
	ADDQ    $512, SI
	ADDQ    $512, DI
	SUBQ    $2, CX
	JGE     two

last:
	ADDQ $2, CX
	JZ   done
	BELOW(0, Z16, Z0, K1)
	BELOW(64, Z17, Z1, K2)
	BELOW(128, Z18, Z2, K3)
	BELOW(192, Z19, Z3, K4)
	POLYNOMIALS
	POWERTO(Z4, Z8, K1)
	POWERTO(Z5, Z9, K2)
	POWERTO(Z6, Z10, K3)
	POWERTO(Z7, Z11, K4)
	VMOVUPS Z8, 0(DI)
	VMOVUPS Z9, 64(DI)
	VMOVUPS Z10, 128(DI)
	VMOVUPS Z11, 192(DI)

done:
	VZEROUPPER
	RET

// MEMBER adds j, Z8, times the weight of the suffix at AX to the sum of a pattern.
#define MEMBER(at, sum, t) \
	VMULPS at(DI)(AX*1), Z8, t \
	VADDPS t, sum, sum

#define MEMBERS \
	MOVWLZX (R10), AX    \
	SHLQ    $8, AX       \
	MEMBER(0, Z4, Z24)   \
	MEMBER(64, Z5, Z25)  \
	MEMBER(128, Z6, Z26) \
	MEMBER(192, Z7, Z27) \
	VADDPS  Z9, Z8, Z8   \
	ADDQ    $2, R10

// PREFIX adds the weight f of a prefix, and the products with what its suffixes sum up to.
#define PREFIX(at, all, weight, sum, f, t) \
	VMOVUPS at(SI), f            \
	VADDPS  f, weight, weight    \
	VMULPS  all, Z8, t           \
	VADDPS  at(R8)(AX*1), t, t   \
	VMULPS  f, t, t              \
	VADDPS  t, sum, sum

// func mixBatchWide(weight, sum *[Batch]Floats, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)
TEXT ·mixBatchWide(SB), NOSPLIT, $0-88
	MOVQ prefixes+16(FP), SI
	MOVQ suffixes+24(FP), DI
	MOVQ patterns+32(FP), R8
	MOVQ q+72(FP), R9

	// Z0 to Z3: the sums of all suffixes' weights, which are added up beside the first pattern:
	// BX goes through them.
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	// Z4 to Z7: the sums of j·G of each pattern.
	MOVQ order+56(FP), R10
	MOVQ n+80(FP), R11
	MOVL $0x3F800000, AX // 1
	VPBROADCASTD AX, Z9
	MOVQ DI, BX

pattern:
	VPXORD Z8, Z8, Z8 // j
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	MOVQ R9, CX

	TESTQ BX, BX
	JZ    member

both:
	VADDPS  0(BX), Z0, Z0
	VADDPS  64(BX), Z1, Z1
	VADDPS  128(BX), Z2, Z2
	VADDPS  192(BX), Z3, Z3
	ADDQ    $256, BX
	MEMBERS
	DECQ    CX
	JNZ     both
	XORL    BX, BX
	JMP     made

member:
	MEMBERS
	DECQ    CX
	JNZ     member

made:
	VMOVUPS Z4, 0(R8)
	VMOVUPS Z5, 64(R8)
	VMOVUPS Z6, 128(R8)
	VMOVUPS Z7, 192(R8)
	ADDQ    $256, R8
	DECQ    R11
	JNZ     pattern

	// Z12 to Z15: the sums of prefixes' weights. Z16 to Z19: those of weights times offsets.
	MOVQ patterns+32(FP), R8
	MOVQ offsets+40(FP), R10
	MOVQ patternOf+48(FP), R11
	MOVQ p+64(FP), CX
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19

prefix:
	MOVWLZX (R11), AX
	SHLQ    $8, AX
	VBROADCASTSS (R10), Z8
	PREFIX(0, Z0, Z12, Z16, Z20, Z24)
	PREFIX(64, Z1, Z13, Z17, Z21, Z25)
	PREFIX(128, Z2, Z14, Z18, Z22, Z26)
	PREFIX(192, Z3, Z15, Z19, Z23, Z27)
	ADDQ    $256, SI
	ADDQ    $4, R10
	ADDQ    $2, R11
	DECQ    CX
	JNZ     prefix

	MOVQ weight+0(FP), AX
	MOVQ sum+8(FP), DX
	VMULPS  Z0, Z12, Z12
	VMULPS  Z1, Z13, Z13
	VMULPS  Z2, Z14, Z14
	VMULPS  Z3, Z15, Z15
	VMOVUPS Z12, 0(AX)
	VMOVUPS Z13, 64(AX)
	VMOVUPS Z14, 128(AX)
	VMOVUPS Z15, 192(AX)
	VMOVUPS Z16, 0(DX)
	VMOVUPS Z17, 64(DX)
	VMOVUPS Z18, 128(DX)
	VMOVUPS Z19, 192(DX)
	VZEROUPPER
	RET

// UNITS adds numbers x of units, rounded, to sum: numbers below 2⁵² are, as integers, the low bits of
// their sum with it.
#define UNITS(x, sum) \
	VADDPD   Y14, x, x   \
	VROUNDPD $3, x, x    \
	VADDPD   Y15, x, x   \
	VPADDQ   x, sum, sum

// func tallyBatchVector(parts *[2][8]uint64, sum, weight *[Batch]Floats, e *Errors)
TEXT ·tallyBatchVector(SB), NOSPLIT, $0-32
	IFWIDE(wide)
	MOVQ parts+0(FP), DI
	MOVQ sum+8(FP), SI
	MOVQ weight+16(FP), DX
	MOVQ e+24(FP), AX

	VBROADCASTSD 0(AX), Y8   // Base
	VBROADCASTSD 8(AX), Y13  // Scale
	VPCMPEQD     Y10, Y10, Y10
	VPSRLQ       $1, Y10, Y10
	MOVQ         $0x3FE0000000000000, AX // ½
	VMOVQ         AX, X14
	VPBROADCASTQ X14, Y14
	MOVQ         $0x4330000000000000, AX // 2⁵²
	VMOVQ         AX, X15
	VPBROADCASTQ X15, Y15
	VPSLLQ       $4, Y15, Y4 // all 16 that the sums take away first
	VPXOR        Y7, Y7, Y7
	VPSUBQ       Y4, Y7, Y5
	VMOVDQA      Y5, Y6
	MOVL         $16, CX

four:
	VCVTPS2PD (SI), Y0
	TESTQ     DX, DX
	JZ        whole
	VCVTPS2PD (DX), Y1
	VDIVPD    Y1, Y0, Y0
	ADDQ      $16, DX

whole:
	VADDPD    Y0, Y8, Y0
	VSUBPD    Y8, Y0, Y0
	VPAND     Y10, Y0, Y0
	VMULPD    Y13, Y0, Y2
	UNITS(Y2, Y5)
	VMULPD    Y0, Y0, Y0
	VMULPD    Y13, Y0, Y0
	UNITS(Y0, Y6)
	ADDQ      $16, SI
	DECQ      CX
	JNZ       four

	VMOVDQU Y5, 0(DI)
	VMOVDQU Y6, 64(DI)
	VZEROUPPER
	RET

wide:
	MOVQ parts+0(FP), DI
	MOVQ sum+8(FP), SI
	MOVQ weight+16(FP), DX
	MOVQ e+24(FP), AX

	VBROADCASTSD 0(AX), Z8   // Base
	VBROADCASTSD 8(AX), Z13  // Scale
	MOVQ         $0x7FFFFFFFFFFFFFFF, AX
	VPBROADCASTQ AX, Z10
	MOVQ         $0x3FE0000000000000, AX // ½
	VPBROADCASTQ AX, Z14
	VPXORD       Z5, Z5, Z5
	VPXORD       Z6, Z6, Z6
	MOVQ         $8, CX

eight512:
	VCVTPS2PD (SI), Z0
	TESTQ     DX, DX
	JZ        whole512
	VCVTPS2PD (DX), Z1
	VDIVPD    Z1, Z0, Z0
	ADDQ      $32, DX

whole512:
	VADDPD     Z0, Z8, Z0
	VSUBPD     Z8, Z0, Z0
	VPANDQ     Z10, Z0, Z0
	VMULPD     Z13, Z0, Z1
	VADDPD     Z14, Z1, Z1
	VCVTTPD2QQ Z1, Z1
	VPADDQ     Z1, Z5, Z5
	VMULPD     Z0, Z0, Z0
	VMULPD     Z13, Z0, Z0
	VADDPD     Z14, Z0, Z0
	VCVTTPD2QQ Z0, Z0
	VPADDQ     Z0, Z6, Z6
	ADDQ       $32, SI
	DECQ       CX
	JNZ        eight512

	VMOVDQU64 Z5, 0(DI)
	VMOVDQU64 Z6, 64(DI)
	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"
#include "wide_amd64.h"

// A group of 16 samples is two YMM registers, or one ZMM register: the same integers
// and the same roundings as the loop in Go, which says what is computed. No fused
// products: they would round otherwise.

// SPLIT makes f, from −½ to ½, and the octave o of the draws at SI. The octave comes from the exponent
// of the magnitude as a floating-point number, whose second bit is cleared first so that it cannot be
// rounded up. v is the magnitude.
#define SPLIT(at, f, o, v) \
	VPAND     at(SI), Y8, v \
	VPSRLD    $1, v, o      \
	VPANDN    v, o, o       \
	VCVTDQ2PS o, o          \
	VPSRLD    $23, o, o     \
	VPSUBD    o, Y10, o     \
	VPADDD    v, v, f       \
	VPOR      Y11, f, f     \
	VPSLLVD   o, f, f       \
	VPSLLD    $1, f, f      \
	VPSRLD    $9, f, f      \
	VPOR      Y12, f, f     \
	VSUBPS    Y14, f, f

// TERM is a step of Horner's scheme, p = p·f + coefficient k of the octave o, where that is below 8;
// ANYTERM one for any octave: the sign of m says whether it is 8 or more.
#define TERM(k, f, o, p) \
	VMULPS  f, p, p            \
	VPERMPS (256*k)(BX), o, Y4 \
	VADDPS  Y4, p, p

#define TERMS(k) \
	TERM(k, Y1, Y2, Y0) \
	TERM(k, Y5, Y6, Y3)

#define ANYCOEFFICIENT(k, o, t, u) \
	VPERMPS   (256*k)(BX), o, t    \
	VPERMPS   (256*k+32)(BX), o, u \
	VBLENDVPS Y7, u, t, t

#define ANYTERM(k, f, o, p, u) \
	VMULPS f, p, p              \
	ANYCOEFFICIENT(k, o, Y4, u) \
	VADDPS Y4, p, p

#define ANYPOLYNOMIAL(f, o, p, u) \
	VPSLLD $28, o, Y7          \
	ANYCOEFFICIENT(7, o, p, u) \
	ANYTERM(6, f, o, p, u)     \
	ANYTERM(5, f, o, p, u)     \
	ANYTERM(4, f, o, p, u)     \
	ANYTERM(3, f, o, p, u)     \
	ANYTERM(2, f, o, p, u)     \
	ANYTERM(1, f, o, p, u)     \
	ANYTERM(0, f, o, p, u)

// func noiseVector(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)
TEXT ·noiseVector(SB), NOSPLIT, $0-41
	IFWIDE(wide)
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	MOVQ centers+32(FP), DX

	MOVL         $0x7FFFFFFF, AX
	VMOVQ         AX, X8
	VPBROADCASTD X8, Y8
	MOVL         $(1<<23), AX // magnitudes from here on have an octave below 8
	VMOVQ         AX, X9
	VPBROADCASTD X9, Y9
	MOVL         $157, AX
	VMOVQ         AX, X10
	VPBROADCASTD X10, Y10
	MOVL         $1, AX
	VMOVQ         AX, X11
	VPBROADCASTD X11, Y11
	MOVL         $0x3F800000, AX // 1
	VMOVQ         AX, X12
	VPBROADCASTD X12, Y12
	MOVL         $0x3FC00000, AX // 1.5
	VMOVQ         AX, X14
	VPBROADCASTD X14, Y14
	VPCMPEQD     Y15, Y15, Y15 // the smallest magnitude
	MOVL         $128, AX
	VMOVQ         AX, X13
	VPBROADCASTD X13, Y13

bit:
	SPLIT(0, Y1, Y2, Y4)
	SPLIT(32, Y5, Y6, Y7)
	VPMINUD   Y4, Y7, Y4
	VPMINUD   Y4, Y15, Y15
	VPCMPGTD  Y4, Y9, Y4
	VMOVMSKPS Y4, AX
	TESTL     AX, AX
	JNZ       any // of one row in 16
	VPERMPS   1792(BX), Y2, Y0
	VPERMPS   1792(BX), Y6, Y3
	TERMS(6)
	TERMS(5)
	TERMS(4)
	TERMS(3)
	TERMS(2)
	TERMS(1)
	TERMS(0)

made:
	// A draw of zero, which has no sign here, is in the tail.
	VCVTTPS2DQ Y0, Y0
	VCVTTPS2DQ Y3, Y3
	VPSIGND    0(SI), Y0, Y0
	VPSIGND    32(SI), Y3, Y3
	VPBROADCASTD (DX), Y1
	VPADDD     Y13, Y1, Y1
	VPADDD     Y1, Y0, Y0
	VPADDD     Y1, Y3, Y3
	VPSRAD     $8, Y0, Y0
	VPSRAD     $8, Y3, Y3
	ADDQ       $4, DX
	VMOVDQU Y0, (DI)
	VMOVDQU Y3, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	DECQ    CX
	JNZ     bit

	MOVL         $(1<<15), AX
	VMOVQ         AX, X0
	VPBROADCASTD X0, Y0
	VPMINUD      Y8, Y15, Y15
	VPCMPGTD     Y15, Y0, Y0
	VPMOVMSKB    Y0, AX
	TESTL        AX, AX
	SETNE        tails+40(FP)
	VZEROUPPER
	RET

any:
	ANYPOLYNOMIAL(Y1, Y2, Y0, Y3)
	ANYPOLYNOMIAL(Y5, Y6, Y3, Y2)
	JMP made

// The steps of one row of 16 draws, from OCTAVE512 to SIGN512: f is where the draw lies in its
// octave o, z the number, t a scratch register. A row is one long chain of operations, each of which waits
// for the last: the loops take eight rows at a time, or four, step by step.

// OCTAVE512 splits a draw. The octave is the number of zeros before the highest bit of 2v+1, the draw
// without its sign, shifted. It is 16 or more for v < 2¹⁵: Z15 collects the largest.
#define OCTAVE512(at, f, o) \
	VMOVDQU32 at(SI), f    \
	VPADDD    f, f, f      \
	VPORD     Z11, f, f    \
	VPLZCNTD  f, o         \
	VPMAXUD   o, Z15, Z15

// PLACE512 makes f a number from −½ to ½: the bits below the highest, which VPTERNLOGD takes (f and Z9) and
// puts behind those of 1 (or Z12), less 1.5. z takes the first coefficient.
#define PLACE512(f, o, z) \
	VPSLLVD    o, f, f            \
	VPSRLD     $8, f, f           \
	VPTERNLOGD $0xEC, Z9, Z12, f  \
	VSUBPS     Z14, f, f          \
	VPERMPS    1792(BX), o, z

#define TERM512(c, f, o, z, t) \
	VMULPS  f, z, z \
	VPERMPS c, o, t \
	VADDPS  t, z, z

// SIGN512 puts the draw's sign on the magnitude while that is a floating-point number: cutting off
// what is behind the point knows no sign. VPTERNLOGD is z xor (the draw and Z8).
#define SIGN512(at, z) \
	VPTERNLOGD $0x78, at(SI), Z8, z \
	VCVTTPS2DQ z, z

// CENTER512 makes a logit.
#define CENTER512(at, z, t) \
	VPADDD.BCST at(DX), Z13, t \
	VPADDD      t, z, z        \
	VPSRAD      $8, z, z

#define FOUR512(at) \
	OCTAVE512(at, Z0, Z1)          \
	OCTAVE512(at+64, Z3, Z4)       \
	OCTAVE512(at+128, Z16, Z17)    \
	OCTAVE512(at+192, Z19, Z20)    \
	PLACE512(Z0, Z1, Z2)           \
	PLACE512(Z3, Z4, Z5)           \
	PLACE512(Z16, Z17, Z18)        \
	PLACE512(Z19, Z20, Z21)

#define FOURMORE512(at) \
	OCTAVE512(at, Z22, Z23)        \
	OCTAVE512(at+64, Z25, Z26)     \
	OCTAVE512(at+128, Z28, Z29)    \
	OCTAVE512(at+192, Z6, Z7)      \
	PLACE512(Z22, Z23, Z24)        \
	PLACE512(Z25, Z26, Z27)        \
	PLACE512(Z28, Z29, Z30)        \
	PLACE512(Z6, Z7, Z10)

#define FOURTERMS512(c) \
	TERM512(c, Z0, Z1, Z2, Z31)    \
	TERM512(c, Z3, Z4, Z5, Z31)    \
	TERM512(c, Z16, Z17, Z18, Z31) \
	TERM512(c, Z19, Z20, Z21, Z31)

#define EIGHTTERMS512(c) \
	FOURTERMS512(c)                \
	TERM512(c, Z22, Z23, Z24, Z31) \
	TERM512(c, Z25, Z26, Z27, Z31) \
	TERM512(c, Z28, Z29, Z30, Z31) \
	TERM512(c, Z6, Z7, Z10, Z31)

#define CENTERS512(at, z0, z1, z2, z3) \
	CENTER512(at, z0, Z31)    \
	CENTER512(at+4, z1, Z31)  \
	CENTER512(at+8, z2, Z31)  \
	CENTER512(at+12, z3, Z31)

#define SIGNS512(at, z0, z1, z2, z3) \
	SIGN512(at, z0)     \
	SIGN512(at+64, z1)  \
	SIGN512(at+128, z2) \
	SIGN512(at+192, z3)

#define STORES512(at, z0, z1, z2, z3) \
	VMOVDQU32 z0, at(DI)       \
	VMOVDQU32 z1, (at+64)(DI)  \
	VMOVDQU32 z2, (at+128)(DI) \
	VMOVDQU32 z3, (at+192)(DI)

wide:
	MOVQ dst+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), BX
	MOVQ centers+32(FP), DX

	MOVL         $1, AX
	VPBROADCASTD AX, Z11
	MOVL         $0x3F800000, AX // 1
	VPBROADCASTD AX, Z12
	MOVL         $0x3FC00000, AX // 1.5
	VPBROADCASTD AX, Z14
	MOVL         $0x80000000, AX // the sign of a floating-point number
	VPBROADCASTD AX, Z8
	MOVL         $0x007FFFFF, AX // its significand
	VPBROADCASTD AX, Z9
	MOVL         $128, AX
	VPBROADCASTD AX, Z13
	VPXORD       Z15, Z15, Z15
	SUBQ         $8, CX
	JLT          fewer512

eight512:
	FOUR512(0)
	FOURMORE512(256)
	EIGHTTERMS512(1536(BX))
	EIGHTTERMS512(1280(BX))
	EIGHTTERMS512(1024(BX))
	EIGHTTERMS512(768(BX))
	EIGHTTERMS512(512(BX))
	EIGHTTERMS512(256(BX))
	EIGHTTERMS512(0(BX))
	SIGNS512(0, Z2, Z5, Z18, Z21)
	SIGNS512(256, Z24, Z27, Z30, Z10)
	CENTERS512(0, Z2, Z5, Z18, Z21)
	CENTERS512(16, Z24, Z27, Z30, Z10)
	ADDQ  $32, DX
	STORES512(0, Z2, Z5, Z18, Z21)
	STORES512(256, Z24, Z27, Z30, Z10)
	ADDQ $512, SI
	ADDQ $512, DI
	SUBQ $8, CX
	JGE  eight512

fewer512:
	ADDQ $4, CX
	JLT  rest512
	FOUR512(0)
	FOURTERMS512(1536(BX))
	FOURTERMS512(1280(BX))
	FOURTERMS512(1024(BX))
	FOURTERMS512(768(BX))
	FOURTERMS512(512(BX))
	FOURTERMS512(256(BX))
	FOURTERMS512(0(BX))
	SIGNS512(0, Z2, Z5, Z18, Z21)
	CENTERS512(0, Z2, Z5, Z18, Z21)
	ADDQ  $16, DX
	STORES512(0, Z2, Z5, Z18, Z21)
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $4, CX

rest512:
	ADDQ $4, CX
	JZ   done512

one512:
	OCTAVE512(0, Z0, Z1)
	PLACE512(Z0, Z1, Z2)
	TERM512(1536(BX), Z0, Z1, Z2, Z31)
	TERM512(1280(BX), Z0, Z1, Z2, Z31)
	TERM512(1024(BX), Z0, Z1, Z2, Z31)
	TERM512(768(BX), Z0, Z1, Z2, Z31)
	TERM512(512(BX), Z0, Z1, Z2, Z31)
	TERM512(256(BX), Z0, Z1, Z2, Z31)
	TERM512(0(BX), Z0, Z1, Z2, Z31)
	SIGN512(0, Z2)
	CENTER512(0, Z2, Z31)
	ADDQ  $4, DX
	VMOVDQU32 Z2, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      CX
	JNZ       one512

done512:
	MOVL         $15, AX
	VPBROADCASTD AX, Z0
	VPCMPUD      $6, Z0, Z15, K1 // above
	KORTESTW     K1, K1
	SETNE        tails+40(FP)
	VZEROUPPER
	RET

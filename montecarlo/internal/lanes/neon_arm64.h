// Instructions of NEON that Go's assembler does not know, in its order of operands: d = n − m for FSUB. All
// take numbers of registers, and have lanes of 32 bits; where the name ends in D, of 64 bits. None is fused.
// The routines that use them, and so the tests of these, say whether a code is right.

// THREE and TWO are an instruction of three registers, or two.
#define THREE(op, m, n, d) WORD $(op | (m)<<16 | (n)<<5 | (d))
#define TWO(op, n, d) WORD $(op | (n)<<5 | (d))

#define SMAX(m, n, d) THREE(0x4EA06400, m, n, d)
#define CMGT(m, n, d) THREE(0x4EA03400, m, n, d)  // n > m
#define USHL(m, n, d) THREE(0x6EA04400, m, n, d)  // n << m
#define MLA(m, n, d) THREE(0x4EA09400, m, n, d)   // d + n·m
#define BIC(m, n, d) THREE(0x4E601C00, m, n, d)   // n without the bits of m
#define FADD(m, n, d) THREE(0x4E20D400, m, n, d)
#define FSUB(m, n, d) THREE(0x4EA0D400, m, n, d)
#define FMUL(m, n, d) THREE(0x6E20DC00, m, n, d)
#define FCMGT(m, n, d) THREE(0x6EA0E400, m, n, d) // n > m
#define FADDD(m, n, d) THREE(0x4E60D400, m, n, d)
#define FSUBD(m, n, d) THREE(0x4EE0D400, m, n, d)
#define FMULD(m, n, d) THREE(0x6E60DC00, m, n, d)
#define FDIVD(m, n, d) THREE(0x6E60FC00, m, n, d)
#define FCMGED(m, n, d) THREE(0x6E60E400, m, n, d) // n ≥ m

// FMULANY multiplies by lane i of m.
#define FMULANY(i, m, n, d) THREE(0x4F809000 | ((i)&1)<<21 | ((i)&2)<<10, m, n, d)

#define CLZ(n, d) TWO(0x6EA04800, n, d)
#define SCVTF(n, d) TWO(0x4E21D800, n, d)
#define FCVTZS(n, d) TWO(0x4EA1B800, n, d)  // cut
#define FCVTNS(n, d) TWO(0x4E21A800, n, d)  // rounded, ties to even
#define FCVTZSD(n, d) TWO(0x4EE1B800, n, d)
#define FABSD(n, d) TWO(0x4EE0F800, n, d)
#define FCVTL(n, d) TWO(0x0E617800, n, d)   // to 64 bits, the low half of n
#define FCVTL2(n, d) TWO(0x4E617800, n, d)  // its high half

// ADD4 and SUB4 are VADD and VSUB with numbers of registers.
#define ADD4(m, n, d) THREE(0x4EA08400, m, n, d)
#define SUB4(m, n, d) THREE(0x6EA08400, m, n, d)

#define SSHR(shift, n, d) TWO(0x4F000400 | (64-(shift))<<16, n, d)

// BROADCAST sets all lanes of a register to the number of 32 bits.
#define BROADCAST(x, v) \
	MOVW $x, R26 \
	VDUP R26, v

// WEIGHTCONSTANTS are those of WEIGHTS: the limit in R2, the scale in R3, and the coefficients of Decay at R4.
#define WEIGHTCONSTANTS \
	VDUP    R2, V24.S4                  \
	VDUP    R3, V25.S4                  \
	VLD1R.P 4(R4), [V26.S4]             \
	VLD1R.P 4(R4), [V27.S4]             \
	VLD1R.P 4(R4), [V28.S4]             \
	VLD1R.P 4(R4), [V29.S4]             \
	VLD1R.P 4(R4), [V30.S4]             \
	VLD1R   (R4), [V31.S4]

#define WEIGHTTERM(c, f, g, p, q) \
	FMUL(f, p, p) \
	FMUL(g, q, q) \
	FADD(c, p, p) \
	FADD(c, q, q)

// WEIGHTS makes weights p and q of 8 samples that are x and y below the largest, as Decay does, zero
// beyond the limit. f and g are scratch, and V22 and V23.
#define WEIGHTS(x, y, f, g, p, q) \
	SCVTF(x, f)                  \
	SCVTF(y, g)                  \
	CMGT(24, x, x)               \
	CMGT(24, y, y)               \
	FMUL(25, f, f)               \
	FMUL(25, g, g)               \
	FCVTZS(f, 22)                \
	FCVTZS(g, 23)                \
	SCVTF(22, p)                 \
	SCVTF(23, q)                 \
	FSUB(p, f, f)                \
	FSUB(q, g, g)                \
	VSHL $23, V22.S4, V22.S4     \
	VSHL $23, V23.S4, V23.S4     \
	FMUL(31, f, p)               \
	FMUL(31, g, q)               \
	FADD(30, p, p)               \
	FADD(30, q, q)               \
	WEIGHTTERM(29, f, g, p, q)   \
	WEIGHTTERM(28, f, g, p, q)   \
	WEIGHTTERM(27, f, g, p, q)   \
	WEIGHTTERM(26, f, g, p, q)   \
	SUB4(22, p, p)               \
	SUB4(23, q, q)               \
	BIC(x, p, p)                 \
	BIC(y, q, q)

// HEAVY tells in R6 and the flags whether any of the 16 samples that are V0 to V3 below the largest is within
// the limit: R6 is all ones where none is.
#define HEAVY \
	CMGT(24, 0, 16)              \
	CMGT(24, 1, 17)              \
	CMGT(24, 2, 18)              \
	CMGT(24, 3, 19)              \
	VAND V16.B16, V17.B16, V16.B16 \
	VAND V18.B16, V19.B16, V18.B16 \
	VAND V16.B16, V18.B16, V16.B16 \
	VMOV V16.D[0], R6            \
	VMOV V16.D[1], R7            \
	AND  R7, R6, R6              \
	CMN  $1, R6

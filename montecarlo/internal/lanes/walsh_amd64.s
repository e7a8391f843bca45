//go:build !purego

#include "textflag.h"

// FOUR does two steps on the numbers at DX and 1, 2 and 3 times R8 bytes on, halves of rows.
#define FOUR(at) \
	VMOVDQU at(DX), Y0         \
	VMOVDQU at(DX)(R8*1), Y1   \
	VMOVDQU at(DX)(R8*2), Y2   \
	VMOVDQU at(DX)(R9*1), Y3   \
	VPADDD  Y1, Y0, Y4         \
	VPSUBD  Y1, Y0, Y5         \
	VPADDD  Y3, Y2, Y6         \
	VPSUBD  Y3, Y2, Y7         \
	VPADDD  Y6, Y4, Y0         \
	VPADDD  Y7, Y5, Y1         \
	VPSUBD  Y6, Y4, Y2         \
	VPSUBD  Y7, Y5, Y3         \
	VMOVDQU Y0, at(DX)         \
	VMOVDQU Y1, at(DX)(R8*1)   \
	VMOVDQU Y2, at(DX)(R8*2)   \
	VMOVDQU Y3, at(DX)(R9*1)

// func walshVector(x *Ints, n, h int)
TEXT ·walshVector(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DX
	MOVQ n+8(FP), CX
	MOVQ h+16(FP), R10
	MOVQ R10, R8
	SHLQ $6, R8           // bytes of h rows
	LEAQ (R8)(R8*2), R9
	SHLQ $6, CX
	ADDQ DX, CX           // the end

four:
	MOVQ R10, AX

row:
	FOUR(0)
	FOUR(32)
	ADDQ $64, DX
	DECQ AX
	JNZ  row
	ADDQ R9, DX
	CMPQ DX, CX
	JLT  four
	VZEROUPPER
	RET

// func walshLastVector(x *Ints, h int)
TEXT ·walshLastVector(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DX
	MOVQ h+8(FP), R8
	SHLQ $6, R8
	LEAQ (DX)(R8*1), CX

last:
	VMOVDQU (DX), Y0
	VMOVDQU (DX)(R8*1), Y1
	VPADDD  Y1, Y0, Y2
	VPSUBD  Y1, Y0, Y3
	VMOVDQU Y2, (DX)
	VMOVDQU Y3, (DX)(R8*1)
	ADDQ    $32, DX
	CMPQ    DX, CX
	JLT     last
	VZEROUPPER
	RET

// func mostVector(most, sums *Ints, n int)
TEXT ·mostVector(SB), NOSPLIT, $0-24
	MOVQ    most+0(FP), DI
	MOVQ    sums+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVDQU 0(SI), Y0
	VMOVDQU 32(SI), Y1

next:
	VPMAXSD 0(SI), Y0, Y0
	VPMAXSD 32(SI), Y1, Y1
	ADDQ    $64, SI
	DECQ    CX
	JNZ     next
	VMOVDQU Y0, 0(DI)
	VMOVDQU Y1, 32(DI)
	VZEROUPPER
	RET

DATA lanebits<>+0(SB)/8, $0x0000000200000001
DATA lanebits<>+8(SB)/8, $0x0000000800000004
DATA lanebits<>+16(SB)/8, $0x0000002000000010
DATA lanebits<>+24(SB)/8, $0x0000008000000040
GLOBL lanebits<>(SB), RODATA|NOPTR, $32

// SPREAD writes a half of a row for eight bits of X0, those of Y1.
#define SPREAD(at) \
	VPBROADCASTD X0, Y4       \
	VPAND        Y1, Y4, Y4   \
	VPCMPEQD     Y1, Y4, Y4   \
	VPAND        Y2, Y4, Y4   \
	VPSUBD       Y3, Y4, Y4   \
	VMOVDQU      Y4, at(R10)

// func spreadVector(dst *Ints, places *uint16, words, ones *uint64, n, shift int)
TEXT ·spreadVector(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ places+8(FP), R9
	MOVQ words+16(FP), SI
	MOVQ ones+24(FP), R8
	MOVQ n+32(FP), DX
	MOVQ shift+40(FP), CX
	VMOVDQU  lanebits<>(SB), Y1
	VPCMPEQD Y2, Y2, Y2
	VPSRLD   $31, Y2, Y2
	VPSLLD   $16, Y2, Y3 // tables.LogitOne
	VPSLLD   $17, Y2, Y2

word:
	MOVQ   (SI), AX
	XORQ   (R8), AX
	SHRQ   CX, AX
	VMOVQ   AX, X0
	MOVWLZX (R9), R10
	SHLQ   $6, R10
	ADDQ   DI, R10
	SPREAD(0)
	VPSRLD $8, X0, X0
	SPREAD(32)
	ADDQ   $2, R9
	ADDQ   $8, SI
	ADDQ   $8, R8
	DECQ   DX
	JNZ    word
	VZEROUPPER
	RET

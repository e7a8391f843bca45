/* What the host and the kernels tell each other. Plain C: the Go side, the
 * kernels and their emulation on the host all read this one file. */
#ifndef BELSIM_KERNEL_H
#define BELSIM_KERNEL_H

typedef unsigned short bel_u16;
typedef unsigned int bel_u32;
typedef unsigned long long bel_u64;

enum {
	BEL_BLOCK_SIZE = 1 << 16,    /* samples of a block: tables.BlockSize */
	BEL_THREADS = 128,           /* threads of a thread block of every kernel */
	BEL_WARP = 32,
	BEL_NARROW_COLUMNS = 1 << 8, /* most columns of an alias table with draws of 16 bits */
	BEL_LANES = 16,              /* samples of a group of logits: tables.Lanes */
	BEL_DIGITS = 10,             /* of the numbers that decide hard outputs: tables.Digits */
	BEL_FLIP_LANES = 64,         /* samples of a group of hard outputs: tables.FlipLanes */
	BEL_OCTAVES = 64,            /* of tables.NormalTable, 8 coefficients each */
	BEL_SUMS = 2                 /* sums of an entry: the numbers of montecarlo.Sums from Abs on */
};

/* bel_run is a running sum over words: RunningSum of package tables. */
typedef struct {
	bel_u64 starts; /* u32[words+1] */
	bel_u64 steps;  /* u32[] */
	bel_u64 fixed;  /* i64[words] */
} bel_run;

/* bel_latent has the tables of an entry of logits: the fields of Logits in package tables. */
typedef struct {
	bel_u64 bits;    /* u16[drawn] */
	bel_u64 centers; /* i32[drawn] */
	bel_u64 planes;  /* u64[drawn][BEL_DIGITS], for hard outputs: Flips in package tables */
	bel_u64 wrong;   /* u64[drawn], for hard outputs */
	bel_u64 levels;  /* u16[candidates] */
	bel_run run;     /* over the candidates */
	bel_run prefix, suffix; /* of a product code: Product in package tables */
	bel_u64 offsets;    /* f32[prefixes] */
	bel_u64 pattern_of; /* u16[prefixes] */
	bel_u64 patterns;   /* u16[kinds][suffixes] */
	long long limit;
	bel_u32 drawn, candidates;
	bel_u32 prefixes, suffixes, kinds; /* 0 unless the code is taken as a product */
	float scale;
} bel_latent;

/* bel_launch is the one argument of every kernel: P entries, each the tables of
 * one row of a code matrix under one table of error probabilities, and T tasks,
 * each the first samples of one block of an entry. Pointers are addresses on the
 * device, of type bel_u64 so that the layout is the same everywhere.
 *
 * L levels, M bits, W = ceil(M/32) words. */
typedef struct {
	/* of the code */
	bel_u64 code;  /* u32[L][W]: code words, bit k of a word in bit k%32 of element k/32 */
	bel_u64 order; /* u16[L][L], for gen: rows by distance from a row, then ascending */
	bel_u64 reach; /* u32[L][M+2], for gen: number of rows at distance <= d */

	/* of the entries; errors and row are written by the host */
	bel_u64 errors;       /* f64[P][M]: e[n,k]; the kernel hazards puts -ln(1-e) in its place */
	bel_u64 row;          /* u32[P]: row of the code */
	bel_u64 base;         /* u32[P][W]: the likeliest output */
	bel_u64 column_bits;  /* u32[P]: log2 of the number of columns */
	bel_u64 column_share; /* u64[P][columns] */
	bel_u64 column_bit;   /* u32[P][columns]: own bit, alias << 16 */
	bel_u64 class_count;  /* u32[P]: number of classes; 0 when no bit can err */
	bel_u64 class_points; /* u32[P][classes] */
	bel_u64 class_share;  /* u64[P][classes] */
	bel_u64 weights;      /* f64[max(columns, classes)][P], scratch */
	bel_u64 stack;        /* u32[columns][P], scratch */

	/* of the tasks, written by the host but for dealt */
	bel_u64 task_entry;    /* u32[T] */
	bel_u64 task_block;   /* u32[T] */
	bel_u64 task_samples; /* u32[T], 1 to BEL_BLOCK_SIZE */
	bel_u64 dealt;        /* u32[T][classes]: samples of each class */

	bel_u64 marks;  /* u32[W][threads of the grid], scratch of the kernels for any number of bits; zero */
	bel_u64 sums;   /* u64[P][BEL_SUMS]; zeroed by the host */
	bel_u64 status; /* u32: zeroed by the host; 1 when an entry had more classes than fit */

	/* of logits; none of the tables above is used then */
	bel_u64 latent;  /* bel_latent[P] */
	bel_u64 normal;  /* f32[8][BEL_OCTAVES]: tables.NormalTable */
	bel_u64 logits;  /* i32[most drawn + suffixes + kinds][threads of the grid][4], scratch; twice drawn for hard outputs */
	bel_u32 hard;     /* outputs are bits, drawn one by one */
	bel_u32 fraction; /* binary digits of a level in which errors are counted */

	bel_u32 keys[20]; /* Philox's key schedule: words 2r and 2r+1 are those of round r */
	bel_u32 levels, bits, words, columns, classes;
	bel_u32 entries, tasks;
	int empty;      /* bel-j: label of the all-zero word */
	int corner;     /* bel-j: label of first one = last one = 1 */
} bel_launch;

#endif

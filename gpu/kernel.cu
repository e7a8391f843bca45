// The sampler of package montecarlo as kernels of a device: the same random
// numbers, the same tables, the same integer decisions, so the same sums. What
// is computed and why is explained there; comments here say what is different.
//
// Plain CUDA C++ without any header of a toolkit, for three compilers: nvcc,
// clang, and the host's, where the kernels run as loops over their threads.
// Floating-point operations must be rounded one by one: see product.

#include "kernel.h"

typedef unsigned char u8;
typedef bel_u16 u16;
typedef bel_u32 u32;
typedef bel_u64 u64;
typedef int i32;
typedef long long i64;

// BEL_DEVICE: code for the device is being made, by the pass that knows it.
#if defined(__CUDA_ARCH__)
#define BEL_DEVICE 1
#else
#define BEL_DEVICE 0
#endif

#if defined(__CUDA__) || defined(__CUDACC__)
#define BEL_METHOD __attribute__((device)) inline __attribute__((always_inline))
#define BEL_FN static BEL_METHOD
#define BEL_CALL static __attribute__((device)) __attribute__((noinline))
#else
#define BEL_METHOD inline
#define BEL_FN static inline
#define BEL_CALL static
#endif

// Loops whose indices must be known at compile time.
#if defined(__clang__) || defined(__CUDACC__)
#define BEL_UNROLL _Pragma("unroll")
#else
#define BEL_UNROLL
#endif

// The few operations that compilers spell differently.

BEL_FN u32 ones(u32 x) {
#if BEL_DEVICE && !defined(__clang__)
	return __popc(x);
#else
	return __builtin_popcount(x);
#endif
}

// lowest and highest return the place of the lowest and highest one of x != 0.
BEL_FN int lowest(u32 x) {
#if BEL_DEVICE && !defined(__clang__)
	return __ffs(x) - 1;
#else
	return __builtin_ctz(x);
#endif
}

BEL_FN int highest(u32 x) {
#if BEL_DEVICE && !defined(__clang__)
	return 31 - __clz(x);
#else
	return 31 - __builtin_clz(x);
#endif
}

BEL_FN u32 least(u32 a, u32 b) { return a < b ? a : b; }

// across returns x of the lane whose number differs in the bits of d.
#if BEL_DEVICE
BEL_FN u32 across(u32 x, u32 d) {
	u32 y;
	asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y) : "r"(x), "r"(d));
	return y;
}
#endif

// product is a*b, rounded before anything is added to it.
BEL_FN double product(double a, double b) {
#if BEL_DEVICE && defined(__clang__)
	return __nvvm_mul_rn_d(a, b);
#elif BEL_DEVICE
	return __dmul_rn(a, b);
#else
	volatile double p = a * b;
	return p;
#endif
}

BEL_FN float product(float a, float b) {
#if BEL_DEVICE && defined(__clang__)
	return __nvvm_mul_rn_f(a, b);
#elif BEL_DEVICE
	return __fmul_rn(a, b);
#else
	volatile float p = a * b;
	return p;
#endif
}

// zeros returns the number of zeros above the highest one of x.
BEL_FN u32 zeros(u32 x) { return x == 0 ? 32 : 31 - (u32)highest(x); }

template <class T> BEL_FN T *pointer(u64 address) { return reinterpret_cast<T *>(address); }

// Philox4x32-10.

struct Bits128 {
	u32 x[4];
};

BEL_FN Bits128 philox(const u32 *keys, u32 c0, u32 c1, u32 c2, u32 c3) {
	BEL_UNROLL
	for (int r = 0; r < 10; r++) {
		u64 p0 = (u64)0xD2511F53u * c0;
		u64 p1 = (u64)0xCD9E8D57u * c2;
		c0 = (u32)(p1 >> 32) ^ c1 ^ keys[2 * r];
		c2 = (u32)(p0 >> 32) ^ c3 ^ keys[2 * r + 1];
		c1 = (u32)p1;
		c3 = (u32)p0;
	}
	Bits128 out = {{c0, c1, c2, c3}};
	return out;
}

// Kinds of streams, in the high 8 bits of a counter's word 1.
enum { STREAM_COUNTS = 0, STREAM_POINTS = 1 << 24, STREAM_REFINE = 2 << 24, STREAM_LATENT = 3 << 24, STREAM_TAIL = 4 << 24,
       STREAM_DIGITS = 5 << 24, STREAM_UNDECIDED = 6 << 24 };

// Tables.

// hazard returns -ln(1-e) for e in [0, 1/2], as package tables has it.
BEL_FN double hazard(double e) {
	if (e == 0) {
		return 0;
	}
	const double s = e / (2 - e);
	const double x = product(s, s);
	double sum = 0;
	BEL_UNROLL
	for (int n = 17; n > 0; n--) {
		sum = product(x, sum + 1.0 / (2 * n + 1));
	}
	return 2 * (s + product(s, sum));
}

// hazards_word makes 32 bits of an entry: hazards in the place of error
// probabilities, and the bits of the base word.
BEL_FN void hazards_word(const bel_launch &a, u32 entry, u32 word) {
	double *e = pointer<double>(a.errors) + (u64)entry * a.bits;
	u32 base = pointer<u32>(a.code)[(u64)pointer<u32>(a.row)[entry] * a.words + word];
	const u32 end = least(a.bits, 32 * word + 32);
	for (u32 k = 32 * word; k < end; k++) {
		double p = e[k];
		if (p > 0.5) {
			base ^= 1u << (k % 32);
			p = 1 - p;
		}
		e[k] = hazard(p);
	}
	pointer<u32>(a.base)[(u64)entry * a.words + word] = base;
}

// fixed64 is p*2^64 for p in [0, 1], and 2^64-1 for 1.
BEL_FN u64 fixed64(double p) { return p >= 1 ? ~(u64)0 : (u64)(p * 0x1p64); }

// classes_of makes the law of the number of points: the weights of mode, mode-1,
// ... and mode+1, mode+2, ... fall from the mode outwards, so that merging the
// two lists from their far ends gives all of them from the lightest to the
// heaviest, the order in which what remains is summed, and no sort is needed.
// Of equal weights the larger number of points comes first in that direction.
BEL_FN void classes_of(const bel_launch &a, u32 entry, double mean) {
	const double cut = 0x1p-90;
	double *weight = pointer<double>(a.weights) + entry;
	const u64 stride = a.entries;
	const u32 mode = (u32)mean;
	u32 below = 0, above = 0;
	bool fits = true;
	double w = 1;
	weight[stride * below++] = 1;
	for (u32 m = mode; m > 0; m--) {
		w *= (double)m / mean;
		if (w < cut) {
			break;
		}
		if (below >= a.classes) {
			fits = false;
			break;
		}
		weight[stride * below++] = w;
	}
	w = 1;
	for (u32 m = mode;; m++) {
		w *= mean / (double)(m + 1);
		if (w < cut) {
			break;
		}
		if (below + above >= a.classes) {
			fits = false;
			break;
		}
		weight[stride * (below + above++)] = w;
	}
	if (!fits) { // cannot be: the host counted the classes of the largest mean
		*pointer<u32>(a.status) = 1;
		pointer<u32>(a.class_count)[entry] = 0;
		return;
	}
	// When the mean is a whole number the mode and its lower neighbour weigh the
	// same, and the neighbour comes second in this direction.
	const bool twins = below > 1 && weight[stride] == 1;
	double all = 0;
	u32 last = 0;
	u32 *points = pointer<u32>(a.class_points) + (u64)entry * a.classes;
	u64 *share = pointer<u64>(a.class_share) + (u64)entry * a.classes;
	for (int pass = 0; pass < 2; pass++) {
		u32 b = below, u = above;
		double remaining = 0;
		bool found = false;
		for (u32 i = below + above; i-- > 0;) {
			const double wb = b > 0 ? weight[stride * (b - 1)] : 2;
			const double wu = u > 0 ? weight[stride * (below + u - 1)] : 2;
			u32 m;
			double wi;
			if (wu <= wb) { // its number of points is the larger one
				wi = wu;
				m = mode + u--;
			} else {
				wi = wb;
				b--;
				m = mode - (twins && b < 2 ? 1 - b : b);
			}
			remaining += wi;
			if (pass == 0) {
				continue;
			}
			// The lightest classes that weigh too little together are left out.
			if (!found && i > 0 && remaining < 0x1p-65 * all) {
				continue;
			}
			if (!found) {
				found = true;
				last = i;
			}
			points[i] = m;
			share[i] = fixed64(wi / remaining);
		}
		all = remaining;
	}
	pointer<u32>(a.class_count)[entry] = last + 1;
}

// alias_of makes the alias table of an entry. The two stacks of Vose's
// construction lie in one array, one from each end: no column is on both.
BEL_FN void alias_of(const bel_launch &a, u32 entry, double total) {
	const double *h = pointer<double>(a.errors) + (u64)entry * a.bits;
	u64 *share = pointer<u64>(a.column_share) + (u64)entry * a.columns;
	u32 *bit = pointer<u32>(a.column_bit) + (u64)entry * a.columns;
	double *weight = pointer<double>(a.weights) + entry;
	u32 *stack = pointer<u32>(a.stack) + entry;
	const u64 stride = a.entries;

	u32 kept = 0, heaviest = 0;
	double most = 0;
	const double cut = 0x1p-70 * total;
	for (u32 k = 0; k < a.bits; k++) {
		if (h[k] > cut) {
			bit[kept++] = k;
			if (h[k] > most) {
				most = h[k];
				heaviest = k;
			}
		}
	}
	const u32 column_bits = kept > 1 ? (u32)highest(kept - 1) + 1 : 0;
	const u32 size = 1u << column_bits;
	pointer<u32>(a.column_bits)[entry] = column_bits;
	u32 small = 0, large = size; // stack[0 .. small) and stack[large .. size)
	for (u32 c = 0; c < size; c++) {
		double w = 0;
		if (c < kept) {
			w = h[bit[c]] / total * (double)size;
		} else {
			bit[c] = 0;
		}
		share[c] = 0;
		weight[stride * c] = w;
		stack[stride * (w < 1 ? small++ : --large)] = c;
	}
	while (small > 0 && large < size) {
		const u32 s = stack[stride * --small];
		const u32 l = stack[stride * large++];
		const double ws = weight[stride * s];
		share[s] = fixed64(ws);
		bit[s] = (bit[s] & 0xFFFF) | bit[l] << 16;
		const double rest = (weight[stride * l] + ws) - 1;
		weight[stride * l] = rest;
		stack[stride * (rest < 1 ? small++ : --large)] = l;
	}
	for (u32 i = 0; i < size; i++) {
		if (i >= small && i < large) {
			continue;
		}
		const u32 c = stack[stride * i];
		const u32 own = c < kept ? bit[c] & 0xFFFF : heaviest;
		share[c] = ~(u64)0;
		bit[c] = own | own << 16;
	}
}

BEL_FN void tables_of(const bel_launch &a, u32 entry) {
	const double *h = pointer<double>(a.errors) + (u64)entry * a.bits;
	double total = 0;
	for (u32 k = 0; k < a.bits; k++) {
		total += h[k];
	}
	if (total > 0) {
		alias_of(a, entry, total);
		classes_of(a, entry, total);
	} else {
		pointer<u32>(a.class_count)[entry] = 0;
	}
}

// Dealing the samples of a block to the classes: one warp a task. Only sums over
// the words of a stream matter, so each lane takes every 32nd call.

// ones_of_lane counts ones among n bits from word pos of the counts stream: whole
// words of 64 bits and, of one more, the low bits.
BEL_FN u32 ones_of_lane(const bel_launch &a, u32 row, u32 block, u32 pos, u32 n, u32 lane) {
	const u32 whole = n / 64, rest = n % 64;
	const u32 end = pos + whole + (rest > 0);
	u32 sum = 0;
	for (u32 call = pos / 2 + lane; 2 * call < end; call += BEL_WARP) {
		const Bits128 r = philox(a.keys, call, STREAM_COUNTS, row, block);
		for (u32 half = 0; half < 2; half++) {
			const u32 word = 2 * call + half;
			u32 lo = r.x[2 * half], hi = r.x[2 * half + 1];
			if (word < pos || word >= end) {
				continue;
			}
			if (word == pos + whole) { // rest is 1 to 63
				hi = rest > 32 ? hi & (0xFFFFFFFFu >> (64 - rest)) : 0;
				lo = rest < 32 ? lo & (0xFFFFFFFFu >> (32 - rest)) : lo;
			}
			sum += ones(lo) + ones(hi);
		}
	}
	return sum;
}

// count_ones is the sum of ones_of_lane over the lanes of the warp.
BEL_FN u32 count_ones(const bel_launch &a, u32 row, u32 block, u32 pos, u32 n, u32 lane) {
#if BEL_DEVICE
	u32 sum = ones_of_lane(a, row, block, pos, n, lane);
	for (u32 d = BEL_WARP / 2; d > 0; d /= 2) {
		sum += across(sum, d);
	}
	return sum;
#else
	u32 sum = 0;
	for (lane = 0; lane < BEL_WARP; lane++) {
		sum += ones_of_lane(a, row, block, pos, n, lane);
	}
	return sum;
#endif
}

// deal_task is the same in every lane but for what count_ones counts.
BEL_FN void deal_task(const bel_launch &a, u32 task, u32 lane) {
	const u32 entry = pointer<u32>(a.task_entry)[task], block = pointer<u32>(a.task_block)[task];
	const u32 row = pointer<u32>(a.row)[entry], classes = pointer<u32>(a.class_count)[entry];
	const u64 *share = pointer<u64>(a.class_share) + (u64)entry * a.classes;
	u32 *dealt = pointer<u32>(a.dealt) + (u64)task * a.classes;
	u32 left = pointer<u32>(a.task_samples)[task], pos = 0;
	for (u32 i = 0; i < classes; i++) {
		u32 taken = left;
		if (i + 1 < classes) {
			taken = 0;
			u32 open = left;
			for (u64 p = share[i]; open > 0 && p != 0; p <<= 1) {
				const u32 sum = count_ones(a, row, block, pos, open, lane);
				pos += (open + 63) / 64;
				if (p >> 63) {
					taken += open - sum;
					open = sum;
				} else {
					open -= sum;
				}
			}
		}
		left -= taken;
		if (lane == 0) {
			dealt[i] = taken;
		}
	}
}

// Placing points and decoding: one thread block a task.

struct Sum {
	u32 abs; // of at most BEL_BLOCK_SIZE errors below BEL_BLOCK_SIZE in all threads
	u64 square;
};

BEL_FN void tally(Sum &s, int error, u32 n) {
	const u32 e = (u32)(error < 0 ? -error : error);
	s.abs += n * e;
	s.square += (u64)n * ((u64)e * e);
}

// Task is what the threads of a block share. narrow packs the columns of a table
// with draws of 16 bits and places below 256: turn << 16 | own << 8 | own^alias.
struct Task {
	u32 narrow[BEL_NARROW_COLUMNS];
	u32 entry, row, block, samples, classes;
	u32 column_bits, draw_bits;
};

BEL_FN void open_task(const bel_launch &a, u32 task, u32 thread, Task &t) {
	const u32 entry = pointer<u32>(a.task_entry)[task];
	const u32 classes = pointer<u32>(a.class_count)[entry];
	const u32 column_bits = classes > 0 ? pointer<u32>(a.column_bits)[entry] : 0;
	if (thread == 0) {
		t.entry = entry;
		t.row = pointer<u32>(a.row)[entry];
		t.block = pointer<u32>(a.task_block)[task];
		t.samples = pointer<u32>(a.task_samples)[task];
		t.classes = classes;
		t.column_bits = column_bits;
		t.draw_bits = (1u << column_bits) <= BEL_NARROW_COLUMNS ? 16 : 32;
	}
	if (classes > 0 && a.bits <= BEL_NARROW_COLUMNS) {
		const u64 *share = pointer<u64>(a.column_share) + (u64)entry * a.columns;
		const u32 *bit = pointer<u32>(a.column_bit) + (u64)entry * a.columns;
		for (u32 c = thread; c >> column_bits == 0; c += BEL_THREADS) {
			const u32 turn = c << (16 - column_bits) | (u32)(share[c] >> (48 + column_bits));
			const u32 own = bit[c] & 0xFF, alias = bit[c] >> 16;
			t.narrow[c] = turn << 16 | own << 8 | (own ^ alias);
		}
	}
}

// place_undecided is the place of a draw that equals the start of its column's
// share: 64 further bits decide. Rare, so it is called and not inlined; with
// plain arguments, so that the launch stays where it is.
BEL_CALL u32 place_undecided(u32 k0, u32 k1, u32 index, u32 kind, u32 row, u32 block, u64 rest, u32 bit) {
	u32 keys[20];
	for (int r = 0; r < 10; r++) {
		keys[2 * r] = k0 + r * 0x9E3779B9u;
		keys[2 * r + 1] = k1 + r * 0xBB67AE85u;
	}
	const Bits128 r = philox(keys, index, kind, row, block);
	return (r.x[0] | (u64)r.x[1] << 32) < rest ? bit & 0xFFFF : bit >> 16;
}

BEL_FN u32 undecided(const bel_launch &a, const Task &t, u32 points, u32 index, u32 column) {
	const u64 i = (u64)t.entry * a.columns + column;
	const u64 rest = pointer<u64>(a.column_share)[i] << (t.draw_bits - t.column_bits);
	return place_undecided(a.keys[0], a.keys[1], index, STREAM_REFINE | points, t.row, t.block, rest,
	                       pointer<u32>(a.column_bit)[i]);
}

// place_any returns the bit on which draw number index falls, for any table.
BEL_FN u32 place_any(const bel_launch &a, const Task &t, u32 points, u32 index, u32 draw) {
	const u32 fraction_bits = t.draw_bits - t.column_bits; // 8 to 32, less than 32 when it is used to shift a u32
	const u32 column = (u32)((u64)draw >> fraction_bits);
	const u64 i = (u64)t.entry * a.columns + column;
	const u64 share = pointer<u64>(a.column_share)[i];
	const u32 bit = pointer<u32>(a.column_bit)[i];
	const u64 fraction = (u64)draw << (64 - fraction_bits);
	const u64 top = share & ~(~(u64)0 >> fraction_bits);
	if (fraction == top) {
		return undecided(a, t, points, index, column);
	}
	return fraction < top ? bit & 0xFFFF : bit >> 16;
}

enum Decoder { BEL_U, BEL_J, GEN };

// nearest returns the row whose code word is nearest to an output that differs
// from that of a row in distance(row) bits, the lowest of several. See sparseGen
// in package montecarlo. Here the prefix of candidates also shrinks as nearer
// ones are found: a word at distance d from the true one is at least d-wrong
// from the output.
template <class Output> BEL_FN u32 nearest(const bel_launch &a, u32 row, const Output &out) {
	const u16 *order = pointer<u16>(a.order) + (u64)row * a.levels;
	const u32 *reach = pointer<u32>(a.reach) + (u64)row * (a.bits + 2);
	const u32 wrong = out.distance(a, row);
	u32 best = row, fewest = wrong;
	u32 candidates = reach[least(2 * wrong, a.bits + 1)];
	for (u32 i = 0; i < candidates; i++) {
		const u32 candidate = order[i];
		const u32 d = out.distance(a, candidate);
		if (d < fewest) {
			candidates = least(candidates, reach[least(wrong + d, a.bits + 1)]);
		}
		if (d < fewest || (d == fewest && candidate < best)) {
			best = candidate;
			fewest = d;
		}
	}
	return best;
}

// Short is the output of a code of at most 32*N bits, in registers: every index
// into it is known at compile time.
template <int N> struct Short {
	u32 w[N];

	BEL_METHOD void base(const bel_launch &a, const Task &t) {
		const u32 *from = pointer<u32>(a.base) + (u64)t.entry * a.words;
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			w[i] = i < (int)a.words ? from[i] : 0;
		}
	}

	BEL_METHOD void clear() {
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			w[i] = 0;
		}
	}

	// mark adds a bit; one that is there stays.
	BEL_METHOD void mark(u32 k) {
		const u32 mask = 1u << (k & 31);
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			w[i] |= k >> 5 == (u32)i ? mask : 0;
		}
	}

	BEL_METHOD u32 distance(const bel_launch &a, u32 row) const {
		const u32 *word = pointer<u32>(a.code) + (u64)row * a.words;
		u32 d = 0;
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			d += i < (int)a.words ? ones(word[i] ^ w[i]) : 0;
		}
		return d;
	}

	BEL_METHOD u32 count() const {
		u32 n = 0;
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			n += ones(w[i]);
		}
		return n;
	}

	// first and last return the place of the first and the last one, from 0, of
	// a word that is not zero.
	BEL_METHOD int first() const {
		int i = N - 1;
		u32 x = w[N - 1];
		BEL_UNROLL
		for (int j = N - 2; j >= 0; j--) {
			i = w[j] != 0 ? j : i;
			x = w[j] != 0 ? w[j] : x;
		}
		return 32 * i + lowest(x);
	}

	BEL_METHOD int last() const {
		int i = 0;
		u32 x = w[0];
		BEL_UNROLL
		for (int j = 1; j < N; j++) {
			i = w[j] != 0 ? j : i;
			x = w[j] != 0 ? w[j] : x;
		}
		return 32 * i + highest(x);
	}

	BEL_METHOD bool empty() const {
		u32 x = 0;
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			x |= w[i];
		}
		return x == 0;
	}

	// error returns decoded - label of the output base ^ marks.
	template <Decoder D> BEL_METHOD int error(const bel_launch &a, const Task &t, const Short &marks) const {
		Short out;
		BEL_UNROLL
		for (int i = 0; i < N; i++) {
			out.w[i] = w[i] ^ marks.w[i];
		}
		if (D == BEL_U) {
			return (int)out.count() - (int)t.row;
		}
		if (D == GEN) {
			return (int)nearest(a, t.row, out) - (int)t.row;
		}
		const int label = out.empty() ? a.empty : a.corner - out.first() - out.last();
		return label - 1 - (int)t.row;
	}
};

// each_chunk deals a warp its share of a task: rows of 32 chunks of 8 samples, in
// turn, whatever class they belong to. A chunk begins on a call of Philox's, and
// all lanes of a warp have as many points a sample, so they decode together.
enum { CHUNK = 8, WARPS = BEL_THREADS / BEL_WARP };

template <class Sampler> BEL_FN void each_chunk(const bel_launch &a, const Task &t, u32 task, u32 thread, Sampler &sampler, Sum &s) {
	if (t.classes == 0) {
		if (thread == 0) {
			tally(s, sampler.undisturbed(a, t), t.samples);
		}
		return;
	}
	const u32 *class_points = pointer<u32>(a.class_points) + (u64)t.entry * a.classes;
	const u32 *dealt = pointer<u32>(a.dealt) + (u64)task * a.classes;
	const u32 warp = thread / BEL_WARP, lane = thread % BEL_WARP;
	u32 turn = 0;
	for (u32 i = 0; i < t.classes; i++) {
		const u32 samples = dealt[i], points = class_points[i];
		if (samples == 0) {
			continue;
		}
		if (points == 0) {
			if (thread == 0) {
				tally(s, sampler.undisturbed(a, t), samples);
			}
			continue;
		}
		const u32 chunks = (samples + CHUNK - 1) / CHUNK;
		const u32 rows = (chunks + BEL_WARP - 1) / BEL_WARP;
		for (u32 r = (warp + WARPS - turn % WARPS) % WARPS; r < rows; r += WARPS) {
			const u32 chunk = r * BEL_WARP + lane;
			if (chunk < chunks) {
				sampler.chunk(a, t, points, chunk, least(CHUNK, samples - CHUNK * chunk), s);
			}
		}
		turn += rows;
	}
}

// ShortSampler samples codes of at most 32*N bits, at most BEL_NARROW_COLUMNS.
template <int N, Decoder D> struct ShortSampler {
	Short<N> base;

	BEL_METHOD int undisturbed(const bel_launch &a, const Task &t) const {
		Short<N> marks;
		marks.clear();
		return base.template error<D>(a, t, marks);
	}

	BEL_METHOD void chunk(const bel_launch &a, const Task &t, u32 points, u32 chunk, u32 left, Sum &s) const {
		const u32 shift = 16 - t.column_bits;
		u32 have = 0;
		Short<N> marks;
		marks.clear();
		for (u32 call = chunk * points;; call++) {
			const Bits128 r = philox(a.keys, call, STREAM_POINTS | points, t.row, t.block);
			BEL_UNROLL
			for (u32 d = 0; d < 8; d++) {
				const u32 draw = d % 2 == 0 ? r.x[d / 2] & 0xFFFF : r.x[d / 2] >> 16;
				const u32 column = draw >> shift;
				const u32 entry = t.narrow[column];
				const u32 turn = entry >> 16;
				u32 place = (entry >> 8 & 0xFF) ^ (draw > turn ? entry & 0xFF : 0);
				if (draw == turn) {
					place = undecided(a, t, points, 8 * call + d, column);
				}
				marks.mark(place);
				if (++have == points) {
					tally(s, base.template error<D>(a, t, marks), 1);
					if (--left == 0) {
						return;
					}
					have = 0;
					marks.clear();
				}
			}
		}
	}
};

// Long is the output of a code of any number of bits: marks lie in memory, word
// by word beside those of the other threads.
struct Long {
	const u32 *base;
	u32 *marks;
	u64 stride; // threads of the grid
	u32 words;

	BEL_METHOD u32 word(u32 i) const { return base[i] ^ marks[stride * i]; }

	BEL_METHOD u32 distance(const bel_launch &a, u32 row) const {
		const u32 *other = pointer<u32>(a.code) + (u64)row * words;
		u32 d = 0;
		for (u32 i = 0; i < words; i++) {
			d += ones(other[i] ^ word(i));
		}
		return d;
	}

	BEL_METHOD u32 count() const {
		u32 n = 0;
		for (u32 i = 0; i < words; i++) {
			n += ones(word(i));
		}
		return n;
	}

	// ends returns the label that bel-j reads.
	BEL_METHOD int ends(const bel_launch &a) const {
		u32 i = 0, j = words - 1;
		while (i < words && word(i) == 0) {
			i++;
		}
		if (i == words) {
			return a.empty;
		}
		while (word(j) == 0) {
			j--;
		}
		return a.corner - (int)(32 * i + lowest(word(i))) - (int)(32 * j + highest(word(j)));
	}
};

// LongSampler samples codes of any number of bits.
template <Decoder D> struct LongSampler {
	Long out;
	int start; // bel-u: error of the base word

	BEL_METHOD void open(const bel_launch &a, const Task &t) {
		out.base = pointer<u32>(a.base) + (u64)t.entry * a.words;
		start = D == BEL_U ? (int)out.count() - (int)t.row : 0;
	}

	// error returns decoded - label; flips is what the marks add to the number of
	// ones.
	BEL_METHOD int error(const bel_launch &a, const Task &t, int flips) const {
		if (D == BEL_U) {
			return start + flips;
		}
		if (D == GEN) {
			return (int)nearest(a, t.row, out) - (int)t.row;
		}
		return out.ends(a) - 1 - (int)t.row;
	}

	BEL_METHOD int undisturbed(const bel_launch &a, const Task &t) const { return error(a, t, 0); }

	BEL_METHOD void chunk(const bel_launch &a, const Task &t, u32 points, u32 chunk, u32 left, Sum &s) const {
		enum { FEW = 32 };
		u16 touched[FEW]; // elements of marks, when few points can touch few
		const u32 calls = t.draw_bits == 16 ? 1 : 2; // of Philox's, for 8 draws
		u32 index = 8 * chunk * points, have = 0;
		int flips = 0;
		for (u32 call = calls * chunk * points;; call++) {
			const Bits128 r = philox(a.keys, call, STREAM_POINTS | points, t.row, t.block);
			u64 lo = r.x[0] | (u64)r.x[1] << 32, hi = r.x[2] | (u64)r.x[3] << 32;
			for (u32 used = 0; used < 128; used += t.draw_bits) {
				const u32 draw = t.draw_bits == 16 ? (u32)lo & 0xFFFF : (u32)lo;
				lo = lo >> t.draw_bits | hi << (64 - t.draw_bits);
				hi >>= t.draw_bits;
				const u32 k = place_any(a, t, points, index++, draw);
				u32 *mark = out.marks + out.stride * (k / 32);
				const u32 mask = 1u << (k % 32);
				if ((*mark & mask) == 0) {
					*mark |= mask;
					flips += (out.base[k / 32] & mask) != 0 ? -1 : 1;
				}
				if (have < FEW) {
					touched[have] = (u16)(k / 32);
				}
				if (++have < points) {
					continue;
				}
				tally(s, error(a, t, flips), 1);
				if (points <= FEW) {
					for (u32 i = 0; i < points; i++) {
						out.marks[out.stride * touched[i]] = 0;
					}
				} else {
					for (u32 i = 0; i < out.words; i++) {
						out.marks[out.stride * i] = 0;
					}
				}
				if (--left == 0) {
					return;
				}
				have = 0;
				flips = 0;
			}
		}
	}
};

// Logits.

// Same are the bits of a number of the other type.
union Same {
	float f;
	u32 u;
};

// magnitude is that of a normal number on an octave: see package montecarlo. m has
// its highest bit set.
BEL_FN i32 magnitude(const float *table, u32 octave, u32 m) {
	Same s;
	s.u = (m >> 8 & 0x7FFFFF) | 0x3F800000;
	const float f = s.f - 1.5f;
	float p = table[7 * BEL_OCTAVES + octave];
	BEL_UNROLL
	for (int k = 6; k >= 0; k--) {
		p = product(p, f) + table[k * BEL_OCTAVES + octave];
	}
	return (i32)p;
}

// far is the magnitude where a draw is in the tail: 64 more bits continue it.
BEL_CALL i32 far(const float *table, u32 k0, u32 k1, u32 v, u32 index, u32 kind, u32 row, u32 block) {
	u32 keys[20];
	for (int r = 0; r < 10; r++) {
		keys[2 * r] = k0 + r * 0x9E3779B9u;
		keys[2 * r + 1] = k1 + r * 0xBB67AE85u;
	}
	const Bits128 r = philox(keys, index, kind, row, block);
	const u64 more = r.x[0] | (u64)r.x[1] << 32;
	const u64 w = (u64)v << 49 | more >> 15 | 1;
	const u32 up = (u32)(w >> 32);
	const u32 z = up != 0 ? zeros(up) : 32 + zeros((u32)w);
	if (z + 16 >= BEL_OCTAVES) {
		return magnitude(table, BEL_OCTAVES - 1, 1u << 31);
	}
	return magnitude(table, z + 16, (u32)(w << z >> 32));
}

// Four are numbers of four neighbouring samples of a group, which one thread has:
// one call of Philox's makes a draw for each.
struct Four {
	i32 x[4];
};

BEL_FN Four normals(const bel_launch &a, const Task &t, u32 call) {
	const float *table = pointer<float>(a.normal);
	const Bits128 r = philox(a.keys, call, STREAM_LATENT, t.row, t.block);
	Four out;
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		const u32 v = r.x[i] & 0x7FFFFFFF;
		i32 x;
		if (v >= 1u << 15) {
			const u32 w = v << 1 | 1;
			const u32 z = zeros(w);
			x = magnitude(table, z, w << z);
		} else {
			x = far(table, a.keys[0], a.keys[1], v, 4 * call + i, STREAM_TAIL, t.row, t.block);
		}
		const i32 sign = (i32)r.x[i] >> 31;
		out.x[i] = (x ^ sign) - sign;
	}
	return out;
}

// decay is 2^-t: see tables.Decay, whose coefficients a test compares with these.
BEL_FN float decay(float t) {
	const int n = (int)t;
	const float f = t - (float)n;
	float p = -0.0009475536644458771f;
	p = product(p, f) + 0.009210875257849693f;
	p = product(p, f) + -0.055299606174230576f;
	p = product(p, f) + 0.24017949402332306f;
	p = product(p, f) + -0.6931431889533997f;
	p = product(p, f) + 0.9999999403953552f;
	Same bits;
	bits.f = p;
	bits.u -= (u32)n << 23;
	return bits.f;
}

// RealSum is Sum for errors that are not whole numbers of levels.
struct RealSum {
	u64 abs, square;
};

// units is a number of levels, or of levels^2, in units of the sums.
BEL_FN u64 units(const bel_launch &a, double x) { return (u64)(product(x, (double)((u64)1 << a.fraction)) + 0.5); }

// tally adds a sample.
BEL_FN void tally(RealSum &s, const bel_launch &a, double decoded, double label) {
	double error = decoded - label;
	if (error < 0) {
		error = -error;
	}
	s.abs += units(a, error);
	s.square += units(a, product(error, error));
}

// Logits are those of four samples, in the grid's memory.
struct Logits {
	i32 *z; // of this thread: four numbers every 4*threads
	u64 stride;

	BEL_METHOD Four get(u32 bit) const {
		const i32 *p = z + stride * bit;
		Four f = {{p[0], p[1], p[2], p[3]}};
		return f;
	}

	BEL_METHOD void set(u32 bit, const Four &f) const {
		i32 *p = z + stride * bit;
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			p[i] = f.x[i];
		}
	}
};

// draw_logits makes the logits of four samples of a group.
BEL_FN void draw_logits(const bel_launch &a, const Task &t, const bel_latent &l, u32 group, u32 quarter, const Logits &z) {
	const i32 *center = pointer<i32>(l.centers);
	u32 call = 4 * group * l.drawn + quarter;
	for (u32 k = 0; k < l.drawn; k++, call += 4) {
		Four f = normals(a, t, call);
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			f.x[i] = (center[k] + f.x[i] + (1 << 7)) >> 8;
		}
		z.set(k, f);
	}
}

// Correlations are those of four samples with one candidate after the other: sums
// that run along. Whole numbers: in what order they are added does not matter.
struct Correlations {
	i64 x[4];
	u32 at;

	BEL_METHOD void start() {
		at = 0;
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			x[i] = 0;
		}
	}

	BEL_METHOD void next(const bel_run &run, u32 m, const Logits &z) {
		const i64 fixed = pointer<i64>(run.fixed)[m];
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			x[i] += fixed;
		}
		const u32 end = pointer<u32>(run.starts)[m + 1];
		for (; at < end; at++) {
			const u32 step = pointer<u32>(run.steps)[at];
			const Four f = z.get(step >> 1);
			BEL_UNROLL
			for (int i = 0; i < 4; i++) {
				x[i] += (step & 1) != 0 ? -(i64)f.x[i] : (i64)f.x[i];
			}
		}
	}
};

// Weights are those of four samples, kept where logits are.
struct Weights {
	float x[4];
};

BEL_FN void keep(const Logits &z, u32 slot, const Weights &w) {
	Four f;
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		Same s;
		s.f = w.x[i];
		f.x[i] = (i32)s.u;
	}
	z.set(slot, f);
}

BEL_FN Weights kept(const Logits &z, u32 slot) {
	const Four f = z.get(slot);
	Weights w;
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		Same s;
		s.u = (u32)f.x[i];
		w.x[i] = s.f;
	}
	return w;
}

// largest finds the largest sums over the words of a run.
BEL_FN void largest(const bel_run &run, u32 words, const Logits &z, i64 *most) {
	Correlations c;
	c.start();
	for (u32 m = 0; m < words; m++) {
		c.next(run, m, z);
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			most[i] = m == 0 || c.x[i] > most[i] ? c.x[i] : most[i];
		}
	}
}

// weigh makes the weights of the word that c stands at.
BEL_FN Weights weigh(const bel_latent &l, const Correlations &c, const i64 *most) {
	Weights w;
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		const i64 d = most[i] - c.x[i];
		w.x[i] = d <= l.limit ? decay(product((float)d, l.scale)) : 0;
	}
	return w;
}

// correlate_product decodes four samples by gen-ex on a product code: see
// Product in package tables.
BEL_FN void correlate_product(const bel_latent &l, u32 row, const Logits &z, double *label) {
	i64 most[4];
	Correlations c;
	float all[4] = {0, 0, 0, 0};
	largest(l.suffix, l.suffixes, z, most);
	c.start();
	for (u32 s = 0; s < l.suffixes; s++) {
		c.next(l.suffix, s, z);
		const Weights w = weigh(l, c, most);
		keep(z, l.drawn + s, w);
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			all[i] += w.x[i];
		}
	}
	for (u32 n = 0; n < l.kinds; n++) {
		const u16 *order = pointer<u16>(l.patterns) + (u64)n * l.suffixes;
		Weights t = {{0, 0, 0, 0}};
		for (u32 j = 0; j < l.suffixes; j++) {
			const Weights w = kept(z, l.drawn + order[j]);
			BEL_UNROLL
			for (int i = 0; i < 4; i++) {
				t.x[i] += product(w.x[i], (float)j);
			}
		}
		keep(z, l.drawn + l.suffixes + n, t);
	}
	largest(l.prefix, l.prefixes, z, most);
	float weight[4] = {0, 0, 0, 0}, sum[4] = {0, 0, 0, 0};
	c.start();
	for (u32 p = 0; p < l.prefixes; p++) {
		c.next(l.prefix, p, z);
		const Weights w = weigh(l, c, most);
		const Weights t = kept(z, l.drawn + l.suffixes + pointer<u16>(l.pattern_of)[p]);
		const float offset = pointer<float>(l.offsets)[p];
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			weight[i] += w.x[i];
			sum[i] += product(w.x[i], product(offset, all[i]) + t.x[i]);
		}
	}
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		label[i] = (double)(row + 1) + (double)sum[i] / (double)product(weight[i], all[i]);
	}
}

// correlate decodes four samples by gen or gen-ex. gen-ex goes over the candidates
// twice, since weights are relative to the largest correlation.
BEL_FN void correlate(const bel_latent &l, bool ex, u32 row, const Logits &z, double *label) {
	if (ex && l.prefixes > 0) {
		correlate_product(l, row, z, label);
		return;
	}
	const u16 *level = pointer<u16>(l.levels);
	Correlations c;
	i64 most[4];
	u32 best[4];
	c.start();
	c.next(l.run, 0, z);
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		most[i] = c.x[i];
		best[i] = 0;
	}
	for (u32 m = 1; m < l.candidates; m++) {
		c.next(l.run, m, z);
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			if (c.x[i] > most[i]) {
				most[i] = c.x[i];
				best[i] = m;
			}
		}
	}
	if (!ex) {
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			label[i] = (double)level[best[i]] + 1;
		}
		return;
	}
	float weight[4] = {0, 0, 0, 0}, sum[4] = {0, 0, 0, 0};
	c.start();
	for (u32 m = 0; m < l.candidates; m++) {
		c.next(l.run, m, z);
		const float offset = (float)((int)level[m] - (int)row);
		BEL_UNROLL
		for (int i = 0; i < 4; i++) {
			const i64 d = most[i] - c.x[i];
			if (d <= l.limit) {
				const float w = decay(product((float)d, l.scale));
				weight[i] += w;
				sum[i] += product(w, offset);
			}
		}
	}
	BEL_UNROLL
	for (int i = 0; i < 4; i++) {
		label[i] = (double)(row + 1) + (double)sum[i] / (double)weight[i];
	}
}

// flips decides which bits are wrong in the samples of a group: see Flips in package tables. The two
// halves of the word of a bit are kept in its slot.
BEL_FN void flips(const bel_launch &a, const Task &t, const bel_latent &l, u32 group, const Logits &z) {
	const u64 *planes = pointer<u64>(l.planes), *wrong = pointer<u64>(l.wrong);
	for (u32 k = 0; k < l.drawn; k++) {
		const u32 at = group * l.drawn + k;
		u64 open = ~(u64)0, smaller = 0;
		BEL_UNROLL
		for (u32 d = 0; d < BEL_DIGITS; d += 2) {
			const Bits128 r = philox(a.keys, at * (BEL_DIGITS / 2) + d / 2, STREAM_DIGITS, t.row, t.block);
			BEL_UNROLL
			for (u32 half = 0; half < 2; half++) {
				const u64 digit = planes[BEL_DIGITS * (u64)k + d + half];
				const u64 differ = open & ((r.x[2 * half] | (u64)r.x[2 * half + 1] << 32) ^ digit);
				smaller |= differ & digit;
				open ^= differ;
			}
		}
		for (; open != 0; open &= open - 1) {
			const u32 lane = (u32)open != 0 ? lowest((u32)open) : 32 + lowest((u32)(open >> 32));
			const Bits128 r = philox(a.keys, BEL_FLIP_LANES * at + lane, STREAM_UNDECIDED, t.row, t.block);
			if ((r.x[0] | (u64)r.x[1] << 32) < wrong[k] << BEL_DIGITS) {
				smaller |= (u64)1 << lane;
			}
		}
		const Four word = {{(i32)(u32)smaller, (i32)(u32)(smaller >> 32), 0, 0}};
		z.set(k, word);
	}
}

// is_wrong reports whether a drawn bit of a sample is wrong.
BEL_FN bool is_wrong(const Logits &z, u32 bit, u32 lane) { return ((u32)z.z[z.stride * bit + lane / 32] >> lane % 32 & 1) != 0; }

// sample_hard is the work of one thread in a task of hard outputs, drawn bit by bit.
BEL_FN void sample_hard(const bel_launch &a, u32 thread, const Logits &z, const Task &t, bool ex, RealSum &s) {
	const bel_latent &l = pointer<bel_latent>(a.latent)[t.entry];
	Logits outputs = z; // in the slots after those of the words
	outputs.z += z.stride * l.drawn;
	const u32 *word = pointer<u32>(a.code) + (u64)t.row * a.words;
	const u16 *bit = pointer<u16>(l.bits);
	for (u32 group = thread; BEL_FLIP_LANES * group < t.samples; group += BEL_THREADS) {
		flips(a, t, l, group, z);
		const u32 count = least(BEL_FLIP_LANES, t.samples - BEL_FLIP_LANES * group);
		for (u32 lane = 0; lane < count; lane += 4) {
			for (u32 k = 0; k < l.drawn; k++) {
				const bool one = (word[bit[k] / 32] >> bit[k] % 32 & 1) != 0;
				Four f;
				BEL_UNROLL
				for (u32 i = 0; i < 4; i++) {
					f.x[i] = is_wrong(z, k, lane + i) != one ? 1 << 16 : -(1 << 16);
				}
				outputs.set(k, f);
			}
			double label[4];
			correlate(l, ex, t.row, outputs, label);
			for (u32 i = 0; i < least(4, count - lane); i++) {
				tally(s, a, label[i], (double)(t.row + 1));
			}
		}
	}
}

// sample_logits is the work of one thread in a task.
BEL_FN void sample_logits(const bel_launch &a, u32 thread, u32 grid_thread, u32 grid_threads, const Task &t, bool ex, RealSum &s) {
	Logits z; // this thread's
	z.z = pointer<i32>(a.logits) + 4 * (u64)grid_thread;
	z.stride = 4 * (u64)grid_threads;
	if (a.hard) {
		sample_hard(a, thread, z, t, ex, s);
		return;
	}
	const bel_latent &l = pointer<bel_latent>(a.latent)[t.entry];
	for (u32 quarter = thread; 4 * quarter < t.samples; quarter += BEL_THREADS) { // of a group
		draw_logits(a, t, l, quarter / 4, quarter % 4, z);
		double label[4];
		correlate(l, ex, t.row, z, label);
		for (u32 i = 0; i < least(4, t.samples - 4 * quarter); i++) {
			tally(s, a, label[i], (double)(t.row + 1));
		}
	}
}

// BEL_LOGITS lists the kernels that sample logits, or hard outputs bit by bit.
#define BEL_LOGITS(X) \
	X(logits_gen, (sample_logits(a, thread, grid_thread, grid_threads, t, false, s))) \
	X(logits_gen_ex, (sample_logits(a, thread, grid_thread, grid_threads, t, true, s)))

// open_logits is open_task for logits.
BEL_FN void open_logits(const bel_launch &a, u32 task, u32 thread, Task &t) {
	if (thread == 0) {
		t.entry = pointer<u32>(a.task_entry)[task];
		t.row = pointer<u32>(a.row)[t.entry];
		t.block = pointer<u32>(a.task_block)[task];
		t.samples = pointer<u32>(a.task_samples)[task];
	}
}

// Kernels. The bodies below are for one thread; what runs them is at the end.

template <int N, Decoder D> BEL_FN void place_short(const bel_launch &a, u32 task, u32 thread, const Task &t, Sum &s) {
	ShortSampler<N, D> sampler;
	sampler.base.base(a, t);
	each_chunk(a, t, task, thread, sampler, s);
}

template <Decoder D>
BEL_FN void place_long(const bel_launch &a, u32 task, u32 thread, u32 grid_thread, u32 grid_threads, const Task &t, Sum &s) {
	LongSampler<D> sampler;
	sampler.out.marks = pointer<u32>(a.marks) + grid_thread;
	sampler.out.stride = grid_threads;
	sampler.out.words = a.words;
	sampler.open(a, t);
	each_chunk(a, t, task, thread, sampler, s);
}

// BEL_PLACE lists the kernels that place points and decode.
#define BEL_PLACE(X) \
	X(place_bel_u_128, (place_short<4, BEL_U>(a, task, thread, t, s))) \
	X(place_bel_u_256, (place_short<8, BEL_U>(a, task, thread, t, s))) \
	X(place_bel_u_any, (place_long<BEL_U>(a, task, thread, grid_thread, grid_threads, t, s))) \
	X(place_bel_j_128, (place_short<4, BEL_J>(a, task, thread, t, s))) \
	X(place_bel_j_256, (place_short<8, BEL_J>(a, task, thread, t, s))) \
	X(place_bel_j_any, (place_long<BEL_J>(a, task, thread, grid_thread, grid_threads, t, s))) \
	X(place_gen_128, (place_short<4, GEN>(a, task, thread, t, s))) \
	X(place_gen_256, (place_short<8, GEN>(a, task, thread, t, s))) \
	X(place_gen_any, (place_long<GEN>(a, task, thread, grid_thread, grid_threads, t, s)))

#if defined(__CUDA__) || defined(__CUDACC__)

#define BEL_KERNEL extern "C" __attribute__((global)) void
#define BEL_SHARED __attribute__((shared))

#if defined(__CUDACC__) && !defined(__clang__)
#define BEL_THREAD threadIdx.x
#define BEL_GROUP blockIdx.x
#define BEL_GROUPS gridDim.x
#define BEL_BARRIER() __syncthreads()
#define BEL_ADD(where, n) atomicAdd(where, n)
#else
#define BEL_THREAD __nvvm_read_ptx_sreg_tid_x()
#define BEL_GROUP __nvvm_read_ptx_sreg_ctaid_x()
#define BEL_GROUPS __nvvm_read_ptx_sreg_nctaid_x()
#define BEL_BARRIER() __syncthreads()
#define BEL_ADD(where, n) __atomic_fetch_add(where, n, __ATOMIC_RELAXED)
#endif

// add_sum adds the sums of a warp to those of an entry. Integers: no order of
// addition changes them.
BEL_FN void add_sum(const bel_launch &a, const Task &t, u32 lane, const Sum &s) {
#if BEL_DEVICE
	u32 abs = s.abs;
	u64 square = s.square;
	for (u32 d = BEL_WARP / 2; d > 0; d /= 2) {
		abs += across(abs, d);
		const u32 lo = across((u32)square, d), up = across((u32)(square >> 32), d);
		square += lo | (u64)up << 32;
	}
	if (lane == 0) {
		u64 *sums = pointer<u64>(a.sums) + (u64)BEL_SUMS * t.entry;
		BEL_ADD(&sums[0], (u64)abs);
		BEL_ADD(&sums[1], square);
	}
#endif
}

BEL_KERNEL hazards(const bel_launch a) {
	const u64 i = (u64)BEL_GROUP * BEL_THREADS + BEL_THREAD;
	if (i < (u64)a.entries * a.words) {
		hazards_word(a, (u32)(i / a.words), (u32)(i % a.words));
	}
}

BEL_KERNEL tables(const bel_launch a) {
	const u32 entry = BEL_GROUP * BEL_THREADS + BEL_THREAD;
	if (entry < a.entries) {
		tables_of(a, entry);
	}
}

BEL_KERNEL deal(const bel_launch a) {
	const u32 task = (BEL_GROUP * BEL_THREADS + BEL_THREAD) / BEL_WARP;
	if (task < a.tasks) {
		deal_task(a, task, BEL_THREAD % BEL_WARP);
	}
}

#define BEL_PLACE_KERNEL(name, body) \
	BEL_KERNEL name(const bel_launch a) { \
		BEL_SHARED Task t; \
		const u32 thread = BEL_THREAD; \
		const u32 grid_thread = BEL_GROUP * BEL_THREADS + thread, grid_threads = BEL_GROUPS * BEL_THREADS; \
		(void)grid_thread, (void)grid_threads; \
		for (u32 task = BEL_GROUP; task < a.tasks; task += BEL_GROUPS) { \
			open_task(a, task, thread, t); \
			BEL_BARRIER(); \
			Sum s = {0, 0}; \
			body; \
			add_sum(a, t, thread % BEL_WARP, s); \
			BEL_BARRIER(); /* the next task's tables take the place of these */ \
		} \
	}
BEL_PLACE(BEL_PLACE_KERNEL)

BEL_FN u64 across(u64 x, u32 d) {
#if BEL_DEVICE
	const u32 lo = across((u32)x, d), up = across((u32)(x >> 32), d);
	return lo | (u64)up << 32;
#else
	return x + d;
#endif
}

BEL_FN void add_sum(const bel_launch &a, const Task &t, u32 lane, const RealSum &s) {
	const u64 own[BEL_SUMS] = {s.abs, s.square};
	u64 *sums = pointer<u64>(a.sums) + (u64)BEL_SUMS * t.entry;
	BEL_UNROLL
	for (u32 i = 0; i < BEL_SUMS; i++) {
		u64 sum = own[i];
		for (u32 d = BEL_WARP / 2; d > 0; d /= 2) {
			sum += across(sum, d);
		}
		if (lane == 0) {
			BEL_ADD(&sums[i], sum);
		}
	}
}

#define BEL_LOGITS_KERNEL(name, body) \
	BEL_KERNEL name(const bel_launch a) { \
		BEL_SHARED Task t; \
		const u32 thread = BEL_THREAD; \
		const u32 grid_thread = BEL_GROUP * BEL_THREADS + thread, grid_threads = BEL_GROUPS * BEL_THREADS; \
		for (u32 task = BEL_GROUP; task < a.tasks; task += BEL_GROUPS) { \
			open_logits(a, task, thread, t); \
			BEL_BARRIER(); \
			RealSum s = {}; \
			body; \
			add_sum(a, t, thread % BEL_WARP, s); \
			BEL_BARRIER(); \
		} \
	}
BEL_LOGITS(BEL_LOGITS_KERNEL)

#endif

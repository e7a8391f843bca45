// Weights 2^−d of correlations that are d below the largest, by the polynomial of
// tables.Decay: what softmax and weigh have in common.

// DECAY sets Y5 to the weights of 8 samples whose correlations are Y0 below the
// largest, zero beyond the limit.
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

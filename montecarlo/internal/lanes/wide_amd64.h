// IFWIDE goes to the part of a routine that is for AVX-512, where the processor has it.
#define IFWIDE(label) \
	CMPB belsim∕theory∕base∕processor·Wide(SB), $0 \
	JNE  label

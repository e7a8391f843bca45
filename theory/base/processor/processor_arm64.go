//go:build !purego

package processor

// Every processor for arm64 has NEON.
const Vectors, Wide = true, false

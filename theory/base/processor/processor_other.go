//go:build !amd64 || purego

package processor

const Vectors, Wide = false, false

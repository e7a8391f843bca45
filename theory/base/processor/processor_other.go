//go:build (!amd64 && !arm64) || purego

package processor

const Vectors, Wide = false, false

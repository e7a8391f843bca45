//go:build !amd64 || purego

// A package with assembly may declare functions that it does not define. Here nothing calls them.

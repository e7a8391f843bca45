//go:build !unix

package safefile

// syncFolder does nothing: this system does not sync folders.
func syncFolder(string) error { return nil }

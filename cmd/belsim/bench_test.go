package main

import (
	"io"
	"path/filepath"
	"testing"
)

// BenchmarkHeatmap is the whole command, drawing included.
func BenchmarkHeatmap(b *testing.B) {
	for _, bb := range []struct {
		name string
		args []string
	}{
		{"bound/200x200", []string{"--method", "bound", "--r", "1:150:200", "--sigma", "1:100:200"}},
		{"exact/100x100", []string{"--method", "exact"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			args := append([]string{"heatmap", "-o", filepath.Join(b.TempDir(), "h.png")}, bb.args...)
			for b.Loop() {
				if status := belsim(args, io.Discard, io.Discard); status != 0 {
					b.Fatal("exit", status)
				}
			}
		})
	}
}

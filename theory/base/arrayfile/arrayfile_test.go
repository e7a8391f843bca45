package arrayfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// npyFile is an .npy file of version 1 with the given header fields and data.
func npyFile(descr, shape string, data []byte) []byte {
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	out := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))...)
	return append(append(out, dict...), data...)
}

func TestNPYRefusals(t *testing.T) {
	eight := make([]byte, 8)
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	one := npyFile("'<f8'", "(1, 1)", eight)
	for _, file := range [][]byte{
		nil, []byte("0,1\n1,0\nmore text"), append([]byte("\x93NUMPY\x04\x00"), eight...), append(one[:len(one):len(one)], one...),
		[]byte("\x93NUMPY\x01\x00\xff\x00{'descr'"), []byte("\x93NUMPY\x01\x00\x04\x00abc\n"), // bad headers
		npyFile("'<f4'", "(1, 2, 1)", eight), npyFile("'<f8'", "(0, 1)", nil), npyFile("'<f8'", "(-1, 1)", eight),
		npyFile("'|u1'", "(1, 1000000)", eight), npyFile("'<f8'", "(3, 1)", eight), npyFile("'<f4'", "(1, 1)", eight),
		npyFile("'<c16'", "(1, 1)", eight), npyFile("'<U2'", "(1, 1)", eight), npyFile("'|O'", "(1, 1)", eight),
		npyFile("'<f8'", "(1, 1)", nan), npyFile("'<f2'", "(1, 1)", []byte{0, 0x7c}), // infinite
	} {
		path := inFile(t, "in.npy", file)
		m, err := arrayfile.ReadFile(path)
		refused(t, file, m != nil, err, path)
	}
}

// refused expects an error of one line that begins with the name of a file.
func refused(t *testing.T, what []byte, read bool, err error, path string) {
	t.Helper()
	if read || err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%.60q is read: %v, %v; want one line about %s", what, read, err, path)
	}
}

func TestCSV(t *testing.T) {
	m := must.Get(arrayfile.ReadFile(inFile(t, "in.csv",
		[]byte("\ufeff\"0\", 0.5,1e-3\r\ntrue,False,\"1\"\r\n\r\n"))))(t)
	if want := mat.NewDense(2, 3, []float64{0, 0.5, 1e-3, 1, 0, 1}); !mat.Equal(m, want) {
		t.Errorf("%v, want %v", mat.Formatted(m), mat.Formatted(want))
	}
	for _, in := range []string{"", "\n\n", "\ufeff\n", "a,b\n0,1\n", "\"a, in m\",b\n0,1\n", "0,\"1\n2,3\n", "0,1\n0\n",
		"0,1\n0,1,1\n", "0,1\n0,\n", "0,NaN\n", "0,-inf\n", "0,1e999\n", strings.Repeat("0,", 1e6) + "0",
		strings.Repeat("0,", 7e4) + "0", strings.Repeat("0", 1e7), strings.Repeat("0\n", 70000),
		"0,1,2\n0,1,1\n1,0,1\n", ",0,1\n0,1,0\n1,0,1\n", // the names that pandas writes
		"1\r2\r", "\xff\xfe1\x00\n\x00", "\x001\x00\n", // of other systems
	} {
		path := inFile(t, "in.csv", []byte(in))
		m, err := arrayfile.ReadFile(path)
		refused(t, []byte(in), m != nil, err, path)
	}
	path := inFile(t, "z.csv", []byte(",0,1\n0,0.5,1\n1,0.25,2\n")) // with an index
	_, err := arrayfile.OpenRows(path)
	refused(t, nil, false, err, path)
}

// roundTrip writes m in every format and expects it back.
func roundTrip(t *testing.T, m *mat.Dense) {
	t.Helper()
	var c, n bytes.Buffer
	must.Succeed(t, arrayfile.WriteCSV(t.Context(), &c, m))
	must.Succeed(t, arrayfile.WriteNPY(t.Context(), &n, m))
	for name, read := range map[string]func() (*mat.Dense, error){
		"csv": func() (*mat.Dense, error) { return arrayfile.ReadFile(inFile(t, "a.csv", c.Bytes())) },
		"npy": func() (*mat.Dense, error) { return arrayfile.ReadFile(inFile(t, "a.npy", n.Bytes())) },
	} {
		got, err := read()
		if err != nil {
			t.Fatalf("%s: what was written is refused: %v", name, err)
		}
		if !mat.Equal(got, m) {
			t.Fatalf("%s: %v, want %v", name, mat.Formatted(got), mat.Formatted(m))
		}
	}
}

// TestWrite: matrices of bits, of numbers that look like the names of columns, and of others.
func TestWrite(t *testing.T) {
	bits := mat.NewDense(2, 3, []float64{0, 1, 0, 1, 1, 0})
	roundTrip(t, bits)
	roundTrip(t, mat.NewDense(2, 3, []float64{0, 1, 2, 1, 1, 0}))
	column := mat.NewDense(20, 1, nil) // whole numbers above others
	column.Apply(func(i, _ int, _ float64) float64 { return 1 + 13.7*float64(i) }, column)
	roundTrip(t, column)
	var b bytes.Buffer
	must.Succeed(t, arrayfile.WriteBitsNPY(t.Context(), &b, bits))
	if got, err := arrayfile.ReadFile(inFile(t, "bits.npy", b.Bytes())); err != nil || !mat.Equal(got, bits) {
		t.Errorf("%v, %v", got, err)
	}
	b.Reset()
	must.Succeed(t, arrayfile.WriteCSV(t.Context(), &b,
		mat.NewDense(1, 7, []float64{0, 256, 1e6, -12345678, 1e15 - 1, 1e15, 0.1})))
	if got, want := b.String(), "0,256,1000000,-12345678,999999999999999,1e+15,0.1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

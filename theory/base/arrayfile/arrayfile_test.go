package arrayfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

func TestHalf(t *testing.T) {
	// Values of binary16 by its definition.
	for b, want := range map[uint16]float64{
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 0x1p-14, 0x0001: 0x1p-24, 0x3555: 0.333251953125, 0x8000: 0,
	} {
		m, err := arrayfile.ReadFile(inFile(t, "half.npy",
			npyFile("'<f2'", "(1, 1)", binary.LittleEndian.AppendUint16(nil, b))))
		if err != nil || m.At(0, 0) != want {
			t.Errorf("%04x: %v, %v, want %v", b, m, err, want)
		}
	}
}

// npyFile is an .npy file of version 1 with the given header fields and data.
func npyFile(descr, shape string, data []byte) []byte {
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	out := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))...)
	return append(append(out, dict...), data...)
}

func TestNPYRefusals(t *testing.T) {
	eight := make([]byte, 8)
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty file"},
		{"text", []byte("0,1\n1,0\nmore text"), "not a NumPy array"},
		{"version 4", append([]byte("\x93NUMPY\x04\x00"), eight...), "version 4"},
		{"two arrays", append(npyFile("'<f8'", "(1, 1)", eight), npyFile("'<f8'", "(1, 1)", eight)...), "another array"},
		{"short header", []byte("\x93NUMPY\x01\x00\xff\x00{'descr'"), "bad header"},
		{"no dictionary", []byte("\x93NUMPY\x01\x00\x04\x00abc\n"), "bad header"},
		{"three dimensions", npyFile("'<f4'", "(1, 2, 1)", eight), "three dimensions"},
		{"no rows", npyFile("'<f8'", "(0, 1)", nil), "no rows"},
		{"negative", npyFile("'<f8'", "(-1, 1)", eight), "no rows"},
		{"a million columns", npyFile("'|u1'", "(1, 1000000)", eight), "1000000 columns"},
		{"truncated", npyFile("'<f8'", "(3, 1)", eight), "truncated: 2 of 3 rows are missing"},
		{"too long", npyFile("'<f4'", "(1, 1)", eight), "bytes after the data"},
		{"complex", npyFile("'<c16'", "(1, 1)", eight), "want bools, integers or floats"},
		{"text entries", npyFile("'<U2'", "(1, 1)", eight), `entries are text (type "<U2")`},
		{"object", npyFile("'|O'", "(1, 1)", eight), "want bools, integers or floats"},
		{"NaN", npyFile("'<f8'", "(1, 1)", nan), "row 1, column 1: NaN"},
	} {
		path := inFile(t, "in.npy", tt.file)
		_, err := arrayfile.ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: error %v, want one about %q", tt.name, err, tt.want)
		}
	}
}

func TestCSV(t *testing.T) {
	m := must.Get(arrayfile.ReadFile(inFile(t, "in.csv",
		[]byte("\ufeff\"0\", 0.5,1e-3\r\ntrue,False,\"1\"\r\n\r\n"))))(t)
	if want := mat.NewDense(2, 3, []float64{0, 0.5, 1e-3, 1, 0, 1}); !mat.Equal(m, want) {
		t.Errorf("%v, want %v", mat.Formatted(m), mat.Formatted(want))
	}
	for in, want := range map[string]string{
		"":                              "empty file",
		"\n\n":                          "empty file",
		"\ufeff\n":                      "empty file",
		"a,b\n0,1\n":                    `line 1, column 1: "a" is not a finite number; no header`,
		"\"a, in m\",b\n0,1\n":          `line 1, column 1: "a, in m" is not a finite number; no header`,
		"0,\"1\n2,3\n":                  "line 1, character",
		"0,1\n0\n":                      "line 2 has 1 columns, but the first has 2",
		"0,1\n0,1,1\n":                  "line 2 has 3 columns, but the first has 2",
		"0,1\n0,\n":                     `line 2, column 2: ""`,
		"0,NaN\n":                       `column 2: "NaN"`,
		"0,-inf\n":                      `column 2: "-inf"`,
		"0,1e999\n":                     `column 2: "1e999"`,
		strings.Repeat("0,", 1e6) + "0": "want at most 65536 columns",
		strings.Repeat("0,", 7e4) + "0": "70001 columns; want at most 65536",
		strings.Repeat("0", 1e7):        "longer than",
		strings.Repeat("0\n", 70000):    "65537 rows",
	} {
		path := inFile(t, "in.csv", []byte(in))
		_, err := arrayfile.ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%.20q: error %v, want one about %q", in, err, want)
		}
	}
}

// TestPandasRefusals: the names that pandas writes are not taken for numbers, and the error says
// how to leave them out.
func TestPandasRefusals(t *testing.T) {
	for _, text := range []string{"0,1,2\n0,1,1\n1,0,1\n", ",0,1\n0,1,0\n1,0,1\n"} {
		if _, err := arrayfile.ReadFile(inFile(t, "c.csv", []byte(text))); err == nil || !strings.Contains(err.Error(),
			"header=False and index=False") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if m, err := arrayfile.ReadFile(inFile(t, "c.csv", []byte("0,1\n1,0\n"))); err != nil || m.At(0, 1) != 1 {
		t.Errorf("a matrix of two columns: %v, %v", m, err)
	}
	path := inFile(t, "z.csv", []byte(",0,1\n0,0.5,1\n1,0.25,2\n"))
	if _, err := arrayfile.OpenRows(path); err == nil || !strings.Contains(err.Error(), "index=False") {
		t.Errorf("an index of pandas: error %v", err)
	}
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

func FuzzReadCSV(f *testing.F) {
	f.Add("0,1\n1,0\n")
	f.Add("\ufeff1e-300,true\r\n\"2\",0x1p-3\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		if m, err := arrayfile.ReadFile(inFile(t, "in.csv", []byte(in))); err == nil {
			roundTrip(t, m)
		}
	})
}

func FuzzReadNPY(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.npy")
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if m, err := arrayfile.ReadFile(inFile(t, "in.npy", in)); err == nil {
			roundTrip(t, m)
		}
	})
}

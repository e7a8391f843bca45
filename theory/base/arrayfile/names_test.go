package arrayfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// floats are lines of numbers as programs write them.
func floats(columns, lines int) string {
	return strings.Repeat(strings.Repeat(",-1.25", columns)[1:]+"\n", lines)
}

// TestFirstLine: what the first line of a .csv is: names, which are left out and, where they are
// numbers, said; a row; or either, which is refused until somebody settles it.
func TestFirstLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"y\n" + floats(1, 20), "names"},
		{",y\n0,1.5\n", "names"},
		{"0,1,2\n" + floats(3, 1), "numbers"},
		{"1,2,3\n" + floats(3, 1), "numbers"},
		{"0,1,2\n0,1,0\n", "numbers"},
		{"0\n" + floats(1, 20), "numbers"},
		{"0\n" + floats(1, 3), "doubt"}, // of a person who writes labels of levels, too
		{"0\n1\n2\n3\n", "doubt"},
		{"0,1\n1,1\n0,0\n", "doubt"}, // bits, or names
		{"1,2\n" + floats(2, 3), "doubt"},
		{"16,18,20\n" + floats(3, 3), "doubt"}, // labels of levels
		{"0,0.88,9.6,95\n" + strings.Repeat("0.123456,0.234567,0.345678,0.456789\n", 3), "doubt"},
		{"20\n" + floats(1, 20), "doubt"}, // one number without a point above many that have one
		{"20,25\n" + floats(2, 20), "doubt"},
		{"2015,2011,2013\n" + floats(3, 20), "numbers"},
		{"2015,2011,2013\n" + floats(3, 2), "row"},
		{"20\n" + floats(1, 20) + "7\n", "row"},
		{"a;b\n1;2\n", "error"}, // names of another separator, or of fewer columns; no text
		{"a\n1,2\n", "error"},
		{"a|b\n1|2\n", "error"},
		{"\x1f\x8b\x08a\n1\n", "error"},
		{"PK\x03\x04\n1\n", "error"},
		{"0.0\n1\n2\n", "row"},
		{"1\n2\n3\n", "row"},
		{"5\n1\n2\n", "row"},
		{"0\n", "row"},
		{"0.1,0.2,0.3\n0.2,0.3,0.4\n", "row"}, // as the others
		{"-1.5,2.25,0.125\n" + floats(3, 3), "row"},
		{"nan,1,2\n" + floats(3, 3), "error"},
		{"1.5.2\n1.5\n", "error"},
		{"1_0\n2\n", "error"},
		{"1;2\n", "error"},
	} {
		got, rows := "row", 0
		r, err := arrayfile.OpenRows(inFile(t, "a.csv", []byte(tt.text)))
		if err == nil {
			defer r.Close()
			switch {
			case r.Doubtful():
				got = "doubt"
				if err := r.Next(make([]float64, 9)); err == nil || !strings.Contains(err.Error(), "may be the names") {
					t.Errorf("%q: %v", tt.text, err)
				}
				for _, names := range []bool{true, false} { // both, and after a rewind
					r.Settle(names)
					must.Succeed(t, r.Rewind())
					rows = count(t, r)
					if want := strings.Count(tt.text, "\n"); names && rows != want-1 || !names && rows != want {
						t.Errorf("%q: %d rows where names is %v", tt.text, rows, names)
					}
				}
			case r.Numbered():
				got = "numbers"
				if !strings.Contains(r.Note(), "line 1 (") {
					t.Errorf("%q: note %q", tt.text, r.Note())
				}
			case r.Header() != nil:
				got = "names"
			default:
				_, m := r.Dims()
				err = r.Next(make([]float64, m))
			}
		}
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s (%v)", tt.text, got, tt.want, err)
		}
	}
}

func count(t *testing.T, r *arrayfile.Rows) (n int) {
	_, m := r.Dims()
	for row := make([]float64, m); ; n++ {
		if err := r.Next(row); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestColumn: FILE.csv:NAME is one column, whatever the others hold.
func TestColumn(t *testing.T) {
	path := inFile(t, "a.csv", []byte("file,0,y\na.png,3,1.5\nb.png,4,2.5\n"))
	for name, want := range map[string]float64{"y": 2.5, "0": 4} {
		r := must.Get(arrayfile.OpenRows(path + ":" + name))(t)
		row := []float64{0}
		must.Succeed(t, errors.Join(r.Next(row), r.Next(row)))
		if row[0] != want || r.Next(row) != io.EOF {
			t.Errorf("%s: %v, want %v", name, row, want)
		}
	}
	for name, want := range map[string]string{"z": `no column "z"; line 1 has file, 0, y`, "file": `column 1: "a.png"`} {
		r, err := arrayfile.OpenRows(path + ":" + name)
		if err == nil {
			err = r.Next(make([]float64, 1))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestVersions: the header of an .npy file has a length of four bytes from version 2 on.
func TestVersions(t *testing.T) {
	one := npyFile("'<f8'", "(1, 1)", make([]byte, 8))
	for _, version := range []byte{2, 3} {
		file := append([]byte("\x93NUMPY"), version, 0, one[8], one[9], 0, 0)
		if m, err := arrayfile.ReadFile(inFile(t, "a.npy", append(file, one[10:]...))); err != nil || m.At(0, 0) != 0 {
			t.Errorf("version %d: %v, %v", version, m, err)
		}
		if _, err := arrayfile.ReadFile(inFile(t, "a.npy", append(file[:8], 255, 255, 255, 255))); err == nil ||
			!strings.Contains(err.Error(), "bad header") {
			t.Errorf("version %d: a header of 4 GiB: %v", version, err)
		}
	}
}

package arrayfile

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/inputfile"
)

// NPZWriter writes arrays into an .npz file. Equal arrays give equal bytes, because the file
// holds no times.
type NPZWriter struct{ zip *zip.Writer }

// NewNPZWriter returns a writer of an .npz file. Close ends the file.
func NewNPZWriter(w io.Writer) *NPZWriter { return &NPZWriter{zip.NewWriter(w)} }

// Close writes the end of the file. It does not close the underlying writer.
func (z *NPZWriter) Close() error { return z.zip.Close() }

// Column writes an array of one dimension as float64.
func (z *NPZWriter) Column(name string, numbers []float64) error {
	return z.array(name, "<f8", len(numbers), numbers)
}

// Text writes an array of one text of Unicode.
func (z *NPZWriter) Text(name, text string) error {
	runes := []rune(text)
	if len(runes) == 0 {
		runes = []rune{0} // NumPy has no texts without a character
	}
	return z.array(name, fmt.Sprintf("<U%d", len(runes)), 1, runes)
}

// array writes an array of n entries, whose bytes are those of a slice.
func (z *NPZWriter) array(name, descr string, n int, slice any) error {
	return z.entry(name, func(w io.Writer) error {
		_, err := w.Write(npyHeader(descr, fmt.Sprintf("(%d,)", n)))
		return errors.Join(err, binary.Write(w, binary.LittleEndian, slice))
	})
}

// Matrix writes an array of two dimensions as float64, in C order.
func (z *NPZWriter) Matrix(name string, m mat.Matrix) error {
	return z.entry(name, func(w io.Writer) error { return WriteNPY(context.Background(), w, m) })
}

// entry writes an array with a function that writes an .npy file.
func (z *NPZWriter) entry(name string, write func(io.Writer) error) error {
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
	if err == nil {
		err = write(w)
	}
	if err != nil {
		return fmt.Errorf("array %s: %w", name, err)
	}
	return nil
}

// findArray finds an array in an .npz file, a zip of .npy files: the one of a name, the first of
// names that the file has, or its only one. It returns the name of the file for messages, with that
// of the array where it is found.
func findArray(archive inputfile.File, file, array string, names []string) (found *zip.File, name string, err error) {
	z, err := zip.NewReader(archive, archive.Size())
	if err != nil {
		return nil, file, fmt.Errorf("not an .npz file: %w", err)
	}
	var has []string
	arrays := map[string]*zip.File{}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if arrays[name] != nil {
			return nil, file, fmt.Errorf("two arrays %q; want names that differ", name)
		}
		has = append(has, name)
		arrays[name] = f
	}
	switch {
	case len(has) == 0:
		return nil, file, errors.New("no arrays")
	case array != "" && arrays[array] == nil:
		return nil, file, fmt.Errorf("no array %q; it has %s", array, someOf(has))
	case array == "" && len(has) == 1:
		array = has[0]
	case array == "":
		at := slices.IndexFunc(names, func(name string) bool { return arrays[name] != nil })
		if at < 0 {
			return nil, file, fmt.Errorf("which array? Want %s:NAME with one of %s", file, someOf(has))
		}
		array = names[at]
	}
	return arrays[array], file + ":" + array, nil
}

// someOf lists a few names.
func someOf(names []string) string {
	const most = 8
	text := fmt.Sprintf("%.256s", strings.Join(names[:min(most, len(names))], ", "))
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxText is the largest text that ReadText reads, in bytes.
const maxText = 1 << 20

// ReadText reads a text from an array of an .npz file: an array of no or one dimension with one
// text of Unicode, as NumPy and NPZWriter.Text write it.
func ReadText(path, name string) (string, error) {
	file, err := inputfile.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text := ""
	array, name, err := findArray(file, path, name, nil)
	if err == nil {
		text, err = readText(array)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func readText(array *zip.File) (string, error) {
	file, err := array.Open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	h, err := readHeader(in)
	if err != nil {
		return "", err
	}
	width, isText := strings.CutPrefix(h.descr, "<U")
	runes, err := strconv.Atoi(width)
	if !isText || err != nil || runes < 0 || len(h.shape) > 1 || len(h.shape) == 1 && h.shape[0] != 1 {
		return "", fmt.Errorf("entries of type %.20q; want one text", h.descr)
	}
	if runes > maxText/4 {
		return "", fmt.Errorf("a text of %d characters; want at most %d", runes, maxText/4)
	}
	text := make([]rune, runes)
	if err := binary.Read(in, binary.LittleEndian, text); err != nil {
		return "", fmt.Errorf("truncated: %w", err)
	}
	if err := atEnd(in); err != io.EOF {
		return "", err
	}
	return strings.TrimRight(string(text), "\x00"), nil
}

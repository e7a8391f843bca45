package position_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"belsim/theory/base/must"
	"belsim/theory/base/position"
)

// TestCount: positions count from where they are asked to, and flags are of who counts so, however the text is cut into writes.
func TestCount(t *testing.T) {
	text := fmt.Sprintf("rows %s and %s of 7: é, level %s,\ncolumns %s \u034e\n", position.At(3), position.At(10), position.At(0), position.List([]int{1, 2})) +
		fmt.Sprintf("want %s, %s, %s, %s or %s\n", position.Range(2, 65.5), position.Flag("range", "a:b"), position.Flag("code", "softmax"),
			position.Flag("rel-err", "0.1"), position.Flag("outputs", "logits:FILE"))
	for from, want := range []string{
		"rows 2 and 9 of 7: é, level -1,\ncolumns 0, 1 \u034e\nwant range=(1, 64.5), range=(a, b), code='softmax', rel_err=0.1 or kind='logits'\n",
		"rows 3 and 10 of 7: é, level 0,\ncolumns 1, 2 \u034e\nwant --range 2:65.5, --range a:b, --code softmax, --rel-err 0.1 or --outputs logits:FILE\n",
	} {
		must.Equal(t, "text", want, position.Count(text, from))
		var b strings.Builder
		must.Get(io.Copy(position.Writer(&b, from), struct{ io.Reader }{iotest.OneByteReader(strings.NewReader(text))}))(t)
		must.Equal(t, "written", want, b.String())
	}
}

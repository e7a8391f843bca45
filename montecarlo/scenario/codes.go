package scenario

import (
	"fmt"

	"belsim/theory/code"
)

// Sizes say how many levels the codes of a scenario have.
type Sizes struct {
	Levels  int  // the number that was asked for; 0: none
	Prior   int  // the number that the histogram of the prior needs; 0: no histogram
	Default int  // the number where nothing else sets it
	Real    bool // files may hold real numbers
}

// Named is the number of levels of named codes where no file sets it.
func (z Sizes) Named() int {
	switch {
	case z.Levels != 0:
		return z.Levels
	case z.Prior != 0:
		return z.Prior
	}
	return z.Default
}

// OpenCodes opens NAMEs and FILEs, all of the same number of levels. The number is
// size.Levels; where this is 0, the number of levels of the files; without files, size.Prior;
// where this is 0, size.Default. The error names the code that cannot be opened.
func OpenCodes(names []string, size Sizes) ([]*code.Code, error) {
	open := code.Open
	if size.Real {
		open = code.OpenReal
	}
	codes := make([]*code.Code, len(names))
	var file *code.Code // the first file, where it sets the number of levels
	for i, name := range names {
		if !code.IsFile(name) {
			continue
		}
		c, err := open(name, size.Levels)
		if err != nil {
			return nil, err
		}
		if file != nil && c.Levels() != file.Levels() {
			return nil, fmt.Errorf("%s has %d levels, but %s has %d; want as many in all codes", c.Name(), c.Levels(), file.Name(), file.Levels())
		}
		codes[i] = c
		if size.Levels == 0 {
			file = c
		}
	}
	if file != nil {
		size.Levels = file.Levels()
	}
	for i, name := range names {
		if codes[i] == nil {
			c, err := code.New(name, size.Named())
			if err != nil {
				return nil, err
			}
			codes[i] = c
		}
	}
	return codes, nil
}

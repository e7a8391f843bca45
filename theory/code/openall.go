package code

import (
	"cmp"
	"fmt"
)

// Sizes say how many levels the codes of a command have.
type Sizes struct {
	Levels  int // the number that was asked for; 0: none
	Prior   int // the number that the histogram of the prior needs; 0: no histogram
	Default int // the number where nothing else sets it; 0: DefaultLevels

	Circular bool // level 1 follows level L
}

// DefaultLevels is the number of levels of named codes where nothing else says it.
const DefaultLevels = 256

// Named is the number of levels of named codes where no file sets it.
func (z Sizes) Named() int { return cmp.Or(z.Levels, z.Prior, z.Default, DefaultLevels) }

// CheckNames refuses two codes NAME=FILE of one name.
func CheckNames(codes []string) error {
	seen := map[string]string{}
	for _, text := range codes {
		name, file := SplitName(text)
		if name == "" {
			continue
		}
		if other, ok := seen[name]; ok {
			return fmt.Errorf("%s=%s and %s=%s: one name for two codes; want a name for each", name, other, name, file)
		}
		seen[name] = file
	}
	return nil
}

// OpenAll opens NAMEs and FILEs, all of the same number of levels. The number is
// size.Levels; where this is 0, the number of levels of the files; without files, size.Prior;
// where this is 0, size.Default or DefaultLevels. The error names the code that cannot be opened.
func OpenAll(names []string, size Sizes) ([]*Code, error) {
	if err := CheckNames(names); err != nil {
		return nil, err
	}
	codes := make([]*Code, len(names))
	var file *Code // the first file, where it sets the number of levels
	for i, name := range names {
		if !IsFile(name) {
			continue
		}
		c, err := Open(name, size.Levels)
		if err != nil {
			return nil, err
		}
		if file != nil && c.Levels() != file.Levels() {
			return nil, fmt.Errorf("%s has %d levels, but %s has %d; want as many in all codes", c.Name(), c.Levels(),
				file.Name(), file.Levels())
		}
		codes[i] = c
		if size.Levels == 0 {
			file = c
		}
	}
	if file != nil {
		size.Levels = file.Levels()
	}
	var err error
	for i, name := range names {
		if codes[i] == nil {
			if codes[i], err = New(name, size.Named()); err != nil {
				return nil, err
			}
		}
		codes[i] = codes[i].OnCircle(size.Circular)
	}
	return codes, nil
}

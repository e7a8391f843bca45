package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// checkGiven refuses a command line with empty values, with two uses of standard input or output,
// or with a number of workers that makes no sense.
func (env *environment) checkGiven(k *kong.Context) error {
	err := cmp.Or(checkValues(k), env.files.checkStandard())
	if c, ok := k.Selected().Target.Addr().Interface().(interface{ checkWorkers() error }); ok && err == nil {
		err = c.checkWorkers()
	}
	return err
}

// writes reports whether some output file has one of the endings.
func (f outputFlags) writes(endings ...string) bool {
	return slices.ContainsFunc(f.Output, func(path string) bool { return slices.Contains(endings, format(path)) })
}

// textOfFlag reads the text that a flag takes. The next flag is none: --prior -o x.png lacks a file. A
// text that begins like a flag stands behind an equals sign.
func textOfFlag(ctx *kong.DecodeContext, target reflect.Value) error {
	t := ctx.Scan.Pop()
	if t.IsEOL() {
		return errors.New("want a value")
	}
	text := t.String()
	if t.Type == kong.UntypedToken && len(text) > 1 && text[0] == '-' && !strings.ContainsRune(".0123456789",
		rune(text[1])) {
		return fmt.Errorf("want a value, but got %q", text)
	}
	target.SetString(text)
	return nil
}

// checkValues refuses a command line with a value that would be taken for none, such as an empty
// text, a list with one, and zero where it stands for a flag that is not there; and numbers that are
// negative or not finite, which no flag takes.
func checkValues(k *kong.Context) error {
	for _, p := range k.Path {
		var err error
		switch {
		case p.Flag != nil:
			err = checkValue("--"+p.Flag.Name, p.Flag.Value)
		case p.Positional != nil:
			err = checkValue(p.Positional.Name, p.Positional)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkValue(name string, value *kong.Value) error {
	v := value.Target
	switch v.Kind() {
	case reflect.String, reflect.Slice:
		if v.Len() == 0 {
			return fmt.Errorf(`%s "": want a value`, name)
		}
		if list, ok := v.Interface().([]string); ok && slices.Contains(list, "") {
			return fmt.Errorf("%s %q: one of its values is empty", name, strings.Join(list, ","))
		}
		return nil
	}
	return checkNumber(name, v, value.HasDefault)
}

// checkNumber refuses the numbers of checkValues. Zero stands for a flag that is not there, except
// in whole numbers with a default and behind a pointer.
func checkNumber(name string, v reflect.Value, hasDefault bool) error {
	switch v.Kind() {
	case reflect.Uint64:
		if v.IsZero() && !hasDefault {
			return fmt.Errorf("%s 0: want 1 or more", name)
		}
	case reflect.Int:
		least := int64(1)
		if hasDefault {
			least = 0
		}
		if v.Int() < least {
			return fmt.Errorf("%s %d: want %d or more", name, v.Int(), least)
		}
	case reflect.Float64:
		if x := v.Float(); !(x > 0) || math.IsInf(x, 1) {
			return fmt.Errorf("%s %v: want a positive finite number", name, x)
		}
	case reflect.Pointer: // of a number that may be zero
		if x, ok := v.Interface().(*float64); ok && (!(*x >= 0) || math.IsInf(*x, 1)) {
			return fmt.Errorf("%s %v: want a finite number from 0 on", name, *x)
		}
	}
	return nil
}

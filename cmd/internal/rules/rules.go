// Package rules refuses command lines that cannot be meant: with empty values, or with flags that
// contradict each other. It notes flags that had no effect.
package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

// Rule says that flags have no effect, or contradict another one. It holds for those of its flags
// that are on the command line.
type Rule struct {
	Flags  []string // names
	Beside string   // the flag that they contradict; "" for flags without an effect
	Reason string
}

// NoEffect is the rule that flags have no effect. It is nil unless that is so.
func NoEffect(so bool, reason string, flags ...string) []Rule {
	if !so {
		return nil
	}
	return []Rule{{Flags: flags, Reason: reason}}
}

// Contradicts is the rule that a flag and each of others do the same, so that only one of them
// can be meant.
func Contradicts(flag, both string, others ...string) []Rule {
	return []Rule{{Flags: others, Beside: flag, Reason: both}}
}

// Given are the flags on a command line, by name: not --quiet=false.
func Given(k *kong.Context) map[string]bool {
	given := map[string]bool{}
	for _, p := range k.Path {
		if p.Flag != nil {
			v := p.Flag.Target
			given[p.Flag.Name] = v.Kind() != reflect.Bool || v.Bool()
		}
	}
	return given
}

// Contradictions are the errors of flags that were given and contradict each other; nil without.
func Contradictions(given map[string]bool, rules []Rule) error {
	var refused []error
	for _, r := range rules {
		for _, name := range r.Flags {
			if given[name] && given[r.Beside] {
				refused = append(refused, fmt.Errorf("--%s and --%s both %s; want one of them", r.Beside, name, r.Reason))
			}
		}
	}
	return errors.Join(refused...)
}

// Unused are sentences about the flags that were given and had no effect.
func Unused(given map[string]bool, rules []Rule) (notes []string) {
	for _, r := range rules {
		for _, name := range r.Flags {
			if given[name] && r.Beside == "" {
				notes = append(notes, fmt.Sprintf("--%s has no effect: %s", name, r.Reason))
			}
		}
	}
	return notes
}

// CheckValues refuses a command line with a value that would be taken for none: an empty text, a
// list with one, and zero where it stands for a flag that is not there.
func CheckValues(k *kong.Context) error {
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
	case reflect.String:
		if v.Len() == 0 {
			return fmt.Errorf(`%s "": want a value`, name)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return fmt.Errorf(`%s "": want a value`, name)
		}
		if list, ok := v.Interface().([]string); ok && slices.Contains(list, "") {
			return fmt.Errorf("%s %q: one of its values is empty", name, strings.Join(list, ","))
		}
	case reflect.Int, reflect.Uint64:
		if v.IsZero() && !value.HasDefault {
			return fmt.Errorf("%s 0: want 1 or more", name)
		}
	case reflect.Float64, reflect.Int64: // a time.Duration
		if v.IsZero() && !value.HasDefault {
			return fmt.Errorf("%s %v: want more than zero", name, v.Interface())
		}
	}
	return nil
}

// JoinNegative writes "--flag -1" as "--flag=-1", and -1s likewise. A flag's value would be taken
// for a flag otherwise, and refused for that instead of for what it is.
func JoinNegative(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if strings.HasPrefix(a, "--") && !strings.Contains(a, "=") && i+1 < len(args) {
			value, negative := strings.CutPrefix(args[i+1], "-")
			_, err := strconv.ParseFloat(value, 64)
			if negative && (err == nil || strings.IndexFunc(value, unicode.IsDigit) == 0) {
				i++
				a += "=" + args[i]
			}
		}
		out = append(out, a)
	}
	return out
}

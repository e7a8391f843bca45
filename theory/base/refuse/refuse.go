// Package refuse words what is wrong with a value, by the name that files and results have for it.
package refuse

import (
	"fmt"
	"slices"
)

// Value says that a value is refused. Name is the field's name in files and results.
type Value struct {
	Name  string
	Value any
	Want  string
}

// Error implements error.
func (e *Value) Error() string { return fmt.Sprintf("%s is %v: want %s", e.Name, e.Value, e.Want) }

// Twice refuses a name that occurs twice. what says what the names are, such as decoder.
func Twice[S ~string](what string, names []S) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s %s is given twice", what, name)
		}
	}
	return nil
}

package decode

import (
	"math"

	"belsim/theory/base/refuse"
)

// Outputs say what the classifiers give to a decoder.
type Outputs string

// The outputs of the classifiers.
const (
	AutoOutputs Outputs = "auto"   // logits for decoders that need them, bits for the others
	Bits        Outputs = "bits"   // hard decisions
	Logits      Outputs = "logits" // soft decisions
)

// CheckTemperature returns a *refuse.Value unless τ is a positive finite number.
func CheckTemperature(tau float64) error {
	if !(tau > 0) || math.IsInf(tau, 0) {
		return &refuse.Value{Name: "temperature", Value: tau, Want: "a positive finite number"}
	}
	return nil
}

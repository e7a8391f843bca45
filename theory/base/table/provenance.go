package table

// Provenance says how a result was made.
type Provenance struct {
	Command string `json:"command"`
	Version string `json:"version"`
}

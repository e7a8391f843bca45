package plane

// Kind says which two parameters of an error model are the axes of a plane.
type Kind string

// The kinds of planes, by their names in plans and results.
const (
	Mixtures        Kind = ""          // x is r, y is σ
	PerceivedLabels Kind = "perceived" // x is the label noise s, y the misfit η
)

// of is what a plane has of a pair: the first of mixtures, the second of perceived labels.
func of[T any](k Kind, mixtures, perceived T) T {
	if k == PerceivedLabels {
		return perceived
	}
	return mixtures
}

// Axes are the two parameters of a plane, in results: a point, or the values V of each parameter of
// a map or a sweep. The parameters of the other kinds of planes are zero, and missing in files.
type Axes[V any] struct {
	R          V `json:"r,omitzero"`
	Sigma      V `json:"sigma,omitzero"`
	LabelNoise V `json:"label_noise,omitzero"`
	Misfit     V `json:"misfit,omitzero"`
}

// Point holds the parameters of one error model in a plane.
type Point = Axes[float64]

// AxesOf returns the parameters of a kind of plane.
func AxesOf[V any](k Kind, x, y V) Axes[V] {
	return of(k, Axes[V]{R: x, Sigma: y}, Axes[V]{LabelNoise: x, Misfit: y})
}

// Of returns both parameters of a kind of plane.
func (a Axes[V]) Of(k Kind) (x, y V) {
	return of(k, a.R, a.LabelNoise), of(k, a.Sigma, a.Misfit)
}

// Keys returns the names of the two parameters in files.
func (k Kind) Keys() (x, y string) { return of(k, "r", "label_noise"), of(k, "sigma", "misfit") }

// Symbols returns the names of the two parameters for people.
func (k Kind) Symbols() (x, y string) { return of(k, "r", "s"), of(k, "σ", "η") }

// Titles returns the titles of the axes of a figure.
func (k Kind) Titles() (x, y string) {
	return of(k, "r", "label noise s (levels)"), of(k, "σ (levels)", "misfit η (levels)")
}

// Missing lists the columns of CSV that a plane does not have.
func (k Kind) Missing() []string {
	x, y := of(k, PerceivedLabels, Mixtures).Keys()
	return []string{x, y}
}

package scenario

// PlaneKind says which two parameters of an error model are the axes of a plane.
type PlaneKind string

// The kinds of planes, by their names in plans and results.
const (
	Mixtures        PlaneKind = ""          // x is r, y is σ
	PerceivedLabels PlaneKind = "perceived" // x is the label noise s, y the misfit η
)

// Point holds the parameters of an error model in a plane, in results. The parameters of the
// other kinds of planes are zero, and missing in files.
type Point struct {
	R          float64 `json:"r,omitempty" doc:"weight r of the Gaussians; missing in other models"`
	Sigma      float64 `json:"sigma,omitempty" doc:"width σ of the Gaussians, in levels; missing in other models"`
	LabelNoise float64 `json:"label_noise,omitempty" doc:"label noise s, in levels; missing in other models"`
	Misfit     float64 `json:"misfit,omitempty" doc:"misfit η, in levels; missing in other models"`
}

// of is what a plane has of a pair: the first of mixtures, the second of perceived labels.
func of[T any](k PlaneKind, mixtures, perceived T) T {
	if k == PerceivedLabels {
		return perceived
	}
	return mixtures
}

// Point returns the point of a plane.
func (k PlaneKind) Point(x, y float64) Point {
	return of(k, Point{R: x, Sigma: y}, Point{LabelNoise: x, Misfit: y})
}

// Axes are the two parameters of a map or a sweep, with the values V of each, in results. The
// parameters of the other kinds of planes are zero, and missing in files.
type Axes[V any] struct {
	R          V `json:"r,omitzero" doc:"the values of r; missing in other models"`
	Sigma      V `json:"sigma,omitzero" doc:"the values of σ, in levels; missing in other models"`
	LabelNoise V `json:"label_noise,omitzero" doc:"the values of the label noise s, in levels; missing in other models"`
	Misfit     V `json:"misfit,omitzero" doc:"the values of the misfit η, in levels; missing in other models"`
}

// AxesOf returns the axes of a kind of plane.
func AxesOf[V any](k PlaneKind, x, y V) Axes[V] {
	return of(k, Axes[V]{R: x, Sigma: y}, Axes[V]{LabelNoise: x, Misfit: y})
}

// Of returns the values of both parameters of a kind of plane.
func (a Axes[V]) Of(k PlaneKind) (x, y V) {
	return of(k, a.R, a.LabelNoise), of(k, a.Sigma, a.Misfit)
}

// X returns the first parameter of a point.
func (p Point) X() float64 { return p.R + p.LabelNoise } // one of them is zero

// Y returns the second parameter of a point.
func (p Point) Y() float64 { return p.Sigma + p.Misfit }

// Keys returns the names of the two parameters in files.
func (k PlaneKind) Keys() (x, y string) { return of(k, "r", "label_noise"), of(k, "sigma", "misfit") }

// Symbols returns the names of the two parameters for people.
func (k PlaneKind) Symbols() (x, y string) { return of(k, "r", "s"), of(k, "σ", "η") }

// Titles returns the titles of the axes of a figure.
func (k PlaneKind) Titles() (x, y string) {
	return of(k, "r", "label noise s (levels)"), of(k, "σ (levels)", "misfit η (levels)")
}

// Missing lists the columns of CSV that a plane does not have.
func (k PlaneKind) Missing() []string {
	x, y := of(k, PerceivedLabels, Mixtures).Keys()
	return []string{x, y}
}

package plots

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
)

// MapPage is a heatmap with the numbers that its cells come from, for pages that a reader explores
// with the mouse.
type MapPage struct {
	Map          HeatmapData
	A, B         [][]float64 // the errors of both codes, as Map.Z; NaN where there is none
	NameA, NameB string
	Unit         string // of both errors
}

//go:embed mappage.html.tmpl
var mapPage string

// mapPageData is a MapPage as its script reads it. Numbers that are NaN are null.
type mapPageData struct {
	Title    string       `json:"title"`
	X        []float64    `json:"x"`
	Y        []float64    `json:"y"`
	XLog     bool         `json:"xLog"`
	YLog     bool         `json:"yLog"`
	XLabel   string       `json:"xLabel"`
	YLabel   string       `json:"yLabel"`
	ZLabel   string       `json:"zLabel"`
	Positive string       `json:"positive"`
	Negative string       `json:"negative"`
	Blank    string       `json:"blank"`
	Limit    float64      `json:"limit"`
	Z        [][]*float64 `json:"z"`
	A        [][]*float64 `json:"a"`
	B        [][]*float64 `json:"b"`
	NameA    string       `json:"nameA"`
	NameB    string       `json:"nameB"`
	Unit     string       `json:"unit"`
	Reds     [][3]int     `json:"reds"`
	Blues    [][3]int     `json:"blues"`
	Mark     *[2]float64  `json:"mark"`
}

// nullable has nil in the place of NaN.
func nullable(rows [][]float64) [][]*float64 {
	out := make([][]*float64, len(rows))
	for i, row := range rows {
		out[i] = make([]*float64, len(row))
		for j := range row {
			if !math.IsNaN(row[j]) {
				out[i][j] = &row[j]
			}
		}
	}
	return out
}

// check refuses maps that Heatmap refuses, and errors of other shapes.
func (d MapPage) check() error {
	if _, err := Heatmap(d.Map); err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		rows [][]float64
	}{{d.NameA, d.A}, {d.NameB, d.B}} {
		if len(side.rows) != len(d.Map.Y) {
			return fmt.Errorf("page of a map: %d rows of errors of %s for %d y values", len(side.rows), side.name, len(d.Map.Y))
		}
		for i, row := range side.rows {
			if err := checkFinite(fmt.Sprintf("%s, row %d", side.name, i+1), row, len(d.Map.X), true); err != nil {
				return fmt.Errorf("page of a map: %w", err)
			}
		}
	}
	return nil
}

// HTML writes a page that needs no other file: the map, with the numbers of the cell under the mouse
// and the cross-sections through it. The arrow keys move the cell, too.
func (d MapPage) HTML(w io.Writer) error {
	if err := d.check(); err != nil {
		return err
	}
	m := d.Map
	data := mapPageData{
		Title: m.Title, X: m.X, Y: m.Y, XLog: m.XLog, YLog: m.YLog, XLabel: m.XLabel, YLabel: m.YLabel, ZLabel: m.valueLabel(),
		Positive: m.Positive, Negative: m.Negative, Blank: m.Blank, Limit: newColourScale(m.Z, m.Factors).limit,
		Z: nullable(m.Z), A: nullable(d.A), B: nullable(d.B), NameA: d.NameA, NameB: d.NameB, Unit: d.Unit,
	}
	for i := range reds {
		data.Reds = append(data.Reds, [3]int{int(reds[i].R), int(reds[i].G), int(reds[i].B)})
		data.Blues = append(data.Blues, [3]int{int(blues[i].R), int(blues[i].G), int(blues[i].B)})
	}
	if m.Mark != nil {
		data.Mark = &[2]float64{m.Mark.X, m.Mark.Y}
	}
	t, err := template.New("map").Parse(mapPage)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}

// VegaLite writes the map as a specification of Vega-Lite 5, with its data, which Jupyter and other
// viewers draw. Pointing at a cell shows its numbers.
func (d MapPage) VegaLite(w io.Writer) error {
	if err := d.check(); err != nil {
		return err
	}
	m := d.Map
	type cell struct {
		X  float64  `json:"x"`
		Y  float64  `json:"y"`
		X1 float64  `json:"x1"`
		X2 float64  `json:"x2"`
		Y1 float64  `json:"y1"`
		Y2 float64  `json:"y2"`
		Z  *float64 `json:"z"`
		A  *float64 `json:"a"`
		B  *float64 `json:"b"`
	}
	edge := func(a axis, index float64) float64 {
		if v := a.value(index); !a.log {
			return v
		} else {
			return math.Pow(10, v)
		}
	}
	x, y := axis{m.X, m.XLog}, axis{m.Y, m.YLog}
	z, a, b := nullable(m.Z), nullable(d.A), nullable(d.B)
	var cells []cell
	for i := range m.Y {
		for j := range m.X {
			at, up := float64(j), float64(i)
			cells = append(cells, cell{m.X[j], m.Y[i], edge(x, at-0.5), edge(x, at+0.5), edge(y, up-0.5), edge(y, up+0.5), z[i][j], a[i][j], b[i][j]})
		}
	}
	type object = map[string]any
	scaleOf := func(a axis) object {
		kind := "linear"
		if a.log {
			kind = "log"
		}
		return object{"type": kind, "zero": false, "nice": false, "domain": []float64{edge(a, -0.5), edge(a, float64(len(a.at))-0.5)}}
	}
	var colours []string
	for i := len(blues) - 1; i > 0; i-- {
		colours = append(colours, fmt.Sprintf("#%02x%02x%02x", blues[i].R, blues[i].G, blues[i].B))
	}
	for _, c := range reds {
		colours = append(colours, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
	}
	limit := newColourScale(m.Z, m.Factors).limit
	field := func(name, title string) object {
		return object{"field": name, "type": "quantitative", "title": title, "format": ".4g"}
	}
	spec := object{
		"$schema": "https://vega.github.io/schema/vega-lite/v5.json",
		"title":   m.Title, "width": 480, "height": 360,
		"data": object{"values": cells},
		"mark": object{"type": "rect", "invalid": nil},
		"encoding": object{
			"x":  object{"field": "x1", "type": "quantitative", "title": m.XLabel, "scale": scaleOf(x)},
			"x2": object{"field": "x2"},
			"y":  object{"field": "y1", "type": "quantitative", "title": m.YLabel, "scale": scaleOf(y)},
			"y2": object{"field": "y2"},
			"color": object{
				"condition": object{"test": "datum.z === null", "value": "#dddddd"},
				"field":     "z", "type": "quantitative", "title": m.valueLabel(),
				"scale": object{"domain": []float64{-limit, limit}, "range": colours, "interpolate": "rgb", "clamp": true},
			},
			"tooltip": []object{
				field("x", m.XLabel), field("y", m.YLabel), field("a", d.NameA+" ("+d.Unit+")"), field("b", d.NameB+" ("+d.Unit+")"), field("z", m.valueLabel()),
			},
		},
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(spec)
}

package anylaw

import (
	"math"
	"slices"
)

// program minimizes cost·x over lo ≤ x ≤ hi and rows a·x ≥ b, which are asked for when x violates
// them, by the dual simplex method: x begins at the cheaper ends, and each step makes one violated
// row or bound hold. The dictionary has each basic variable as value + Σ entries·(the nonbasic
// ones' moves).
type program struct {
	n int
}

func newProgram(n int) *program { return &program{n} }

// dictionary is the state of a program. Variables below n are x, and n+i is a·x − b of row i.
type dictionary struct {
	n        int
	lo, hi   []float64
	rows     [][]float64 // a
	b        []float64
	nonbasic []int     // variable of each column
	at       []float64 // its value
	price    []float64 // its reduced cost
	basic    []int
	value    []float64
	entries  [][]float64
	column   []int // of x_k; −1 − its basic row
}

func (d *dictionary) limits(v int) (lo, hi float64) {
	if v < d.n {
		return d.lo[v], d.hi[v]
	}
	return 0, math.Inf(1)
}

// solve returns a lower bound of the cost, and x; nil where no x satisfies the rows, and the bound
// is +Inf. used are the rows that bind. A step that cannot be trusted ends it with the bound so
// far, which holds.
func (p *program) solve(cost, lo, hi []float64, first []int, rowOf func(j int, row []float64) float64,
	violated func(x []float64) int) (bound float64, x []float64, used []int) {
	d := &dictionary{n: p.n, lo: lo, hi: hi, price: slices.Clone(cost), at: make([]float64, p.n),
		nonbasic: make([]int, p.n), column: make([]int, p.n)}
	for k, c := range cost {
		d.nonbasic[k], d.column[k], d.at[k] = k, k, lo[k]
		if c < 0 {
			d.at[k] = hi[k]
		}
	}
	var names []int
	add := func(j int) {
		row := make([]float64, p.n)
		b := rowOf(j, row)
		names = append(names, j)
		d.add(row, b)
	}
	for _, j := range first {
		add(j)
	}
	x = make([]float64, p.n)
	for {
		if !d.steps() {
			return math.Inf(1), nil, names
		}
		for k, c := range d.column {
			if c >= 0 {
				x[k] = d.at[c]
			} else {
				x[k] = d.value[-1-c]
			}
		}
		j := violated(x)
		if j < 0 || slices.Contains(names, j) {
			break
		}
		add(j)
	}
	// The bound of the rows' multipliers: Σ y·b, and the cheaper end of each x.
	left := slices.Clone(cost)
	for c, v := range d.nonbasic {
		if y := d.price[c]; v >= p.n && y > 0 {
			used = append(used, names[v-p.n])
			bound += y * d.b[v-p.n]
			for k, a := range d.rows[v-p.n] {
				left[k] -= y * a
			}
		}
	}
	for k, c := range left {
		bound += min(c*lo[k], c*hi[k])
	}
	return bound, x, used
}

// add makes a row basic.
func (d *dictionary) add(row []float64, b float64) {
	entries, value := make([]float64, d.n), -b
	for k, a := range row {
		if a == 0 {
			continue
		}
		if c := d.column[k]; c >= 0 {
			entries[c] += a
			value += a * d.at[c]
		} else {
			value += a * d.value[-1-c]
			for j, t := range d.entries[-1-c] {
				entries[j] += a * t
			}
		}
	}
	d.rows, d.b = append(d.rows, row), append(d.b, b)
	d.basic, d.value, d.entries = append(d.basic, d.n+len(d.b)-1), append(d.value, value), append(d.entries, entries)
}

// steps takes the dual simplex method's steps. It is false where no x is feasible.
func (d *dictionary) steps() bool {
	const small = 1e-9
	for step := 0; step < 40*(d.n+len(d.b)); step++ {
		leave, most, up := -1, 1e-8, false
		for r, v := range d.basic {
			lo, hi := d.limits(v)
			if lo-d.value[r] > most {
				leave, most, up = r, lo-d.value[r], true
			}
			if d.value[r]-hi > most {
				leave, most, up = r, d.value[r]-hi, false
			}
		}
		if leave < 0 {
			return true
		}
		row := d.entries[leave]
		enter, least, reach := -1, math.Inf(1), 0.0
		for c, t := range row {
			lo, hi := d.limits(d.nonbasic[c])
			if lo == hi || t == 0 {
				continue
			}
			if rise := t > 0 == up; rise && d.at[c] >= hi || !rise && d.at[c] > hi || !rise && d.at[c] <= lo {
				continue
			}
			if math.Abs(t) < small {
				reach += math.Abs(t) * min(hi-lo, float64(2*d.n))
				continue
			}
			if ratio := math.Abs(d.price[c] / t); ratio < least || ratio == least &&
				math.Abs(t) > math.Abs(row[enter]) {
				enter, least = c, ratio
			}
		}
		if enter < 0 {
			return reach+1e-7 > most // else what is missing cannot be made up
		}
		d.pivot(leave, enter, up)
	}
	return true
}

// pivot makes the basic variable of a row nonbasic, at the bound that it violates, and that of a
// column basic.
func (d *dictionary) pivot(r, c int, up bool) {
	out, in := d.basic[r], d.nonbasic[c]
	lo, hi := d.limits(out)
	to := hi
	if up {
		to = lo
	}
	row := d.entries[r]
	t := row[c]
	move := (to - d.value[r]) / t
	for i, e := range d.entries {
		if i != r {
			d.value[i] += e[c] * move
		}
	}
	value := d.at[c] + move
	// in = (out − Σ others)/t
	for j := range row {
		row[j] /= -t
	}
	row[c] = 1 / t
	for i, e := range d.entries {
		if f := e[c]; i != r && f != 0 {
			e[c] = 0
			for j, v := range row {
				e[j] += f * v
			}
		}
	}
	f := d.price[c]
	d.price[c] = 0
	for j, v := range row {
		d.price[j] += f * v
	}
	d.basic[r], d.value[r] = in, value
	d.nonbasic[c], d.at[c] = out, to
	if out < d.n {
		d.column[out] = c
	}
	if in < d.n {
		d.column[in] = -1 - r
	}
}

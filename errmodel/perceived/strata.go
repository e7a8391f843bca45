package perceived

// strata is the number of parts of equal probability into which the noise of the perceived label
// is divided, for tables of error probabilities.
const strata = 64

// upperStrata are the means of a standard normal number over the upper half of as many equally
// probable parts of its law: strata·(φ(a_j) − φ(a_{j+1})), a_j = Φ⁻¹(j/strata). They are written
// out because they are the same on every machine.
var upperStrata = [strata / 2]float64{
	0.019585537625098494, 0.05878670674568343, 0.09807848230109702, 0.13752236046410712,
	0.17718150770353375, 0.21712149565715205, 0.25741110714885346, 0.29812324039204907,
	0.33933594429944897, 0.38113362608216994, 0.423608483848285, 0.4668622330160716,
	0.5110082180191644, 0.5561740330210382, 0.6025048218671826, 0.6501674957179125,
	0.6993562087634437, 0.7502995881259851, 0.8032704576728159, 0.8585991872641723,
	0.9166924491055165, 0.9780602811727929, 1.0433563630369456, 1.1134401856559815,
	1.189477334547667, 1.2731102574707955, 1.3667696944626264, 1.4742961245381756,
	1.6023441310197328, 1.764206549939615, 1.994236849828108, 2.51018498917847,
}

// stratum returns the mean of a standard normal number over part j of its law, from 0, ascending.
func stratum(j int) float64 {
	if j < strata/2 {
		return -upperStrata[strata/2-1-j]
	}
	return upperStrata[j-strata/2]
}

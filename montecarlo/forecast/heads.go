package forecast

// The names of heads whose outputs are no bits of a code. They tell as much of a label as bits of unary do.
const (
	// Direct is direct regression: a network without a code, whose output is the label. Its loss is the mean |error|.
	Direct = "direct"
	// CORN is a network whose outputs are of the conditions y > k where y > k−1.
	CORN = "corn"
)

package limit

import "context"

func bySequences(ctx context.Context, p Problem) (float64, error) { return 0, nil }

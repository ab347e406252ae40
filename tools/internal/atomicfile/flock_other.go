//go:build !unix

package atomicfile

import "context"

// flock does nothing: folders cannot be locked here, so two servers on one project are not kept apart; calls of one
// process are.
func flock(context.Context, int) error { return nil }

//go:build nopdf

package pdf

import "context"

func startEngine(context.Context, Options, func(string)) (engine, error) { return findPoppler() }

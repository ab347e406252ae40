//go:build !linux || portable

package sandbox

func thisSystem() system {
	return system{why: "this system has none"}
}

// Apply limits this process to the policy. Here nothing can be limited, and it is an error unless [Auto] or [Off].
func (p Policy) Apply() (Layers, error) { return p.Check() }

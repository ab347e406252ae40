package sandbox

func mayChange(string) bool { return false }

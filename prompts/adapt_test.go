package prompts

import "testing"

func TestAdapt(t *testing.T) {
	text := "# A <!-- needs X -->\n\nx <!-- needs X Y -->\n<!-- shown by a test -->\nboth <!-- why --> sides\n\n\n\n- z <!-- needs Z -->\n\nend\n"
	for _, c := range []struct {
		tools []string
		want  string
	}{
		{nil, "both sides\n\nend"},
		{[]string{"X"}, "# A\n\nboth sides\n\nend"},
		{[]string{"Z", "Y", "X"}, "# A\n\nx\nboth sides\n\n- z\n\nend"},
	} {
		if got := Adapt(text, c.tools); got != c.want {
			t.Errorf("%v: got %q, want %q", c.tools, got, c.want)
		}
	}
}

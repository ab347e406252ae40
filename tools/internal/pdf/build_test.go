package pdf

import (
	"fmt"
	"strings"
)

// build writes a PDF with a line of Helvetica on each page. A line "box:…" is
// a page with that MediaBox and a black square instead, "blank:" one with
// nothing, "cjk:…" one line in a Japanese font that is not embedded.
func build(lines ...string) []byte {
	var kids strings.Builder
	for i := range lines {
		fmt.Fprintf(&kids, "%d 0 R ", 7+2*i)
	}
	objs := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(lines), kids.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UCS2-H/DescendantFonts[5 0 R]>>",
		"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor 6 0 R>>",
		"<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 4/ItalicAngle 0/Ascent 800/Descent -200/StemV 80/FontBBox[0 -200 1000 800]>>",
	}
	for i, line := range lines {
		box, content := "0 0 612 792", fmt.Sprintf("BT /F1 12 Tf 72 700 Td (%s) Tj ET", line)
		if b, ok := strings.CutPrefix(line, "box:"); ok {
			box, content = b, "0 0 100 100 re f"
		} else if line == "blank:" {
			content = ""
		} else if s, ok := strings.CutPrefix(line, "cjk:"); ok {
			content = "BT /F2 12 Tf 72 700 Td <"
			for _, r := range s {
				content += fmt.Sprintf("%04X", r)
			}
			content += "> Tj ET"
		}
		objs = append(objs,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[%s]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>/Contents %d 0 R>>", box, 8+2*i),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
	}
	return assemble(objs)
}

// assemble writes objects, numbered from 1, as a file.
func assemble(objs []string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objs {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objs)+1)
	for _, a := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", a)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objs)+1, start)
	return []byte(b.String())
}

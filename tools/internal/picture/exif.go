package picture

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// orientation returns the EXIF orientation (tag 0x0112) of a file, 1 to 8. It
// is 1, upright, where the file states none that makes sense.
func orientation(f Format, data []byte) int {
	switch f {
	case TIFF:
		return tiffOrientation(data)
	case JPEG:
		for marker, seg := range jpegSegments(data) {
			if exif, ok := bytes.CutPrefix(seg, []byte("Exif\x00\x00")); ok && marker == 0xe1 {
				return tiffOrientation(exif)
			}
		}
	case PNG:
		for name, chunk := range pngChunks(data) {
			if name == "eXIf" {
				return tiffOrientation(chunk)
			}
		}
	case WebP:
		for name, chunk := range riffChunks(data) {
			if name == "EXIF" {
				exif, _ := bytes.CutPrefix(chunk, []byte("Exif\x00\x00"))
				return tiffOrientation(exif)
			}
		}
	}
	return 1
}

// tiffOrientation reads the first directory of a TIFF, which EXIF is.
func tiffOrientation(t []byte) int {
	order, ifd := tiffStart(t)
	if order == nil {
		return 1
	}
	for i := range int(order.Uint16(t[ifd:])) {
		at := ifd + 2 + 12*i
		if at+12 > len(t) {
			break
		}
		if order.Uint16(t[at:]) == 0x0112 {
			if v := int(order.Uint16(t[at+8:])); v >= 1 && v <= 8 {
				return v
			}
			break
		}
	}
	return 1
}

// tiffStart returns the byte order of a TIFF and the offset of its first
// directory, or nil if there is none.
func tiffStart(t []byte) (binary.ByteOrder, int) {
	if len(t) < 8 {
		return nil, 0
	}
	var order binary.ByteOrder
	switch string(t[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, 0
	}
	ifd := order.Uint32(t[4:])
	if ifd < 8 || int64(ifd)+2 > int64(len(t)) {
		return nil, 0
	}
	return order, int(ifd)
}

// jpegSegments yields the marker and content of each segment before the
// picture data.
func jpegSegments(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for p := 2; p+4 <= len(data) && data[p] == 0xff; {
			marker := data[p+1]
			if marker == 0xff { // a fill byte
				p++
				continue
			}
			n := int(binary.BigEndian.Uint16(data[p+2:]))
			if marker == 0xda || n < 2 || p+2+n > len(data) || !yield(marker, data[p+4:p+2+n]) {
				return
			}
			p += 2 + n
		}
	}
}

// pngChunks yields the name and content of each whole chunk.
func pngChunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for p := 8; p+12 <= len(data); {
			n := int64(binary.BigEndian.Uint32(data[p:]))
			if int64(p)+12+n > int64(len(data)) || !yield(string(data[p+4:p+8]), data[p+8:p+8+int(n)]) {
				return
			}
			p += 12 + int(n)
		}
	}
}

// riffChunks yields the name and content of each whole chunk of a WebP.
func riffChunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for p := 12; p+8 <= len(data); {
			n := int64(binary.LittleEndian.Uint32(data[p+4:]))
			if int64(p)+8+n > int64(len(data)) || !yield(string(data[p:p+4]), data[p+8:p+8+int(n)]) {
				return
			}
			p += 8 + int(n+n&1)
		}
	}
}

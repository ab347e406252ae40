package picture

import "encoding/binary"

// frames counts the frames or pages of a file from its structure, without
// decoding any. It is at least 1.
func frames(f Format, data []byte) int {
	n := 1
	switch f {
	case GIF:
		n, _ = gifBlocks(data)
	case PNG:
		for name, chunk := range pngChunks(data) {
			if name == "IDAT" {
				break
			}
			if name == "acTL" && len(chunk) >= 4 {
				n = int(min(binary.BigEndian.Uint32(chunk), 1<<20))
			}
		}
	case TIFF:
		n = tiffPages(data)
	}
	return max(n, 1)
}

// gifBlocks walks the blocks of a GIF. It returns the number of frames and
// whether the file ends inside a block.
func gifBlocks(b []byte) (frames int, cut bool) {
	if len(b) < 13 {
		return 0, true
	}
	p := 13
	if b[10]&0x80 != 0 {
		p += 3 << (b[10]&7 + 1)
	}
	for p < len(b) {
		switch b[p] {
		case 0x21: // extension
			p += 2
		case 0x2c: // frame
			if p+10 > len(b) {
				return frames, true
			}
			frames++
			flags := b[p+9]
			p += 10
			if flags&0x80 != 0 {
				p += 3 << (flags&7 + 1)
			}
			p++ // size of the codes
		default: // the trailer, or garbage, where decoders stop too
			return frames, false
		}
		for p < len(b) && b[p] != 0 {
			p += int(b[p]) + 1
		}
		p++
	}
	return frames, p > len(b)
}

// cutOff reports whether a GIF ends inside a block; the decoder reads only the
// first frame and does not see it.
func cutOff(data []byte) bool {
	_, cut := gifBlocks(data)
	return cut
}

// webpFrames returns the number of frames of an animated WebP, 0 for others.
func webpFrames(data []byte) (n int) {
	animated := false
	for name, chunk := range riffChunks(data) {
		switch name {
		case "VP8X":
			animated = len(chunk) > 0 && chunk[0]&2 != 0
		case "ANMF":
			n++
		}
	}
	if !animated {
		return 0
	}
	return max(n, 1)
}

// maxPages is where counting the pages of a TIFF ends: its list may be a ring.
const maxPages = 10_000

// tiffPages counts the directories of a TIFF.
func tiffPages(t []byte) (n int) {
	order, ifd := tiffStart(t)
	for order != nil && n < maxPages {
		n++
		next := ifd + 2 + 12*int(order.Uint16(t[ifd:]))
		if next+4 > len(t) {
			break
		}
		at := order.Uint32(t[next:])
		if at < 8 || int64(at)+2 > int64(len(t)) || int(at) <= ifd {
			break
		}
		ifd = int(at)
	}
	return n
}

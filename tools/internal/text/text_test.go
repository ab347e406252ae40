package text

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// allCodecs are the encodings that can be detected.
var allCodecs = []*codec{utf8Codec, utf16LE, utf16BE, utf32LE, utf32BE, gb18030, big5, shiftJIS, eucJP, eucKR, latin1, cp1252, cp1251, koi8r}

func encoded(t testing.TB, c *codec, s string) []byte {
	t.Helper()
	b, lost := c.encode(s)
	if lost != nil {
		t.Fatal(lost.in(s, 0))
	}
	return []byte(b)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, hex, encoding, view string
		bom, binary               bool
		lf, crlf                  int
	}{
		{"empty", "", "UTF-8", "", false, false, 0, 0},
		{"H001 crlf", "6f6e650d0a74776f0d0a", "UTF-8", "one\ntwo\n", false, false, 0, 2},
		{"mixed", "610a620d0a630d64", "UTF-8", "a\nb\nc\rd", false, false, 1, 1},
		{"cr before crlf", "610d0d0a", "UTF-8", "a\r\n", false, false, 0, 1},
		{"H007 latin-1", "636166e90a6b6565700a783d310a", "ISO-8859-1", "café\nkeep\nx=1\n", false, false, 3, 0},
		{"H008 bom", "efbbbf68656c6c6f0a", "UTF-8", "hello\n", true, false, 1, 0},
		{"bom only", "efbbbf", "UTF-8", "", true, false, 0, 0},
		{"H009 two characters are not sure", "c4e3bac30a413d310a", "", "\uFFFD\uFFFD\uFFFD\uFFFD\nA=1\n", false, false, 2, 0},
		{"H010 utf-16le", "fffe680065006c006c006f000a0077006f0072006c0064000a00", "UTF-16LE", "hello\nworld\n", true, false, 2, 0},
		{"utf-16 crlf", "feff0061000d000a", "UTF-16BE", "a\n", true, false, 0, 1},
		{"utf-16 lone surrogate and odd end", "fffe6100 00d8 6200 0a00 63", "UTF-16LE", "a\uFFFDb\n\uFFFD", true, false, 1, 0},
		{"utf-16 pair", "fffe3dd842de", "UTF-16LE", "🙂", true, false, 0, 0},
		{"utf-32le", "fffe0000 61000000 42f60100", "UTF-32LE", "a🙂", true, false, 0, 0},
		{"utf-32be", "0000feff 00000061 0000000a", "UTF-32BE", "a\n", true, false, 1, 0},
		{"mark of utf-16 before binary", "fffe010000000200", "", "", false, true, 0, 0},
		{"DOC48 gbk", "2f2f20b6c1c8a1c5e4d6c3cec4bcfe0a", "GB18030", "// 读取配置文件\n", false, false, 1, 0},
		{"DOC48 big5", "c2f8b4eaaaeda8cfa5cec2f8b4eaa8e7bcc60a", "Big5", "雜湊表使用雜湊函數\n", false, false, 1, 0},
		{"DOC48 sjis", "90dd92e8837483408343838b82f093c782dd8d9e82de0a", "Shift_JIS", "設定ファイルを読み込む\n", false, false, 1, 0},
		{"DOC48 euckr", "bcb3c1a420c6c4c0cfc0bb20c0d0b4c2b4d90a", "EUC-KR", "설정 파일을 읽는다\n", false, false, 1, 0},
		{"DOC48 latin-1", "4772f6df6520756e64204ce46e676520e46e6465726e0a", "ISO-8859-1", "Größe und Länge ändern\n", false, false, 1, 0},
		{"DOC48 le", "fffe226f575b200061000a00", "UTF-16LE", "漢字 a\n", true, false, 1, 0},
		{"DOC48 be", "feff6f225b5700200061000a", "UTF-16BE", "漢字 a\n", true, false, 1, 0},
		{"DOC48 le without mark", "6d006f00730074006c007900200070006c00610069006e00200077006f007200640073000a00", "UTF-16LE", "mostly plain words\n", false, false, 1, 0},
		{"DOC48 be without mark", "006d006f00730074006c007900200070006c00610069006e00200077006f007200640073000a", "UTF-16BE", "mostly plain words\n", false, false, 1, 0},
		{"windows-1252", "9371756f746594206e61ef7665", "windows-1252", "“quote” naïve", false, false, 0, 0},
		{"DOC50 not strict", "7820955c207920ffff0a", "", "x \uFFFD\\ y \uFFFD\uFFFD\n", false, false, 1, 0},
		{"nul", "61006263", "", "", false, true, 0, 0},
		{"numbers are not utf-16", "01000200030004000500060007000800", "", "", false, true, 0, 0},
	} {
		data := unhex(t, c.hex)
		f := Decode(data, "")
		lf, crlf := f.Endings()
		if f.Encoding() != c.encoding || f.View() != c.view || f.BOM() != c.bom || f.Binary() != c.binary || lf != c.lf || crlf != c.crlf {
			t.Errorf("%s: got %q %q bom=%v binary=%v lf=%d crlf=%d, want %q %q %v %v %d %d", c.name,
				f.Encoding(), f.View(), f.BOM(), f.Binary(), lf, crlf, c.encoding, c.view, c.bom, c.binary, c.lf, c.crlf)
		}
		if got := IsBinary(data); got != c.binary {
			t.Errorf("%s: IsBinary = %v", c.name, got)
		}
	}
}

// Texts are the kind of thing that stands in files; each must be told from its bytes alone.
var texts = []struct {
	codec *codec
	text  string
}{
	{gb18030, "二叉查找树的平均查找时间为对数级别。在最坏情况下，树会退化为链表，此时查找需要线性时间。\n"},
	{gb18030, "#include <stdio.h>\nint main(void) {\n\t// 打开失败时返回错误\n\treturn 0;\n}\n"},
	{gb18030, "[数据库]\n用户名 = root\n密码 = 123456\n"},
	{gb18030, "今天天气很好，我们一起去公园散步吧。\n"},
	{gb18030, "姓名,年龄,地址\n张三,30,北京市海淀区\n李四,25,上海市\n"},
	{big5, "雜湊表使用雜湊函數把鍵映射到桶，衝突可以用鏈結法或開放定址法解決。\n"},
	{big5, "// 開啟檔案失敗時傳回錯誤\nint open_file(void);\n"},
	{big5, "今天的會議改到下午三點，請大家準時參加。\n"},
	{shiftJIS, "形態素解析は自然言語処理の基礎である。漢字とかなが混在するため、単語の境界を決めることが難しい。\n"},
	{shiftJIS, "int main(void) {\n  return 0; /* 正常終了 */\n}\n// 設定ファイルを読み込む\n"},
	{shiftJIS, "すみません、ちょっと待ってください。\n"},
	{eucJP, "形態素解析は自然言語処理の基礎である。設定ファイルを読み込む。\n"},
	{eucJP, "エラーが発生しました。もう一度お試しください。\n"},
	{eucKR, "해시 테이블은 해시 함수를 사용하여 키를 버킷에 매핑한다.\n"},
	{eucKR, "// 파일을 열 수 없습니다\nreturn -1;\n"},
	{latin1, "Le fichier de configuration est chargé au démarrage. À défaut, où êtes-vous? Ça dépend.\n"},
	{latin1, "Größe und Länge müssen übereinstimmen. Ändern Sie die Einträge für Öffnungszeiten.\n"},
	{latin1, "El archivo de configuración no se encontró en el año pasado. ¿Quién lo borró?\n"},
	{latin1, "A função não está disponível; as opções são três.\n"},
	{latin1, "Il file non è più disponibile, perché è stato già cancellato.\n"},
	{latin1, "Tiedostoa ei löydy, tämä pää on väärä.\n"},
	{latin1, "Filen blev ikke læst på grund af en fejl i størrelsen.\n"},
	{cp1252, "Il a dit “c’est terminé” à l’été.\n"},
	{cp1251, "Хеш-таблица использует хеш-функцию для отображения ключа в корзину.\n"},
	{koi8r, "Хеш-таблица использует хеш-функцию для отображения ключа в корзину.\n"},
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for i, c := range texts {
		all := []string{c.text, strings.ReplaceAll(c.text, "\n", "\r\n")}
		if i == 0 || texts[i-1].codec != c.codec { // the first high byte far away, and more text than is looked at
			all = append(all, strings.Repeat("plain ASCII line\n", 5000)+c.text, strings.Repeat(c.text, 1500), strings.Repeat(strings.TrimSuffix(c.text, "\n"), 1500))
		}
		for _, s := range all {
			f := Decode(encoded(t, c.codec, s), "")
			if f.Encoding() != c.codec.name || f.View() != fold(s) {
				t.Errorf("%s %.40q (%d bytes): got %q", c.codec.name, c.text, len(s), f.Encoding())
			}
		}
	}
}

// A file that is not text in an encoding that can be detected must not be taken for one.
func TestDetectNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		charset string
		text    string
	}{
		{"iso-8859-7", "Το αρχείο δεν βρέθηκε στον κατάλογο. Παρακαλώ δοκιμάστε ξανά."},
		{"windows-1253", "Η ρύθμιση δεν είναι έγκυρη για αυτό το πρόγραμμα."},
		{"windows-1256", "لم يتم العثور على الملف في المجلد المحدد"},
		{"windows-874", "ไม่พบแฟ้มในโฟลเดอร์ที่ระบุ กรุณาลองใหม่อีกครั้ง"},
		{"windows-1250", "Soubor nebyl nalezen. Zkontrolujte prosím nastavení a zkuste to znovu, příště bude líp."},
		{"iso-8859-2", "Nie można znaleźć pliku, ponieważ ścieżka jest błędna. Proszę sprawdzić jeszcze raz."},
		{"windows-1254", "Dosya bulunamadı. Lütfen ayarları kontrol edip yeniden deneyin, değişiklikler kaydedilmedi."},
		{"cp437", "┌──────┐\n│ menu │\n└──────┘\n"},
		{"cp866", "Файл не найден. Проверьте параметры и повторите попытку."},
		{"macintosh", "Größe und Länge müssen übereinstimmen."},
	} {
		codecs := named(c.charset, nil)
		if len(codecs) != 1 {
			t.Fatalf("%s is not known", c.charset)
		}
		data := encoded(t, codecs[0], c.text)
		if f := Decode(data, ""); f.Encoding() != "" || f.Binary() {
			t.Errorf("%s was taken for %s: %q", c.charset, f.Encoding(), f.View())
		}
		if f := Decode(data, c.charset); f.View() != c.text {
			t.Errorf("%s declared: got %s %q", c.charset, f.Encoding(), f.View())
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		data := make([]byte, 16+random.IntN(200))
		for i := range data {
			data[i] = byte(1 + random.IntN(255))
		}
		if f := Decode(data, ""); f.Encoding() != "" {
			t.Errorf("random bytes were taken for %s: %x", f.Encoding(), data)
		}
		for i := range data { // as double-byte text has it
			data[i] = 0xA1 + byte(random.Uint32N(94))
		}
		if f := Decode(data, ""); f.Encoding() != "" {
			t.Errorf("random high bytes were taken for %s: %x", f.Encoding(), data)
		}
	}
}

// A guess is not believed if encoding the text again would give other bytes, as with NEC's duplicate of ≒.
func TestDetectExact(t *testing.T) {
	t.Parallel()
	data := append(encoded(t, shiftJIS, "設定ファイルを読み込む\n"), 0x87, 0x90)
	if f := Decode(data, ""); f.Encoding() != "" {
		t.Errorf("taken for %s", f.Encoding())
	}
	got, err := Decode(data, "sjis").Apply([]Edit{{Old: "設定", New: "終了"}})
	if want := append(encoded(t, shiftJIS, "終了ファイルを読み込む\n"), 0x87, 0x90); err != nil || string(got.Data) != string(want) {
		t.Errorf("declared: %v, got %x, want %x", err, got.Data, want)
	}
}

// Bytes that are common characters in two encodings are not sure to be either.
func TestGuessAmbiguous(t *testing.T) {
	t.Parallel()
	var both string
	for _, r := range simplifiedFirst + simplifiedNext {
		b := encoded(t, gb18030, string(r))
		if text, ok, exact := eucKR.strict(b); ok && exact && strings.Contains(hangulFirst+hangulNext, text) {
			both += string(r)
		}
	}
	if len(both) < 12 {
		t.Fatalf("only %q are common in both", both)
	}
	sample := encoded(t, gb18030, both)
	for _, c := range []*codec{gb18030, eucKR} {
		text, _, _ := c.strict(sample)
		if p, n := scripts()[c].points(text); p < surePoints || p < surePer*float32(n) {
			t.Errorf("%s: %q has only %v points", c.name, text, p)
		}
	}
	if c := guess(sample); c != nil {
		t.Errorf("%x was taken for %s", sample, c.name)
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ declared, hex, encoding, view string }{
		{"gbk", "c4e3bac30a", "GB18030", "你好\n"},
		{"GB2312", "c4e3bac30a", "GB18030", "你好\n"},
		{"Shift-JIS", "955c", "Shift_JIS", "表"},
		{"cp932", "8790", "Shift_JIS", "≒"}, // encodes back to other bytes
		{"latin1", "e9", "ISO-8859-1", "é"},
		{"latin1", "9ce9", "windows-1252", "œé"},
		{"utf-16le", "61000a00", "UTF-16LE", "a\n"},
		{"utf-16le-bom", "61000a00", "UTF-16LE", "a\n"},
		{"utf-16", "0061006200630064", "UTF-16BE", "abcd"},
		{"windows-1250", "e8", "windows-1250", "č"},
		{"cp1250", "e8", "windows-1250", "č"},
		{"latin2", "e8", "ISO-8859-2", "č"},
		{"gbk", "e4bda0", "UTF-8", "你"},                       // valid UTF-8 beats the declaration
		{"gbk", "ff41", "", "\uFFFDA"},                        // not strict
		{"big5", "8862", "", "\uFFFDb"},                       // one code, two characters
		{"latin1", "00ff01", "", ""},                          // binary
		{"no-such-charset", "c4e3", "", "\uFFFD\uFFFD"},       // not known
		{"utf-8", "c4e3bac3", "", "\uFFFD\uFFFD\uFFFD\uFFFD"}, // not strict either
	} {
		f := Decode(unhex(t, c.hex), c.declared)
		if f.Encoding() != c.encoding || f.View() != c.view {
			t.Errorf("%s as %s: got %q %q, want %q %q", c.hex, c.declared, f.Encoding(), f.View(), c.encoding, c.view)
		}
	}
}

func TestStray(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("你好世界\n", 10)
	for _, c := range []struct {
		data        string
		encoding    string
		count, line int
	}{
		{good, "UTF-8", 0, 0},
		{good + "x\xffy\n", "UTF-8", 1, 11},
		{good + "\uFFFD\n\xff\n", "UTF-8", 1, 12},
		{"你\n\xff\xfe\n", "", 2, 2},
		{strings.Repeat("你", 19) + "\xff", "", 1, 1},
		{strings.Repeat("你", 20) + "\xff", "UTF-8", 1, 1},
		{"\xff\xfea\x00\n\x00\x00\xd8b\x00", "UTF-16LE", 1, 2},
	} {
		f := Decode([]byte(c.data), "")
		if n, line := f.Stray(); f.Encoding() != c.encoding || n != c.count || line != c.line {
			t.Errorf("%q: got %q, %d stray, line %d, want %q, %d, %d", c.data, f.Encoding(), n, line, c.encoding, c.count, c.line)
		}
	}
}

// The width of a character must be what the decoder takes, or view and bytes lose step.
func TestWidths(t *testing.T) {
	t.Parallel()
	for _, c := range allCodecs {
		if c.table == nil {
			continue
		}
		n := 0
		for r := rune(0xA0); r < 0x22000; r += 7 {
			s, lost := c.encode(string(r) + "A")
			if lost != nil || r >= 0xD800 && r < 0xE000 || r == utf8.RuneError {
				continue
			}
			n++
			b := []byte(s)
			if w := c.width(b); w != len(b)-1 {
				t.Errorf("%s: width of %U in %x is %d", c.name, r, b, w)
			}
			if text, ok, exact := c.strict(b); !ok || !exact || text != string(r)+"A" {
				t.Errorf("%s: %U does not decode strictly from %x", c.name, r, b)
			}
		}
		if n < 8 {
			t.Errorf("%s has only %d characters", c.name, n)
		}
	}
	for a := 0x80; a < 256; a++ {
		for b := range 256 {
			data := []byte{byte(a), byte(b), 'x', 'y'}
			for _, c := range []*codec{gb18030, big5, shiftJIS, eucJP, eucKR} {
				text, ok, _ := c.strict(data)
				if !ok {
					continue
				}
				at := 0
				for range text {
					at += c.width(data[at:])
				}
				if at != len(data) {
					t.Errorf("%s: %x is %q, but the widths end at %d", c.name, data, text, at)
				}
			}
		}
	}
}

func TestIsBinaryHead(t *testing.T) {
	t.Parallel()
	for _, order := range []*codec{utf16LE, utf16BE} {
		data := encoded(t, order, strings.Repeat("a line of text with 🙂\n", 100))
		for n := 16; n < 200; n++ {
			if IsBinary(data[:n]) {
				t.Fatalf("%s cut at %d is binary", order.name, n)
			}
		}
	}
	if !IsBinary([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00")) || IsBinary([]byte("text\n")) || IsBinary(nil) {
		t.Error("wrong for ELF, text or nothing")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for view, want := range map[string]int{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\n\n": 2, "a\nb": 2, "a\rb\n": 1} {
		if got := Lines(view); got != want {
			t.Errorf("%q: got %d, want %d", view, got, want)
		}
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "\xff", "a\xffb\xfe", "\xe4\xbd", "ok\xe4\xbdz", "\xed\xa0\x80", "\xf4\x90\x80\x80"} {
		want, bad := "", 0
		for i, r := range s { // ranging yields one U+FFFD for each bad byte
			if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
				bad++
			}
			want += string(r)
		}
		if got, n := repair([]byte(s)); got != want || n != bad {
			t.Errorf("%q: got %q %d, want %q %d", s, got, n, want, bad)
		}
	}
}

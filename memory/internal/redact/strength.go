package redact

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ferrule/memory/internal/terms"
)

// What follows tells a secret from what stands in the same place in documents
// and code: names, placeholders, lengths, types and expressions. What a
// password may be and what a token may be differ: a passphrase of words is a
// secret, but the name of a secret is not.

// classes counts the characters of a value.
type classes struct{ lower, upper, digit, symbol int }

func classify(v string) (c classes) {
	for _, r := range v {
		switch {
		case 'a' <= r && r <= 'z':
			c.lower++
		case 'A' <= r && r <= 'Z':
			c.upper++
		case '0' <= r && r <= '9':
			c.digit++
		default:
			c.symbol++
		}
	}
	return c
}

func (c classes) letters() int { return c.lower + c.upper }
func (c classes) mixed() bool  { return c.lower > 0 && c.upper > 0 }

// assigned is for a password after "=", ":" or "is".
func assigned(f finding) bool {
	v := f.value
	if standsFor(v) || expression(v) || counted(f) || named(v) && strings.Contains(v, "/") {
		return false
	}
	c := classify(v)
	switch {
	case strings.Contains(v, " "):
		return phrase(v)
	case c.digit > 0 && len(v) >= 6:
		return true
	case c.digit > 0 && c.letters() > 0 && c.symbol > 0 && len(v) >= 5:
		return true
	case c.symbol == 0 && c.mixed() && len(v) >= 8 && c.upper >= 3 && c.upper*4 >= len(v) && c.lower*4 >= len(v):
		return true
	case strings.ContainsAny(v, "!@#$%^&*+=?~") && c.letters() >= 4 && len(v) >= 7:
		return true
	case c.symbol > 0:
		return len(wordParts().FindAllString(v, -1)) >= 3 && wordParts().ReplaceAllString(v, "") == strings.Repeat(sepOf(v), c.symbol) &&
			!aboutSecrets().MatchString(v)
	}
	return quotedWord(f) && !aboutSecrets().MatchString(v)
}

// wordParts are the words of a passphrase such as purple-monkey-dishwasher.
var wordParts = lazy(`[A-Za-z]{2,}\d{0,4}`)

// aboutSecrets matches words that speak of secrets instead of being one.
var aboutSecrets = lazy(`(?i)pass(?:word|wd|phrase)|secret|token|credential|required|invalid|incorrect|wrong|missing|empty|hidden|` +
	`hash|encrypt|mask|string|text|optional|expired|unset|disabled|enabled|default|prompt|vault|keyring|keychain|unknown|plain|bcrypt|field|` +
	`input|label|error|must|reset|forgot|change|confirm|manager|policy|length|strength|auth|login|type|none|same|blank`)

// sepOf is the first character of a value that is neither letter nor digit.
func sepOf(v string) string {
	i := strings.IndexFunc(v, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
	if i < 0 {
		return ""
	}
	_, n := utf8.DecodeRuneInString(v[i:])
	return v[i : i+n]
}

// quotedWord reports a word in quotes, or one alone at the end of its line in
// the form of an environment file: there a bare word is a value, not prose.
func quotedWord(f finding) bool {
	if len(f.value) < 6 || classify(f.value).symbol > 0 {
		return false
	}
	quoted := f.before != "" && strings.IndexByte("\"'`", f.before[len(f.before)-1]) >= 0
	return quoted && f.value == strings.ToLower(f.value) || envLine().MatchString(f.before) && (f.after == "" || f.after[0] == '\n')
}

var envLine = lazy(`(?:^|\n|export )[A-Z][A-Z0-9_]*=$`)

// phrase reports several words that are not a sentence.
func phrase(v string) bool {
	words := strings.Fields(v)
	if len(words) < 3 || len(words) > 12 || aboutSecrets().MatchString(v) {
		return false
	}
	for _, w := range words {
		if terms.Stop(strings.ToLower(w)) || len(w) < 2 || classify(w).symbol > 0 {
			return false
		}
	}
	return true
}

// loose is for a password in prose that no sign introduces: it must look like
// one by itself.
func loose(f finding) bool {
	v := f.value
	if len(v) < 6 || standsFor(v) || expression(v) || counted(f) || named(v) || hashLike().MatchString(v) || strings.Contains(v, " ") {
		return false
	}
	c := classify(v)
	return c.digit > 0 && c.letters() > 0 && (c.mixed() || c.digit >= 2 || c.symbol > 0) ||
		strings.ContainsAny(v, "!@#$%^&*") && c.mixed()
}

// adjacent is for a password that only a space parts from its name.
func adjacent(f finding) bool {
	if loose(f) {
		return true
	}
	c := classify(f.value)
	return c.mixed() && c.digit >= 2 && c.symbol > 0 && !standsFor(f.value) && !expression(f.value) && !counted(f) &&
		!strings.ContainsAny(f.value, "/ (")
}

// random is for a value far from any word that names it: capitals, small
// letters and digits mixed within one part.
func random(f finding) bool {
	v := f.value
	if len(v) < 10 || !loose(f) || strings.Contains(v, "://") {
		return false
	}
	if c := classify(v); c.digit >= 2 && c.mixed() && strings.ContainsAny(v, "!@#$%^&*") {
		return true
	}
	return slices.ContainsFunc(partsOf(v), func(p string) bool {
		c := classify(p)
		return len(p) >= 8 && c.digit >= 2 && c.mixed() && !wordLike().MatchString(p) && entropy(p) >= 2.8
	})
}

// token is for keys and tokens: hard to guess, and not a name.
func token(f finding) bool {
	v := f.value
	if len(v) < 8 || standsFor(v) || expression(v) || named(strings.ReplaceAll(v, "#", "-")) || strings.ContainsAny(v, " ()[]{}<>|") || counted(f) || entropy(v) < 2.5 {
		return false
	}
	c := classify(v)
	switch {
	case c.letters() == 0:
		return false
	case c.digit >= 2:
		return true
	case c.digit == 1:
		return len(v) >= 12 && (c.mixed() || c.symbol > 0)
	case c.mixed():
		return len(v) >= 16 && c.upper*4 >= len(v) && c.lower*4 >= len(v)
	}
	return len(v) >= 24 && c.symbol == 0
}

// given is for values of options and of fields that hold secrets only.
func given(f finding) bool {
	v := f.value
	c := classify(v)
	return len(v) >= 4 && (c.letters() > 0 || c.symbol == 0 && c.digit >= 6) && !standsFor(v) && v[0] != '-' && v[0] != '/' && !strings.ContainsAny(v, "<>{}") && !expression(v)
}

// accessCode is for one-time and backup codes: digits, or groups with digits.
func accessCode(f finding) bool {
	c := classify(f.value)
	return c.digit >= 2 && c.digit+c.letters() >= 4 && !counted(f) && !standsFor(f.value) && !dateLike().MatchString(f.value)
}

// placeholder matches values that stand for a secret instead of being one.
var placeholder = lazy(`(?i)^(?:x{3,}|\*{2,}|•+|\.{2,}|…+|_{3,}|-{3,}|#{3,}|<.*|\[.*|\$[({A-Z_].*|\{.*|%[A-Z_]+%|%[svdq]|` +
	`your[-_a-z0-9]*|my[-_]?(?:super[-_]?)?(?:password|pass|pwd?|secret|token|key|api)[-_a-z]*|(?:some|the|a|an|insert|enter|put|set|replace|add)[-_]\w.*|` +
	`example.*|change[-_]?(?:me|this|it).*|(?:dummy|fake|sample|mock|placeholder|redacted)[-_\w]*|none|null|nil|undefined|void|true|false|yes|no|todo|tbd|n/?a|` +
	`test(?:ing)?|string|required|optional|pass(?:word|wd)?|pwd|secret|token|key|value|foo(?:bar)?|bar|` +
	`env[.:(\[].*|env|getenv.*|secrets?\..*|vault[:.].*|ref\+.*|op://.*|arn:.*|sm://.*|ssm:.*|file:.*|kms:.*|![A-Za-z]+.*|@\w+\..*|@[A-Za-z]+\(.*|` +
	`(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)|projects/.*|[~.]{0,2}/.*|[A-Z]:\\.*|https?://.*|github\.com/.*)$`)

// technical matches names of algorithms, types, formats and versions.
var technical = lazy(`(?i)^(?:sha-?\d[\d/-]*\w*|md[45]|base-?(?:16|32|58|64)\w*|(?:argon2|pbkdf2|bcrypt|scrypt|hmac|aes|rsa|ecdsa|` +
	`chacha|hkdf|ecdh|pkcs)[-_]?\d*\w{0,6}|(?:hs|rs|es|ps)(?:256|384|512)|(?:ed|x|curve)(?:25519|448|509)|oauth2?(?:\.\d)?|utf-?\d+\w*|ipv[46]|u?int\d+|float\d+|(?:var)?char\d*|rfc-?\d+|` +
	`[vV]?\d+(?:\.\d+)+[-\w.]*|http/?[\d.]*|s3|ec2|k8s|i18n|l10n|1password\S*|(?:cl|o200k|p50k)[-_a-z0-9]*base|gpt-?\d[-\w.]*|claude-[-\w.]*|cve-\d[-\d]*|iso-?\d[-\d]*|ssh-(?:rsa|ed25519|dss)|ecdsa-\S+)$`)

var (
	emailLike = lazy(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)
	dateLike  = lazy(`^(?:19|20)\d\d[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?(?:[T日]?[\d:.Z+-]*)?$|^\d{1,2}:\d\d(?::\d\d)?$`)
	addrLike  = lazy(`^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?$|^[\w-]+(?:\.[\w-]+)*:\d{2,5}$`)
	hashLike  = lazy(`^(?:[0-9a-f]{7,64}|[0-9A-F]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$|^(?:sha\d+|md5)[:-]`)
	hashText  = lazy(`^\$(?:2[aby]|1|5|6|argon2\w*|y|scrypt|pbkdf2[\w-]*)\$`)
)

// standsFor reports placeholders and other values that are surely not secret.
func standsFor(v string) bool {
	return placeholder().MatchString(v) || technical().MatchString(v) || emailLike().MatchString(v) || dateLike().MatchString(v) ||
		addrLike().MatchString(v) || hashText().MatchString(v)
}

// expression reports what a program computes.
func expression(v string) bool { return callLike().MatchString(v) || memberLike().MatchString(v) }

var (
	callLike   = lazy(`^[A-Za-z_][\w.]*[(\[]|^&?[A-Za-z_]\w*(?:::|->)\w|^\w+\?\.|^(?:new|await|let|func)\s|=>|^[A-Za-z_]\w*<\w`)
	memberLike = lazy(`^(?i:self|this|cfg|conf(?:ig)?|settings?|env|os|process|props|state|req(?:uest)?|res(?:ponse)?|ctx|user|data|form|values?|` +
		`body|params?|args?|opts?|options|input|app|var|local|module|secrets|each|item|row|account|creds?|credentials?|event|faker|crypto|rails|system|` +
		`environment|client|server|db|database|auth|r|s|t|e|c|m|f|flags?|viper|import\.meta)(?:\.[A-Za-z_]\w*)+$`)
)

// wordLike matches a word, or words in the camel case of names, with a number
// at the end at most.
var wordLike = lazy(`^(?:[A-Z]?[a-z]+|[A-Z]{2,6})(?:[A-Z][a-z]+|[A-Z]{2,5})*\d{0,3}$|^[A-Z]+\d{0,5}$|^\d{1,8}$|^[vV]\d+$`)

// named reports names such as my-app-tls, user_id2 or prod/db-credentials/v2:
// every part of them is a word or a number.
func named(v string) bool {
	parts := partsOf(v)
	if len(parts) == 1 && !letterFirst().MatchString(v) {
		return false
	}
	return !slices.ContainsFunc(parts, func(p string) bool { return !wordLike().MatchString(p) })
}

var letterFirst = lazy(`^[A-Za-z]`)

func partsOf(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:+ ~", r) })
}

// counted reports a length or a number of things, as in "密码：8-16位", and
// bounds such as ">=12".
func counted(f finding) bool {
	if strings.ContainsAny(f.value[:1], "<>≥≤≈") || spanOf().MatchString(f.value) && len(f.value) <= 7 {
		return true
	}
	rest := strings.TrimLeft(f.after, " -~")
	return digitsOnly().MatchString(f.value) && unit().MatchString(rest)
}

var (
	spanOf     = lazy(`^\d{1,2}[-~–至到]\d{1,2}$`)
	digitsOnly = lazy(`^\d+(?:[-~–.,]\d+)*$`)
	unit       = lazy(`^(?:位|个|字符|天|次|分钟|秒|小时|年|月|条|元|行|项|字节|(?i:characters?|chars?|days?|digits?|bits?|bytes?|minutes?|` +
		`min|seconds?|secs?|s|ms|hours?|times?|tokens?|words?|users?|rows?|lines?|items?|entries|requests?|attempts?|kb|mb|gb|%)\b)`)
)

// entropy is the number of bits in a character, by the characters of s alone.
func entropy(s string) float64 {
	var n [256]float64
	for i := range len(s) {
		n[s[i]]++
	}
	e := 0.0
	for _, v := range n {
		if v > 0 {
			p := v / float64(len(s))
			e -= p * math.Log2(p)
		}
	}
	return e
}

// basic reports a user and a password in base 64.
func basic(f finding) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(f.value, "="))
	return err == nil && slices.Contains(b, ':') && utf8.Valid(b) || token(f)
}

// luhn reports a number with the check digit of cards.
func luhn(s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if !isDigit(s[i]) {
			continue
		}
		d := int(s[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && n <= 19 && sum%10 == 0
}

// digits returns the digits of s.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// chinaID checks a resident identity number of 18 characters.
func chinaID(f finding) bool {
	sum := 0
	for i, w := range []int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += int(f.value[i]-'0') * w
	}
	return strings.ToUpper(f.value[17:]) == "10X98765432"[sum%11:sum%11+1] && !goesOn(f)
}

// iban checks an account number: its letters and digits, the first four moved
// to the end, are 1 modulo 97.
func iban(f finding) bool {
	s := strings.ReplaceAll(f.value, " ", "")
	rem := 0
	for _, r := range s[4:] + s[:4] {
		if r >= 'A' {
			rem = (rem*100 + int(r-'A'+10)) % 97
			continue
		}
		rem = (rem*10 + int(r-'0')) % 97
	}
	return len(s) >= 15 && rem == 1
}

// cpf checks a Brazilian taxpayer number by its two check digits.
func cpf(f finding) bool {
	d := digits(f.value)
	for n := 9; n < 11; n++ {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * (n + 1 - i)
		}
		if sum*10%11%10 != int(d[n]-'0') {
			return false
		}
	}
	return true
}

// taiwanID and hongKongID check identity numbers that begin with a letter.
func taiwanID(f finding) bool {
	n := strings.IndexByte("ABCDEFGHJKLMNPQRSTUVXYWZIO", f.value[0]) + 10
	sum := n/10 + n%10*9
	for i := range 8 {
		sum += int(f.value[i+1]-'0') * (8 - i)
	}
	return (sum+int(f.value[9]-'0'))%10 == 0 && !goesOn(f)
}

func hongKongID(f finding) bool {
	sum := 9*36 + 8*int(f.value[0]-'A'+10)
	for i := range 6 {
		sum += int(f.value[i+1]-'0') * (7 - i)
	}
	last := strings.IndexByte("0123456789A", f.value[8])
	return (sum+last)%11 == 0
}

func goesOn(f finding) bool {
	return f.after != "" && (isDigit(f.after[0]) || len(f.after) > 1 && f.after[0] == '.' && isDigit(f.after[1]))
}

// personal is for telephone and card numbers: it leaves alone what the words
// around call something else.
func personal(f finding) bool {
	rest := strings.TrimLeft(f.after, " ")
	return !goesOn(f) && !otherNumber().MatchString(f.before) && !unit().MatchString(rest)
}

var otherNumber = lazy(`(?i)(?:订单号?|单号|编号|流水号?|工单|序号|群号?|QQ|行号|端口|版本|时间戳|商品|批次|order|orders|invoice|ticket|issue|build|job|run|` +
	`commit|port|id|ids|no\.?|number of \w+|version|timestamp|ts|offset|seq|epoch|serial|batch|part|sku|isbn|row|rows|pid|uid|#)["']?\s*(?:=|:|：|#|是|为|is|was)?\s*["']?$`)

func card(f finding) bool {
	letter := f.after != "" && tokenByte(f.after[0]) && f.after[0] != '.' && f.after[0] != '-'
	return luhn(f.value) && !letter && personal(f)
}

// socialSecurity leaves out numbers that are never given to anybody.
func socialSecurity(f finding) bool {
	d := digits(f.value)
	return !goesOn(f) && d[:3] != "000" && d[:3] != "666" && d[3:5] != "00" && d[5:] != "0000"
}

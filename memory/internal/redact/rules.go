package redact

import (
	"strconv"
	"strings"
)

const privateKey = "private key"

// Pieces of the expressions below.
const (
	// sign introduces a value: the end of a quoted key or subscript, then = or : and the like.
	sign = `\\*["'\x60]?\]?(?:\*\*|__)?\s*(?:=>|->|→|:=|==?|:|：|＝|\|)\s*(?:\*\*|__)?\s*`

	// is introduces a value in English prose.
	is = `\s+(?:is|was|are|be|to|equals|reads)\s+(?:still\s+|now\s+|currently\s+|just\s+|simply\s+|always\s+|set\s+to\s+|going\s+to\s+be\s+|called\s+|changed\s+to\s+)?`

	// value is quoted, in Python also as b'…', and may then hold spaces, or runs to the next space.
	value = `\\*(?:[bru]?"([^"\n\\]{4,120}[^"\s\\]*)|[bru]?'([^'\n\\]{4,120}[^'\s\\]*)|[\x60“「『(（<]?([^\s"'\x60“”「」『』（），。；、,;\p{Han}]{4,}))`

	// holds introduces what is in a file, as in "config/master.key holds".
	holds = `\s+(?:holds|contains)\s+`

	// gap stands between a key and its sign: "password for the admin of db7:".
	gap = `(?:\s*[(（][^)）\n]{0,40}[)）])?(?:\s+(?:for|of|on|to|in|at|from)(?:\s+[\w@/'’-]+(?:\.[\w/-]+)*){1,6}?)?`

	// talk is prose up to a verb.
	talk = `(?:[^\n.;:=!?。，；]|\.\w){0,60}?`

	// nameOfPassword and nameOfToken end the names of fields in XML and of arguments.
	nameOfPassword = `(?:password|passwd|passphrase|pwd)`
	nameOfToken    = `(?:secret|token|(?:api|access|secret|private|auth|account|encryption|signing|license|shared)[_-]?key)`

	suffix = `(?:[_-]?(?:prod(?:uction)?|dev|stag(?:e|ing)|test|old|new|main|admin|root|db|user|\d{1,2}))?`

	passwordKey = `(?:pass(?:word|wd|phrase|code)|passwort|pswd|kennwort|(?:\b|[_-]|\b(?:db|ftp|smtp|user|root|admin|mail|my))(?:pass|pwd|psw|pw)|\bpsk|\bpin(?:[ _-]?code)?)s?` + suffix

	tokenKey = `(?:secret(?:[ _-]?(?:access)?[ _-]?key)?|token|(?:api|access|secret|private|auth|account|encryption|decryption|` +
		`signing|validation|pre[ _-]?shared|license|licence|master|shared|app|deploy|subscription|storage|service|session|cookie|jwt|hmac|aes|des|storage|mch|admin|server|client|write|ingest|integration|` +
		`webhook|activation|product|serial|registration|root|unseal|registry|publish|robot|bot|v3)[ ._-]?(?:access[ _-]?)?key|api[ _-]?hash|credential|session[ _-]?id|jsessionid|phpsessid|` +
		`connect\.sid|signature|bearer|sas[ _-]?url|apikey|accesskey|_auth|base64encodedkey)s?(?:[_-]?(?:value|base))?` + suffix

	// zhGap and zhVerb stand between a Chinese key and its value.
	zhGap   = `((?:[\p{Han}\s]|（[^）\n]{0,30}）|\([^)\n]{0,30}\)){0,14}?)`
	zhVerb  = `\s*(?:改成|改为|改到|换成|换为|换到|变成|变为|设成|设为|设置成|设置为|定为|重置为|重置成|更新为|更新成|调整为|统一为|就是|还是|仍是|仍为|是|为|叫|用|填|输入|:|：|=|＝|->|→)?了?\s*`
	zhValue = `[\["'“「『\x60（(<]?([!#-&*+\-./0-9:=?@A-Z^_a-z~]{4,})`

	zhPassword = `(?:密码|密碼|口令|暗号|暗號|(?:授权|提取|访问|取件|解压|支付|安全|门禁|开机|锁屏|通行|激活|PIN\s?)码)`
	zhToken    = `(?:密钥|密鑰|令牌|秘钥|私钥|凭证|凭据|序列号|(?i:token|access ?key|secret(?: ?key)?|api ?key|key)\s*(?:[\p{Han}：]))`
)

// vendors matches tokens that their first letters give away.
var vendors = lazy(`^(?:sk-(?:[a-z0-9]{2,10}-)*[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,}` +
	`|gl(?:pat|rt|dt|oas|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_.-]{16,}|xox[abeposr](?:\.xoxp)?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}` +
	`|AIza[0-9A-Za-z_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}` +
	`|LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{13,40}|AKLT[A-Za-z0-9]{16,}|ALTAK-?[A-Za-z0-9]{12,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}` +
	`|rubygems_[a-f0-9]{40,}|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}|hf_[A-Za-z0-9]{20,}|do[opr]_v1_[a-f0-9]{40,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}` +
	`|whsec_[A-Za-z0-9+/=]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|tvly-[A-Za-z0-9-]{16,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{30,}` +
	`|csk-[a-z0-9]{30,}|fw_[A-Za-z0-9]{20,}|lin_(?:api|oauth)_[A-Za-z0-9]{20,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}` +
	`|sntry[su]_[A-Za-z0-9_=+/-]{20,}|hv[sb]\.[A-Za-z0-9_-]{20,}|A(?:TATT|TCTT|TBB|TOA)[A-Za-z0-9_=-]{20,}|pat-(?:na|eu)\d-[a-f0-9-]{30,}` +
	`|pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}|nvapi-[A-Za-z0-9_-]{30,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{30,}|figd_[A-Za-z0-9_-]{30,}` +
	`|gl(?:sa|c)_[A-Za-z0-9_=]{30,}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.]{30,}|EAA[A-Za-z0-9]{60,}|SK[0-9a-f]{32}` +
	`|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|\d{8,10}:AA[A-Za-z0-9_-]{32,}|dapi[0-9a-f]{32}|pul-[0-9a-f]{40}|CFPAT-[A-Za-z0-9_-]{30,}` +
	`|PMAK-[a-f0-9]{20,}-[a-f0-9]{30,}|secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,}|sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}` +
	`|lsv2_(?:pt|sk)_[a-f0-9_]{30,}|phx_[A-Za-z0-9]{40,}|NRAK-[A-Z0-9]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}|ops_eyJ[A-Za-z0-9_-]{40,}` +
	`|A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}|fo1_[A-Za-z0-9_-]{30,}|fm[12][ar]?_[A-Za-z0-9_+/=-]{30,}|rnd_[A-Za-z0-9]{20,}|fc-[0-9a-f]{32}` +
	`|apify_api_[A-Za-z0-9]{30,}|amzn1\.oa2-cs\.v1\.[a-f0-9]{30,}|EZ[AT]K[a-zA-Z0-9]{40,}|access-(?:sandbox|development|production)-[0-9a-f-]{36}` +
	`|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|gAAAAA[A-Za-z0-9_-]{60,}|[0-9a-f]{32}\.[A-Za-z0-9]{16}\b|SCT\d{3,}T[A-Za-z0-9]{16,}` +
	`|[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{20,}` +
	`|[a-z][a-z0-9]{1,14}[_-](?:pat|sk|key|api|token|secret|live|prod)[_-][A-Za-z0-9_-]{16,})`)

// vendorTokens finds them. They begin where a long run of their characters
// does, which is far cheaper to look for than the expression anywhere.
func vendorTokens(text string) (out []span) {
	const shortest = 16
	for i := 0; i < len(text); {
		if !tokenByte(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && tokenByte(text[end]) {
			end++
		}
		if end-i >= shortest && !hashLike().MatchString(text[i:end]) || end < len(text) && text[end] == ':' && end-i >= 8 {
			if n := len(vendors().FindString(text[i:])); n > 0 && vendor(trimEnd(text[i:i+n])) {
				out = append(out, span{i, i + len(trimEnd(text[i:i+n])), "token"})
			}
		}
		i = end
	}
	return out
}

func tokenByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// vendor leaves out words that happen to begin like a token.
func vendor(v string) bool {
	c := classify(v)
	return (c.digit > 0 || c.mixed()) && !named(v) && !standsFor(v)
}

// rules are tried in order; all of them apply.
var rules = []rule{
	{privateKey, []string{"private key", "putty-user-key", "age-secret-key-", "age-plugin-"},
		lazy(`(-{4,5} ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}(?s:.{0,400}?)[A-Za-z0-9+/]{20,}(?s:.*)|PuTTY-User-Key-File-\d(?s:.*)|AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]+)-1[A-Z0-9]{20,})`),
		nil},
	{privateKey, []string{"mii", "mhcc", "mc4c", "migh"}, // PKCS 1, 8 and elliptic keys without their first line
		lazy(`(?:^|[^A-Za-z0-9+/])(MII[EJCB][A-Za-z0-9+/]{2}[IA][BC][A-Za-z0-9+/]{2,4}AN[A-Za-z0-9+/]{40,}|MII[EJCB][A-Za-z0-9+/]{2}IBAA[A-Za-z0-9+/]{40,}|(?:MHcCAQEE|MC4CAQAwBQYDK2V|MIGHAgEAMBMGByq)[A-Za-z0-9+/]{20,})`),
		nil},
	{privateKey, []string{`"d"`}, lazy(`"kty"(?s:.*)"d"\s*:\s*"([A-Za-z0-9_-]{20,})`), nil},
	{"token", []string{"1//0", "altak"}, lazy(`(1//0[A-Za-z0-9_-]{30,}|bce-v3/ALTAK-[A-Za-z0-9/_-]{20,})`), nil},
	{"token", []string{"eyj"}, lazy(`(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){3})`), nil},
	{"password", []string{"://"}, lazy(`([a-zA-Z][a-zA-Z0-9+.-]*)://[^\s/:@'"<>]*:([^\s/'"<>]{3,})@[\w.\[$-]`), inAddress},
	{"token", []string{"://"}, lazy(`://([A-Za-z0-9_.~%+-]{16,})(?::x-oauth-basic)?@[\w.\[-]`), token},
	{"token", []string{"bearer", "basic", "authorization", "-key", "-token", "digest"},
		lazy(`(?i)\b(?:bearer|authorization["']?\s*[:=]\s*["']?(?:token|key|apikey|digest|aws4\S*|[a-z]+)?)\s+["']?([A-Za-z0-9._~+/=-]{12,})`), token},
	{"password", []string{"basic"}, lazy(`(?i)\bbasic\s+([A-Za-z0-9+/=]{8,})`), basic},
	{"cookie", []string{"cookie", " -b"}, lazy(`(?i)(?:\bcookies?["']?\s*[:=]|\s-b|--cookie)\s*["']?([\w.%-]+=[^\s;,"']{6,}(?:;\s*[\w.%-]+=[^\s;,"']+)*)`), cookie},
	{"token", []string{"="}, // in a query
		lazy(`(?i)[?&](?:[\w.-]*(?:token|secret|signature|api_?key|access_?key|pass(?:word|wd)?|pwd|credential)|key|sig|sign|auth|hmac|code|sid|ticket|jwt)=([^\s&"'<>#，。]{6,})`), inQuery},
	{"token", []string{"hook", "bot", "robot", "trigger", "day.app", "ftqq"}, // addresses that are secrets themselves
		lazy(`(?i)(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/\d+/|/bot/v2/hook/|/webhook/send\?key=|/robot/send\?access_token=|/webhookb2/|` +
			`hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/\S+/key/|/hooks?/|/webhooks?/(?:\w+/)?|api\.day\.app/|sctapi\.ftqq\.com/|api\.telegram\.org/bot)([A-Za-z0-9%_.~+:@/-]{12,})`), hook},
	{"password", []string{"pass", "pwd", "psw", "pw", "pin", "psk", "kennwort"}, lazy(`(?i)` + passwordKey + gap + sign + value), assigned},
	{"password", []string{"pass", "pwd", "pw", "pin", "kennwort"}, lazy(`(?i)` + passwordKey + gap + is + value), assigned},
	{"password", []string{"pass", "pwd", "pin"}, lazy(`(?i)` + passwordKey + `\b` + talk + `(?:` + is + `|\s+(?:from|became|=|:)\s+)` + value), loose},
	{"password", []string{"pass", "pwd", "pw"}, lazy(`(?i)\b(?:pass(?:word|wd|phrase|code)?|pwd|pw)\s+` + value), adjacent},
	{"password", []string{"pin", "passcode"}, lazy(`(?i)\b(?:pin|passcode)(?:\s+(?:code|number))?(?:` + gap + `(?:` + sign + `|` + is + `)|\s+)["'\x60]?(\d{4,8})\b`), accessCode},
	{"password", []string{"machine"}, lazy(`(?i)\bmachine\s+\S+\s+(?:login\s+\S+\s+)?password\s+(\S{4,})`), given},
	{"password", []string{"</"}, lazy(`(?i)<((?:[\w.-]*[:.-])?` + nameOfPassword + `)>\s*([^<\s]{4,})\s*</`), element},
	{"password", []string{"</", "value="}, lazy(`(?i)(?:<key>[^<\n]*` + nameOfPassword + `</key>\s*<string>|\b(?:name|key)=["'][^"'\n]*` + nameOfPassword +
		`["']\s*(?:value=["']|>))\s*([^<\s"']{4,})`), loose},
	{"secret", []string{"</", "value="}, lazy(`(?i)(?:<(?:[\w.-]*[:.-])?` + nameOfToken + `>|<key>[^<\n]*` + nameOfToken + `</key>\s*<string>|\b(?:name|key)=["'][^"'\n]*` + nameOfToken +
		`["']\s*(?:value=["']|>))\s*([^<\s"']{8,})`), token},
	{"password", []string{"pass", "pwd"}, lazy(`(?i)["'][\w.-]*` + nameOfPassword + `["']\s*,\s*["']([^"'\s]{6,})["']`), loose}, // define('X', '…')
	{"secret", []string{"secret", "token", "key"}, lazy(`(?i)["'][\w.-]*` + nameOfToken + `["']\s*,\s*["']([^"'\s]{8,})["']`), token},
	{"password", []string{":*:", ":543", ":6432", "pgpass"}, // a line of .pgpass
		lazy(`(?:^|\s)(?:\*|[\w-]+(?:\.[\w-]+)*):(?:\*|\d{4,5}):(?:\*|[\w-]+):(?:\*|[\w.@-]+):([^\s:]{4,})`), given},
	{"password", []string{"net use"}, // before /user:NAME or behind it
		lazy(`(?i)\bnet\s+use\s+(?:(?:[a-z*]:?\s+)?\\\\\S+\s+"?([^\s/\\*"][^\s"]{3,})"?(?:\s+/|\s*(?:\n|$))|[^|&]{0,120}?/u(?:ser)?:\S+\s+"?([^\s/*"][^\s"]{3,}))`), given},
	{"secret", []string{"secret", "token", "key", "credential", "sid", "sessid", "session", "signature", "auth", "bearer", "sas", "hash"},
		lazy(`(?i)` + tokenKey + gap + `(?:` + sign + `|` + is + `|` + holds + `)` + value), token},
	{"secret", []string{"secret", "token", "key", "credential"}, lazy(`(?i)(?:\b|_)(?:secret|token|key|credential)s?\s+` + value), looseToken},
	{"secret", []string{"key", "token"}, lazy(`(?i)\b(?:api|app|secret|access|auth|client)[ _-](?:key|token|secret)\s+` + value), longToken},
	{"secret", []string{"key"}, lazy(`(?i)(\S+\s+)?\bkey` + gap + `(?:` + sign + `|` + is + `)` + value), plainKey},
	{"secret", []string{"_key"}, lazy(`(?i)([a-z0-9]+)_key` + suffix + sign + value), settingKey}, // FERNET_KEY=
	{"secret", []string{"django-insecure-"}, lazy(`django-insecure-([^\s"'\x60]{20,})`), nil},
	{"secret", []string{"-key", "password", "psk", "secret", "token"},
		lazy(`(?i)(?:key|password|psk|secret|token)\s+<\(\s*(?:echo|printf)\s+(?:-n\s+)?["']?([^\s"')]{8,})`), token}, // a file made by the shell
	{"secret", []string{"sk=", "sk:", "sk：", "sk =", "sk 是", "sk 为", "sk是", "sk为", `sk"`}, // beside an access key id, AK
		lazy(`\b(?:SK|sk)["']?\s*(?:=|:|：|是|为)\s*["'“]?([A-Za-z0-9+/=_-]{20,})`), besideID},
	{"secret", []string{"akia", "asia", "ltai", "akid", "aklt", "altak", "ak/sk", "ak / sk"}, // id and secret as a pair
		lazy(`\b(?:(?:AKIA|ASIA|LTAI|AKID|AKLT|ALTAK)[A-Za-z0-9]{12,}|(?i:ak\s?/\s?sk)\s*[:：=是为]?\s*[A-Za-z0-9]{12,})["']?\s*[/,，、:：|;；\s]\s*["']?([A-Za-z0-9+/=_-]{30,})`), token},
	{"secret", []string{"2fa", "mfa", "otp", "authenticator", "two-factor"}, // seeds of one-time codes
		lazy(`(?i:(?:2fa|mfa|otp|authenticator|two-factor)[ _-](?:setup[ _-])?(?:seed|secret|key)` + gap + `(?:` + sign + `|` + is + `|\s+))["'\x60]?([A-Z2-7]{16,})\b`), nil},
	{"secret", []string{"wif", "wallet", "bitcoin", "btc", "钱包"}, lazy(`\b([5KL][1-9A-HJ-NP-Za-km-z]{50,51})\b`), random}, // a Bitcoin key
	{"secret", []string{digitRun}, lazy(`\b(\d{6}(?:-\d{6}){7})\b`), bitLocker},
	{"secret", []string{`"auth"`}, lazy(`"auth"\s*:\s*"([A-Za-z0-9+/=]{8,})"`), basic}, // .docker/config.json
	{"password", []string{"pass", "secret", "token", "key", "credential", "密码", "口令", "密钥", "令牌", "秘钥"},
		lazy(`(?i)(?:\b(?:password|passwd|passphrase|passcode|token|secret|api[ _-]?key|access[ _-]?key|credentials?)\b|密码|口令|密钥|令牌|秘钥)[^\n;；!?。]{0,60}?[\s:：是为成“"'\x60「（(]([!#-&*+\-./0-9:=?@A-Z^_a-z~]{10,})`), random},
	{"password", []string{"pass", "pin", "token", "secret", "key"},
		lazy(`(?i)([^\s"'\x60“”]{6,})["'\x60”]?\s+(?:is|as|was)\s+(?:the|my|our|your|an?)\s+(?:[\w-]+\s+){0,3}?(?:password|passphrase|passcode|pin|token|secret|api key)\b`), loose},
	{"password", []string{"phrase", "mnemonic", "seed", "words", "助记词"}, // of a wallet
		lazy(`(?i)(?:(?:seed|recovery|secret|mnemonic|backup)[ _-]?(?:phrase|words)|mnemonic|助记词|\bseed(?:\s*(?:is|[:：=])))[^\n]{0,40}?[\s:：=是为"'“]((?:\d{0,2}[.)]?\s?[a-z]{3,8}[ ,，、\n]+){11,23}\d{0,2}[.)]?\s?[a-z]{3,8})\b`), seedWords},
	{"password", []string{"phrase", "口令"}, lazy(`(?i)(?:passphrase|口令)` + gap + `(?:` + sign + `|` + is + `|\s*[是为]\s*)["'“「]((?:[\w-]+ ){3,11}[\w-]+)["'”」]`), quotedPhrase},
	{"password", []string{"pass", "pw"}, // words and a number, alone behind a comma
		lazy(`(?i)[,;，；(（]\s*(?:password|passphrase|passwd|pwd|pw)\s+["'\x60]?([a-z]{3,}(?:[-_.][a-z]{3,})+[-_.]?\d{1,4})["'\x60]?(?:[,.;)，。；）]?\s*$|[,.;)，。；）]|\n)`), wordsAndNumber},
	{"password", []string{"pass", "口令", "密码"},
		lazy(`(?i)(?:pass(?:phrase|word)|口令|密码)` + gap + `(?:` + sign + `|` + is + `|是|为)\s*["'“\x60]?([a-z]{2,12}(?:[ -][a-z0-9]{2,12}){2,7})["'”\x60.。\n]?`), wordsOnly},

	// Chinese, with and without a verb.
	{"password", []string{"密码", "密碼", "口令", "暗号", "暗號", "码", "pin"}, lazy(zhPassword + zhGap + zhVerb + zhValue), chinese},
	{"secret", []string{"密钥", "密鑰", "令牌", "秘钥", "私钥", "凭证", "凭据", "token", "key", "secret", "序列号"},
		lazy(zhToken + zhGap + zhVerb + zhValue), chineseToken},
	{"password", []string{"密码", "口令", "密钥", "令牌", "凭证", "token"},
		lazy(`(?i)(?:密码|口令|密钥|令牌|凭证|token)[^\n。；]{0,60}?(?:改成|改为|换成|换为|变成|变为|更新为|重置为|设为|设成|设置为)了?` + `\s*` + zhValue), loose},
	{"password", []string{"密码", "口令", "密钥", "令牌"}, lazy(`(?:密码|口令|密钥|令牌)[\p{Han}\s]{0,8}从\s*` + zhValue), loose},
	{"password", []string{"授权码"}, lazy(`授权码[\p{Han}\s]{0,6}[:：]?\s*([a-z]{16})\b`), nil},
	{"password", []string{"码"}, // of a screen, a door or a card
		lazy(`(?:(?i:pin)\s*码|(?:锁屏|开机|门禁|取款|手机|保险箱|保险柜|门锁|行李箱)(?:密码|码))\s*(?:是|为|:|：|=|改成|换成|设为|设成)?了?\s*["'“「]?(\d{4,8})\b`), screenCode},
	{"password", []string{"提取码", "访问码", "取件码"}, lazy(`(?:提取|访问|取件)码\s*(?:是|为|:|：)?\s*([A-Za-z0-9]{4,8})\b`), mixedCode},
	{"password", []string{"密码", "口令", "密钥", "令牌"},
		lazy(`(?:用|拿|以|把)\s*` + zhValue + `["'”」\x60]?\s*(?:作为|当作|当|做|作|设为|设成)?[\p{Han}\s]{0,8}(?:密码|口令|令牌|密钥)`), loose},
	{"one-time code", []string{"码", "碼", "动态口令", "代码"},
		lazy(`(?:验证码|驗證碼|校验码|动态(?:码|口令|密码)|确认码|登录码|一次性(?:代码|密码|口令)|(?:恢复|备用|备份|救援)(?:码|代码))` + zhGap + zhVerb + `[\["'“「（(]?` + codes), chineseCode},

	// Accounts with their passwords.
	{"password", []string{"credential", "creds", "login", "log in", "sign in", "account", "user", "账", "帐", "用户", "登录"},
		lazy(`(?i)(?:credentials?|creds|log[ -]?ins?|sign[ -]?in|account|user(?:name)?|账号|账户|帐号|账密|帐密|用户名|用户|登录)(?:[^\n。.]{0,24}?[\s:：是为=用"'\x60(（]|[^\n。.:]{0,60}?\s(?:is|are)\s)([\w.@+-]{2,40})["'\x60]?\s*(?:/|:|：|\||,|，|、)\s*["'\x60]?([!#-&*+\-./0-9:=?@A-Z^_a-z~]{6,})`), pair},

	// Options of programs.
	{"password", []string{" -"}, lazy(`(?:^|\s)--?(?:[a-z0-9]+-)*(?:pass(?:word|wd|phrase)?|pwd|storepass|keypass|pw|creds)(?:[ =]|\s+)["']?([^\s"']{4,})`), given},
	{"secret", []string{"--"}, lazy(`(?:^|\s)--?(?:[a-z0-9]+-)*(?:secret|token|api-?key|access-?key|secret-?key|auth-?key|key|bearer)(?:[ =]|\s+)["']?([^\s"']{8,})`), givenToken},
	{"password", []string{" -"}, lazy(`\b(?:mysql\w*|mariadb\w*|mycli)\s(?:[^\n|;&]*?\s)?-p['"]?([^\s'"]{4,})`), given},
	{"password", []string{" -"}, lazy(`\b(?:sshpass|zip|unzip|7za?|rar|unrar)\s(?:[^\n|;&]*?\s)?-(?:p|P|hp)\s?['"]?([^\s'"]{4,})`), given},
	{"password", []string{" -"}, lazy(`\b(?:docker|podman|skopeo|helm|nerdctl|oc|az|mongo\w*|twine|cqlsh|psexec\w*|xfreerdp|mosquitto_\w+|sqlcmd|bcp|ldap\w+|redis-cli|` +
		`plink|pscp|psftp|smbclient|influx|arangosh|neo4j|cypher-shell|clickhouse\w*|isql|tsql|rdesktop|ipmitool)\s(?:[^\n|;&]*?\s)?-(?:p|P|w|a|pw)\s+['"]?([^\s'"]{4,})`), given},
	{"password", []string{" -u", "--user", "--proxy-user", "-a ", "--creds", "-b "},
		lazy(`(?:\s-[uUa]\s*|\s--(?:proxy-)?(?:user|creds|auth)[ =])['"]?[\w.@\\+-]+[:%,]([^\s'"]{4,})`), given},
	{"password", []string{"htpasswd", "rabbitmqctl", "passin", "passout", "chpasswd", "sudo -s", "--password-stdin", "mc alias", "mc config", "vault login", "redis-cli", "auth ", "identified by", "requirepass", "with password"},
		lazy(`(?i)(?:htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+|rabbitmqctl\s+(?:add_user|change_password)\s+\S+\s+|-pass(?:in|out)\s+pass:|echo\s+["']?[\w-]+:|echo\s+(?:-n\s+)?["']?|` +
			`\bmc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+\S+\s+|vault\s+login\s+|^\s*auth\s+(?:\w+\s+)?|identified\s+by\s+["']|requirepass\s+|with\s+password\s+)["']?([^\s"'|]{4,})`), shellSecret},

	// Codes.
	{"one-time code", []string{"code"}, lazy(`(\w+)\s+code\s+is\s+(?:now\s+)?["'\x60]?([A-Z0-9]{4,8})\b`), plainCode},
	{"one-time code", []string{"code", "otp", "2fa", "mfa"}, lazy(`(?i)` + codeKey + gap + `(?:` + sign + `|` + is + `)["'\x60]?` + codes), accessCode},
	{"one-time code", []string{"code", "otp", "2fa", "mfa"}, lazy(`(?i)` + codeKey + `\s+["'\x60]?(\d{3,}(?:[- ]\d{3,})*|[a-z0-9]{4,6}-[a-z0-9]{4,6})`), accessCode},
	{"password", []string{"app", "应用", "专用", "授权码", "2fa", "totp", "authenticator", "two-factor", "password"},
		lazy(`(?i)(?:app(?:lication)?[ -](?:specific )?passwords?|app-specific|应用专用密码|专用密码|应用密码|授权码|(?:2fa|totp|authenticator|two-factor)(?: secret| key| setup)?|password)[^\n]{0,40}?[\s:：是为"'“]([A-Za-z0-9]{4}(?:[ -][A-Za-z0-9]{4}){3,7})\b`), grouped},

	// Numbers of people.
	{"identity number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z])([1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[0-9Xx])`), chinaID},
	{"identity number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z-])([0-8]\d{2}-\d{2}-\d{4})`), socialSecurity},
	{"identity number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z.])(\d{3}\.\d{3}\.\d{3}-\d{2})`), cpf},
	{"identity number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z])([A-Z][1289]\d{8})`), taiwanID},
	{"identity number", []string{"("}, lazy(`(?:^|[^0-9A-Za-z])([A-Z]\d{6}\([0-9A]\))`), hongKongID},
	{"identity number", []string{"ssn", "social security", "身份证", "护照", "passport", "national insurance", "nino", "id card", "id number"},
		lazy(`(?i)(?:\bssn|social security(?: number| no\.?)?|身份证(?:号码?)?|护照(?:号码?)?|passport(?: number| no\.?)?|national insurance(?: number| no\.?)?|nino|id (?:card|number))\s*(?:is|was|=|:|：|是|为|#)?\s*([A-Z]{0,2}[ -]?\d(?:[ -]?\d){5,16}[A-Z]?)\b`), accessCode},
	{"account number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z])([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?:[^0-9A-Za-z]|$)`), iban},
	{"card number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z.])((?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6\d{3})(?:[ -]?\d{4}){2,3}[ -]?\d{1,7}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})`), card},
	{"phone number", []string{digitRun}, lazy(`(?:^|[^0-9A-Za-z._/-])((?:(?:\+|00)?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}|\+[1-9]\d{0,2}[- .]?\(?\d{1,4}\)?(?:[- .]?\d{2,4}){2,4}|0\d{2,3}[- ]\d{7,8}|\(\d{3}\) ?\d{3}[-. ]\d{4}|[2-9]\d{2}[-.][2-9]\d{2}[-.]\d{4})`), personal},
	{"phone number", []string{"phone", "mobile", "cell", "tel", "call", "whatsapp", "电话", "手机"},
		lazy(`(?i)(?:\b(?:phone|mobile|cell|tel|telephone|whatsapp)(?: number| no\.?)?|\bcall (?:me|her|him|us)(?: at| on)?|电话|手机)(?:号码?)?\s*(?:is|was|=|:|：|是|为)?\s*(\+?\(?\d{2,4}\)?(?:[- .]?\d{2,4}){2,4})`), phoneNamed},
}

// codeKey names codes that open something once, codes is one or a list of them.
const (
	codeKey = `\b(?:(?:verification|one[- ]time|security|authenticat(?:ion|or)|login|2fa|mfa|sms|confirmation|access|backup|recovery|scratch|rescue|unlock|door|gate|alarm|lockbox|safe|entry)` +
		`[ _-]?(?:pass)?codes?|t?otp(?: code)?|(?:2fa|mfa|two-factor)(?: (?:backup|recovery))?)`
	codes = `([A-Za-z0-9]{3,}(?:[- ][A-Za-z0-9]{3,})*(?:\s*[,，、;/]\s*[A-Za-z0-9]{3,}(?:-[A-Za-z0-9]{3,})*)*)`
)

// inAddress leaves out users that are their own password: such defaults are no
// secret.
func inAddress(f finding) bool {
	user := f.before[strings.LastIndex(f.before, "//")+2:]
	return !standsFor(f.value) && strings.TrimSuffix(user, ":") != f.value && f.value != "***"
}

func cookie(f finding) bool {
	for pair := range strings.SplitSeq(f.value, ";") {
		_, v, _ := strings.Cut(pair, "=")
		c := classify(v)
		if (len(v) >= 8 && c.digit >= 2 || len(v) >= 16 && c.mixed()) && !standsFor(v) && !named(v) {
			return true
		}
	}
	return false
}

func inQuery(f finding) bool {
	c := classify(f.value)
	return !standsFor(f.value) && !named(f.value) && c.digit > 0 && (len(f.value) >= 12 || strings.ContainsAny(strings.ToLower(f.before[max(0, len(f.before)-12):]), "psk"))
}

func hook(f finding) bool {
	c := classify(f.value)
	return c.digit >= 4 && len(f.value) >= 16 && !named(f.value) && !standsFor(f.value)
}

// looseToken is for a token that only a space parts from its name.
func looseToken(f finding) bool {
	return len(f.value) >= 16 && token(f) && !hashLike().MatchString(f.value)
}

// longToken is for a token that only a space parts from a name of two words.
func longToken(f finding) bool { return len(f.value) >= 16 && token(f) }

// plainCode leaves out the codes that programs and countries have.
func plainCode(f finding) bool {
	return classify(f.value).digit >= 2 && !harmlessCode().MatchString(f.first) && !counted(f) && !technical().MatchString(f.value)
}

var harmlessCode = lazy(`(?i)^(?:error|status|exit|return|response|country|zip|area|postal|source|http|result|reason|language|currency|color|colour|product|item|order|sku|tracking|dial|invite|promo|discount|coupon|event|op|key|char|byte|machine|dress)$`)

// plainKey is for the word key alone, which names many things that are not
// secret.
func plainKey(f finding) bool {
	return len(f.value) >= 16 && classify(f.value).digit > 2 && token(f) && !harmlessKey().MatchString(f.first) && !strings.ContainsAny(f.value, "/:")
}

var harmlessKey = lazy(`(?i)^\W*(?:primary|foreign|consumer|cache|sort|partition|object|public|s3|routing|map|hash|idempotency|dedup\w*|host|composite|unique|index|redis|row|etag|content|commit|digest|lookup|file|blob|lock|event|issue|project|site|publishable|ssh|gpg|pgp|translation|locale|message)\s*$`)

// wordsOnly is for a passphrase of words without a mark around it. A participle
// in front makes it prose: "the password is rotated every quarter".
func wordsOnly(f finding) bool {
	words := strings.ReplaceAll(f.value, "-", " ")
	return phrase(words) && (!participle().MatchString(words) || strings.HasSuffix(strings.TrimRight(f.before, " \"'`“"), ":"))
}

// seedWords leaves out sentences: lists of such words have no articles.
func seedWords(f finding) bool { return !articles().MatchString(f.value) }

var articles = lazy(`(?i)\b(?:the|and|for|with|from|are|was|were|has|have|not|our|its|but|into|must|should|will)\b`)

// quotedPhrase takes a sentence for a passphrase unless it speaks of secrets or
// begins like a message in a dialog.
func quotedPhrase(f finding) bool {
	return !aboutSecrets().MatchString(f.value) && (f.value[0] >= 'a' || phrase(f.value))
}

// settingKey is for names that end in _key. In capitals they are settings; else
// a hash behind one is what it looks like.
func settingKey(f finding) bool {
	return plainKey(f) && (f.first == strings.ToUpper(f.first) || !hashLike().MatchString(f.value))
}

// besideID is for SK, which also names the sort key of a table.
func besideID(f finding) bool {
	around := f.before + f.after
	return token(f) && !partitionKey().MatchString(around) && (classify(f.value).mixed() || accessID().MatchString(around))
}

var (
	accessID     = lazy(`(?i)\bak\b`)
	partitionKey = lazy(`(?i)\bpk\b`)
)

// screenCode leaves out dates.
func screenCode(f finding) bool { return accessCode(f) && !goesOnAsDate().MatchString(f.after) }

var goesOnAsDate = lazy(`^[-/.:]\d`)

func wordsAndNumber(f finding) bool {
	return !aboutSecrets().MatchString(f.value) && !standsFor(f.value)
}

// bitLocker checks a recovery key: eleven divides each of its groups.
func bitLocker(f finding) bool {
	for g := range strings.SplitSeq(f.value, "-") {
		if n, err := strconv.Atoi(g); err != nil || n%11 != 0 || n >= 11<<16 {
			return false
		}
	}
	return true
}

// element takes also a word between tags for a password.
func element(f finding) bool {
	c := classify(f.value)
	return assigned(f) || c.lower >= 6 && c.lower == len(f.value) && !aboutSecrets().MatchString(f.value) && !standsFor(f.value)
}

var participle = lazy(`(?i)^(?:\w+ed|\w+en|read|sent|kept|set|held|valid|empty|case|long|strong|weak|public|shown|part)\b`)

// offTopic are characters of what a Chinese sentence says of passwords in
// general.
const offTopic = "图宽高尺组件样错误长位强策规则字段参找哈希次最超页表列算桶限速率数类型格式接端哪怎协"

func chinese(f finding) bool {
	if strings.ContainsAny(f.first, offTopic) {
		return false
	}
	direct := strings.TrimSpace(f.first) == "" || strings.HasSuffix(strings.TrimSpace(f.before), "是") || strings.HasSuffix(strings.TrimSpace(f.before), "为") ||
		strings.HasSuffix(strings.TrimSpace(f.before), "：") || strings.HasSuffix(strings.TrimSpace(f.before), ":")
	if direct {
		return assigned(f) || accessCode(f) && !expression(f.value) && !named(f.value+"-x")
	}
	return loose(f) || digitsOnly().MatchString(f.value) && strings.HasSuffix(f.first, "成") && !counted(f)
}

func chineseToken(f finding) bool { return !strings.ContainsAny(f.first, offTopic) && token(f) }

func mixedCode(f finding) bool {
	c := classify(f.value)
	return c.digit > 0 && !counted(f) && !technical().MatchString(f.value)
}

func chineseCode(f finding) bool { return !strings.ContainsAny(f.first, offTopic) && accessCode(f) }

// pair is for what stands behind an account.
func pair(f finding) bool {
	v := f.value
	c := classify(v)
	return !standsFor(v) && !expression(v) && !counted(f) && !strings.Contains(v, "/") && c.digit > 0 && c.letters() > 1 &&
		(c.mixed() || strings.ContainsAny(v, "!@#$%^&*?") || c.digit >= 3 && c.letters() >= 3 && !named(v))
}

func givenToken(f finding) bool { return given(f) && token(f) }

// shellSecret is for what a program gets without a name. What is echoed counts
// if it goes to a program that reads a password.
func shellSecret(f finding) bool {
	line := f.before[strings.LastIndexByte(f.before, '\n')+1:]
	if echoed().MatchString(line) {
		return given(f) && readsPassword().MatchString(f.after)
	}
	return given(f) && classify(f.value).letters() > 0
}

var (
	echoed        = lazy(`\becho\s+(?:-n\s+)?["']?(?:[\w-]+:)?$`)
	readsPassword = lazy(`^[?.:]*["']?\s*\|\s*(?:sudo\s+(?:-\w+\s+)*(?:-S|chpasswd)|(?:\w+\s+)*chpasswd|[^|\n]*(?:--password-stdin|--passphrase-fd 0|--with-token)|passwd)`)
)

// grouped leaves out four words of four letters.
func grouped(f finding) bool {
	c := classify(f.value)
	return c.digit > 0 || !phrase(f.value) || strings.Contains(strings.ToLower(f.before), "app") || strings.Contains(f.before, "专用") || strings.Contains(f.before, "授权")
}

func phoneNamed(f finding) bool {
	n := len(digits(f.value))
	return n >= 7 && n <= 15 && personal(finding{value: f.value, after: f.after})
}

package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text of western Europe is mostly ASCII, with single letters above it, so counting characters proves little. What is
// looked at instead are the words that hold such letters: all but a few must be possible words of one language. The
// encodings of central and eastern Europe have other letters at the same bytes (Polish "się" would read "siê"), and most
// of their words are not possible then, since Western languages have strong habits about where their letters may stand.
// Where the letters are the same in both, as in Hungarian "fájl", the result is right anyway.

// languages lists for each language what a word, in lower case, can look like. Compiled when first needed: a start of the
// process should not wait for it.
var languages = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		// French: à and ù end a word, ç precedes a, o, u; the other accents but é precede a consonant.
		regexp.MustCompile(`^(?:[a-zé]|[àù]$|[àù]s$|ç[aouàûâ]|[èêâîôûëï][b-df-hj-np-tvxz]|œ[a-z])+$`),
		// German: ß does not begin a word.
		regexp.MustCompile(`^(?:[a-zäöü]|[a-zäöü]ß)+$`),
		// Spanish: ñ and ü precede a vowel.
		regexp.MustCompile(`^(?:[a-záéíóú]|ñ[aeiouáéíóú]|ü[eiéí])+$`),
		// Portuguese.
		regexp.MustCompile(`^(?:[a-záéíóúà]|ã[oe]|ã$|ãs$|õe|ç[aouãõáóú]|ção|çã|â[mnc]|ê[mnsx]|ô[mnrs]|[culvd][êô]s?$)+$`),
		// Italian: only the last letter has an accent.
		regexp.MustCompile(`^[a-z]*[àèéìòù]$`),
		// Swedish and Finnish.
		regexp.MustCompile(`^[a-zåäöé]+$`),
		// Danish and Norwegian: æ does not end a word, ø only short ones.
		regexp.MustCompile(`^(?:[a-zåé]|[æø][a-zåé])+$|^[a-z]{0,4}ø$`),
		// Catalan.
		regexp.MustCompile(`^(?:[a-zéíóú]|[a-z][àèò][b-df-hj-np-tvxz]|[a-z][àèò]$|ç[aou]|ç$|[aeiou]ï|[aegiq]ü)+$`),
		// Dutch: a diaeresis parts two vowels.
		regexp.MustCompile(`^(?:[a-zé]|[aeiou][ëïöü])+$`),
	}
})

// signs are the characters above ASCII that Western text uses beside letters. They prove nothing.
const signs = "€‚„…‘’“”•–—™\u00A0¡£§©«®°±²³´µ·»¿½×"

// maxWords bounds the words that are looked at.
const maxWords = 2000

// western returns ISO-8859-1, or windows-1252 if sample holds bytes that only that has, if it is sure, else nil.
func western(sample []byte) *codec {
	text, ok, _ := cp1252.strict(sample)
	if !ok {
		return nil
	}
	words, leaning := highWords(text)
	if !leaning {
		return nil
	}
	for _, language := range languages() {
		strange := 0
		for _, w := range words {
			if !language.MatchString(w) {
				if strange++; strange*20 > len(words) {
					break
				}
			}
		}
		if strange*20 > len(words) {
			continue
		}
		for _, b := range sample {
			if b >= 0x80 && b < 0xA0 {
				return cp1252
			}
		}
		return latin1
	}
	return nil
}

// highWords returns the words of text with letters above ASCII, in lower case, and whether at least one has ASCII letters
// too. Nothing is returned if the text holds what Western text does not: other characters, or upper case within words.
func highWords(text string) (words []string, leaning bool) {
	start, high, ascii := 0, false, false
	prev := ' '
	for i, r := range text + "\n" {
		switch {
		case isLetter(r):
			ascii = true
		case isWestern(r):
			if r < 0xDF && (prev >= 'a' && prev <= 'z' || prev >= 0xDF) {
				return nil, false
			}
			high = true
		case r >= utf8.RuneSelf && !strings.ContainsRune(signs, r):
			return nil, false
		default:
			if high && len(words) < maxWords {
				words = append(words, strings.ToLower(text[start:i]))
				leaning = leaning || ascii
			}
			start, high, ascii = i+utf8.RuneLen(r), false, false
		}
		prev = r
	}
	return words, leaning
}

func isWestern(r rune) bool {
	return r >= 0xC0 && r <= 0xFF && r != '×' && r != '÷' || strings.ContainsRune("ŒœŠšŽžŸ", r)
}

// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package endpoint

// Lengths from which on a name may be taken for one that was drawn.
const (
	shortestPrefixed = 8  // cus_ and what follows it
	shortestMixed    = 11 // capital and small letters and digits
	shortestCapitals = 10 // capital letters and digits
	shortestSmall    = 16 // small letters and digits, or letters alone
	lengthOfULID     = 26
)

// IsIdentifier reports whether a name looks like one of many: a number, a UUID,
// 16 and more hexadecimal digits, a ULID, one with a prefix such as
// cus_NffrFeUfNV2Hib, letters and digits as they come by chance, as in base64url,
// or a JSON Web Token. Versions, words, names of files, slugs and languages are none.
func IsIdentifier[T []byte | string](name T) bool {
	digits, hex, others, capitals := 0, 0, 0, 0
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			capitals++
		}
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-':
			hex++
		case len(name) < shortestPrefixed:
			return false
		default:
			others++
		}
	}
	if others == 0 {
		return digits > 0 && (hex == 0 || digits+hex >= 16)
	}
	if digits+capitals == 0 {
		return false
	}
	return isULID(name) || isPrefixed(name) || isDrawn(name) || isToken(name)
}

// isULID reports whether a name is a ULID: 26 digits of Crockford's base32, of
// which the first is below 8.
func isULID[T []byte | string](name T) bool {
	if len(name) != lengthOfULID || name[0] < '0' || name[0] > '7' {
		return false
	}
	for i := range len(name) {
		switch c := name[i] | 0x20; {
		case name[i] >= '0' && name[i] <= '9':
		case c < 'a' || c > 'z' || c == 'i' || c == 'l' || c == 'o' || c == 'u':
			return false
		}
	}
	return true
}

// isPrefixed reports whether words, each with an underscore behind it, say what
// kind of thing the rest identifies.
func isPrefixed[T []byte | string](name T) bool {
	from := 0
	for i := range len(name) {
		if name[i] == '_' {
			if i-from < 2 || i-from > 12 {
				break
			}
			from = i + 1
			continue
		}
		if classOf(name[i]) != small && classOf(name[i]) != capital {
			break
		}
	}
	if from == 0 {
		return false
	}
	const fewDigits, few, fewest = 6, 8, 6
	l := look(name[from:])
	switch {
	case l.marks > 0, l.strange:
		return false
	case l.digits == l.length:
		return l.digits >= fewDigits
	case l.isWordy():
		return false
	case l.digits > 0 && l.smalls > 0 && l.capitals > 0:
		return l.length >= fewest && l.changes >= 3
	case l.digits > 0:
		return l.length >= few && l.changes >= 4
	}
	return l.length >= 12 && l.smalls > 0 && l.capitals > 0 && l.changes >= 4
}

// isDrawn reports whether a name, which may have the marks of base64url, has
// letters and digits as they come by chance.
func isDrawn[T []byte | string](name T) bool {
	end := len(name)
	for end > 0 && len(name)-end < 2 && name[end-1] == '=' {
		end--
	}
	l := look(name[:end])
	mixed := l.smalls > 0 && l.capitals > 0
	switch {
	case l.isWordy() || l.strange || l.marks > 0 && (!mixed || l.hasWord || l.marks*5 > l.length):
		return false
	case mixed && l.digits > 0:
		return l.length >= shortestMixed && l.changes*3 >= l.length
	case mixed:
		return l.length >= shortestSmall && l.changes*3 >= l.length
	case l.digits == 0:
		return false
	case l.capitals > 0:
		return l.length >= shortestCapitals && l.changes >= 4
	}
	return l.length >= shortestSmall && l.digits >= 3 && l.changes >= 5
}

// isToken reports whether a name is a JSON Web Token.
func isToken[T []byte | string](name T) bool {
	dots := 0
	for i := range len(name) {
		switch classOf(name[i]) {
		case other:
			if name[i] != '.' {
				return false
			}
			dots++
		case digit, small, capital, mark:
		}
	}
	return dots >= 2 && name[0] == 'e' && name[1] == 'y' && name[2] == 'J'
}

type class byte

const (
	other class = iota
	digit
	small
	capital
	mark
)

func classOf(c byte) class {
	switch {
	case c >= '0' && c <= '9':
		return digit
	case c >= 'a' && c <= 'z':
		return small
	case c >= 'A' && c <= 'Z':
		return capital
	case c == '-', c == '_':
		return mark
	}
	return other
}

// looks is what letters and digits of a text look like.
type looks struct {
	length, digits, smalls, capitals, marks int

	changes int  // between small letters, capital ones and digits
	words   int  // letters of what may be words
	hasWord bool // between marks there is nothing but a word
	strange bool // there are other characters
}

// isWordy reports whether too much of a text may be words for one that was drawn.
func (l *looks) isWordy() bool {
	if l.length < 12 {
		return l.words*2 > l.length
	}
	return l.words*5 > l.length*3
}

// look goes through a text by what may be its words, as in XMLHttpRequest2.
func look[T []byte | string](text T) looks {
	l := looks{length: len(text)}
	last, from := other, 0
	end := func(to int, of class) {
		if letters := word(text[from:to]); letters > 0 {
			l.words += letters
			if (of == mark || to == len(text)) && (from == 0 || classOf(text[from-1]) == mark) {
				l.hasWord = true
			}
		}
		from = to
	}
	for i := range len(text) {
		of := classOf(text[i])
		switch of {
		case digit:
			l.digits++
		case small:
			l.smalls++
		case capital:
			l.capitals++
		case mark:
			l.marks++
		case other:
			l.strange = true
		}
		switch {
		case of != small && of != capital:
			end(i, of)
			from = i + 1
		case of == capital && last == small:
			end(i, of)
		case of == small && last == capital && i-1 > from:
			end(i-1, of)
		}
		if of != last && i > 0 && of != mark && last != mark {
			l.changes++
		}
		last = of
	}
	end(len(text), other)
	return l
}

// word returns how many letters a run of letters has if it may be a word, with
// vowels and without many consonants in a row, else 0.
func word[T []byte | string](run T) int {
	vowels, consonants := 0, 0
	for i := range len(run) {
		switch run[i] | 0x20 {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels++
			consonants = 0
		default:
			if consonants++; consonants > 3 {
				return 0
			}
		}
	}
	if len(run) < 3 || vowels*4 < len(run) {
		return 0
	}
	return len(run)
}

//! The structure of JSON, byte by byte: where a value begins and ends. Values stay text.
//!
//! Strings and nested values are scanned eight bytes at a time.

/// Why a value could not be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end within it.
    End,
    /// It is no JSON.
    Malformed,
}

/// The text of a value, strings with their quotes; empty where there is none.
pub(super) type Raw<'a> = &'a [u8];

/// A position in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of the first byte of `word` that is zero, and perhaps of later bytes.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[inline]
fn repeated(byte: u8) -> u64 {
    ONES * u64::from(byte)
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The bytes from here to a later position of the same bytes.
    pub(super) fn until(&self, later: &Self) -> Raw<'a> {
        &self.bytes[self.at..later.at]
    }

    /// The next byte that is no white space.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        loop {
            match *self.bytes.get(self.at).ok_or(Stop::End)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    /// Passes the byte that [`Self::peek`] has found.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.at += 1;
    }

    /// Passes the next byte if it is `byte`, and returns whether it was.
    #[inline]
    pub(super) fn accept(&mut self, byte: u8) -> Result<bool, Stop> {
        let found = self.peek()? == byte;
        self.at += usize::from(found);
        Ok(found)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.accept(byte)? { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// The next key of an object with its colon, without quotes; `None` at the end of the object, which is passed. A
    /// comma before it is passed too, wherever it is.
    #[inline]
    pub(super) fn key(&mut self) -> Result<Option<Raw<'a>>, Stop> {
        loop {
            match self.peek()? {
                b'"' => break,
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(None);
                }
                _ => return Err(Stop::Malformed),
            }
        }
        self.at += 1;
        let begin = self.at;
        self.pass_string()?;
        let key = &self.bytes[begin..self.at - 1];
        self.expect(b':')?;
        Ok(Some(key))
    }

    #[inline]
    pub(super) fn value(&mut self) -> Result<Raw<'a>, Stop> {
        let first = self.peek()?;
        let begin = self.at;
        match first {
            b'"' => {
                self.at += 1;
                self.pass_string()?;
            }
            b'{' | b'[' => self.pass_nested()?,
            b',' | b':' | b'}' | b']' => return Err(Stop::Malformed),
            _ => self.pass_literal()?,
        }
        Ok(&self.bytes[begin..self.at])
    }

    #[inline]
    fn word(&self) -> Option<u64> {
        self.bytes.get(self.at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Passes the rest of a string with its closing quote.
    #[inline]
    fn pass_string(&mut self) -> Result<(), Stop> {
        loop {
            while let Some(word) = self.word() {
                let hits = zeros(word ^ repeated(b'"')) | zeros(word ^ repeated(b'\\'));
                if hits != 0 {
                    self.at += hits.trailing_zeros() as usize / 8;
                    break;
                }
                self.at += 8;
            }
            match *self.bytes.get(self.at).ok_or(Stop::End)? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' if self.at + 1 >= self.bytes.len() => return Err(Stop::End),
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Passes an object or a list with everything in it.
    #[inline]
    fn pass_nested(&mut self) -> Result<(), Stop> {
        let mut depth = 0_u64;
        loop {
            while let Some(word) = self.word() {
                // Brackets and braces with these bits set are 0x7f, and so are `Y`, `y`, `_`.
                let hits = zeros((word | repeated(0x26)) ^ repeated(0x7f)) | zeros(word ^ repeated(b'"'));
                if hits != 0 {
                    self.at += hits.trailing_zeros() as usize / 8;
                    break;
                }
                self.at += 8;
            }
            let byte = *self.bytes.get(self.at).ok_or(Stop::End)?;
            self.at += 1;
            match byte {
                b'"' => self.pass_string()?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return Ok(()),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
    }

    /// Passes a number or a word, such as `null` and `NaN`.
    #[inline]
    fn pass_literal(&mut self) -> Result<(), Stop> {
        loop {
            match *self.bytes.get(self.at).ok_or(Stop::End)? {
                b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' => return Ok(()),
                b'"' | b'{' | b'[' | b':' => return Err(Stop::Malformed),
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<&str, Stop> {
        Scanner::new(text.as_bytes()).value().map(|raw| std::str::from_utf8(raw).unwrap())
    }

    #[test]
    fn a_value_ends_where_json_says() {
        for (text, expected) in [
            (r#" "a\"b\\" , 1"#, r#""a\"b\\""#),
            (r#""long text without any quote in it" "#, r#""long text without any quote in it""#),
            ("[[8, 1024], [], {\"]\": \"}\"}], 5", "[[8, 1024], [], {\"]\": \"}\"}]"),
            ("{\"Yy_\": [\"\\\"]\"]}}", "{\"Yy_\": [\"\\\"]\"]}"),
            ("-1.5e3}", "-1.5e3"),
            ("NaN]", "NaN"),
        ] {
            assert_eq!(value(text), Ok(expected));
        }
    }

    #[test]
    fn a_value_without_its_end_needs_more_bytes() {
        let whole = r#"{"a": [1, "b\"c", {"d": null}], "e": "0123456789"}"#;
        for end in 0..whole.len() {
            assert_eq!(value(&whole[..end]), Err(Stop::End), "{}", &whole[..end]);
        }
        assert_eq!(value(whole), Ok(whole));
        assert_eq!(value("12"), Err(Stop::End), "more digits may follow");
    }

    #[test]
    fn a_comma_too_many_is_no_end_of_an_object() {
        let mut scanner = Scanner::new(br#" , "a" : 1, , "b\"": 2 , } "#);
        assert_eq!(scanner.key(), Ok(Some(&b"a"[..])));
        assert_eq!(scanner.value(), Ok(&b"1"[..]));
        assert_eq!(scanner.key(), Ok(Some(&br#"b\""#[..])));
        assert_eq!(scanner.value(), Ok(&b"2"[..]));
        assert_eq!(scanner.key(), Ok(None));
        assert_eq!(Scanner::new(b"5").key(), Err(Stop::Malformed));
    }
}

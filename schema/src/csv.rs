//! Comma-separated values as profilers write them: quoted or bare, a text over several lines, quotes within a text doubled or
//! not, a last line that was cut off.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::content::skip_byte_order_mark;

/// The records of a file. Memory is that of the longest record.
pub(crate) struct Csv<R> {
    reader: R,
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// The last field that is quoted.
    quoted: Option<usize>,
    /// Position of the record in the file, from 0 for the header.
    number: i64,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    is_quoted: bool,
    /// True where quotes within the field are doubled.
    is_doubled: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
    /// Position in the file, from 0 for the header.
    pub(crate) number: i64,
    /// True where the file ends within the record, or right behind it without an end of line.
    pub(crate) is_cut: bool,
}

impl<R: BufRead> Csv<R> {
    pub(crate) fn new(mut reader: R) -> io::Result<Self> {
        skip_byte_order_mark(&mut reader)?;
        Ok(Self { reader, bytes: Vec::new(), fields: Vec::new(), quoted: None, number: -1 })
    }

    /// The next record that is no empty line.
    pub(crate) fn record(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            self.bytes.clear();
            self.fields.clear();
            self.quoted = None;
            self.number += 1;
            if !self.more()? {
                return Ok(None);
            }
            let is_cut = self.split()?;
            if is_cut || self.fields.len() > 1 || self.fields[0].start < self.fields[0].end {
                break Ok(Some(Record {
                    bytes: &self.bytes,
                    fields: &self.fields,
                    number: self.number,
                    is_cut,
                }));
            }
        }
    }

    fn more(&mut self) -> io::Result<bool> {
        Ok(self.reader.read_until(b'\n', &mut self.bytes)? > 0)
    }

    /// Finds the fields of the record; returns whether it lacks its end of line.
    fn split(&mut self) -> io::Result<bool> {
        let mut at = 0;
        loop {
            let quoted = self.bytes.get(at) == Some(&b'"');
            let field = if quoted { self.quoted(at + 1)? } else { self.bare(at) };
            self.push(field);
            at = field.end + usize::from(quoted);
            match self.bytes.get(at) {
                Some(b',') => at += 1,
                Some(_) => return Ok(false),
                None => return Ok(true),
            }
        }
    }

    /// Adds a field. A bare one that ends with a quote is the rest of a text in which a quote stood before a comma.
    fn push(&mut self, field: Field) {
        let is_rest = !field.is_quoted && self.bytes[field.start..field.end].ends_with(b"\"");
        if let Some(first) = self.quoted.filter(|_| is_rest) {
            self.fields.truncate(first + 1);
            (self.fields[first].end, self.fields[first].is_doubled) = (field.end - 1, false);
        } else {
            if field.is_quoted {
                self.quoted = Some(self.fields.len());
            }
            self.fields.push(field);
        }
    }

    fn bare(&self, start: usize) -> Field {
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|byte| matches!(byte, b',' | b'\n'));
        let length = length.unwrap_or(rest.len());
        // The carriage return stays behind the field.
        let length = if rest.get(length) == Some(&b'\n') && rest[..length].ends_with(b"\r") {
            length - 1
        } else {
            length
        };
        Field { start, end: start + length, is_quoted: false, is_doubled: false }
    }

    /// The field behind an opening quote. rocprofv3 does not double quotes within a text, so a quote ends it only before a
    /// comma or the end of the line.
    fn quoted(&mut self, start: usize) -> io::Result<Field> {
        let (mut at, mut has_pairs, mut has_single) = (start, false, false);
        loop {
            let Some(found) = self.bytes[at..].iter().position(|&byte| byte == b'"') else {
                at = self.bytes.len();
                if !self.more()? {
                    return Ok(Field { start, end: at, is_quoted: true, is_doubled: has_pairs });
                }
                continue;
            };
            let quote = at + found;
            if self.ends_field(quote + 1) {
                return Ok(Field {
                    start,
                    end: quote,
                    is_quoted: true,
                    is_doubled: has_pairs && !has_single,
                });
            }
            if self.bytes.get(quote + 1) != Some(&b'"') {
                (at, has_single) = (quote + 1, true);
            } else if has_single && self.ends_field(quote + 2) {
                return Ok(Field { start, end: quote + 1, is_quoted: true, is_doubled: false });
            } else {
                (at, has_pairs) = (quote + 2, true);
            }
        }
    }

    fn ends_field(&self, at: usize) -> bool {
        matches!(&self.bytes[at.min(self.bytes.len())..], [] | [b',' | b'\n', ..] | [b'\r', b'\n', ..])
    }
}

impl<'a> Record<'a> {
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    fn bytes(&self, at: usize) -> Option<&'a [u8]> {
        let field = self.fields.get(at)?;
        self.bytes.get(field.start..field.end)
    }

    /// The text of a field; `None` where the record has no such field.
    pub(crate) fn text(&self, at: Option<usize>) -> Option<Cow<'a, str>> {
        let at = at?;
        let text = String::from_utf8_lossy(self.bytes(at)?);
        let is_doubled = self.fields[at].is_doubled;
        Some(if is_doubled { Cow::Owned(text.replace("\"\"", "\"")) } else { text })
    }

    /// The whole number of a field, decimal or hexadecimal; the bits of one beyond an `i64` are kept.
    pub(crate) fn int(&self, at: Option<usize>) -> Option<i64> {
        let text = std::str::from_utf8(self.bytes(at?)?).ok()?.trim();
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
            None => text.parse().ok().or_else(|| text.parse().ok().map(u64::cast_signed)),
        }
    }

    /// The number of a field that is not negative and fits.
    pub(crate) fn unsigned<T: TryFrom<i64>>(&self, at: Option<usize>) -> Option<T> {
        self.int(at).and_then(|value| T::try_from(value).ok())
    }

    pub(crate) fn real(&self, at: Option<usize>) -> Option<f64> {
        self.text(at)?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<(Vec<String>, bool)> {
        let mut csv = Csv::new(text.as_bytes()).unwrap();
        let mut records = Vec::new();
        while let Some(record) = csv.record().unwrap() {
            let fields = (0..record.len()).map(|at| record.text(Some(at)).unwrap().into_owned());
            records.push((fields.collect(), record.is_cut));
        }
        records
    }

    fn one(text: &str) -> Vec<String> {
        let [(fields, false)] = &records(text)[..] else { panic!("{:?}", records(text)) };
        fields.clone()
    }

    #[test]
    fn a_quoted_text_has_commas_lines_and_quotes() {
        for (text, fields) in [
            ("\"A\",1,\"f(int, int)\"\n", ["A", "1", "f(int, int)"]),
            ("\"A\",,\"\"\r\n", ["A", "", ""]),
            ("a,\"two\nlines\",c\n", ["a", "two\nlines", "c"]),
            ("a,\"say \"hi\" now\",c\n", ["a", "say \"hi\" now", "c"]),
            ("a,\"say \"hi\"\",c\n", ["a", "say \"hi\"", "c"]),
            ("a,\"\"hi\"\",c\n", ["a", "\"hi\"", "c"]),
            ("a,\"f(\"\"x\"\", 1)\",c\n", ["a", "f(\"x\", 1)", "c"]),
            ("a,\"\"\"hi\"\"\",c\n", ["a", "\"hi\"", "c"]),
            ("a,\"say \"hi\", \"you\", he\",c\n", ["a", "say \"hi\", \"you\", he", "c"]),
            ("\u{feff}a,b,c\n", ["a", "b", "c"]),
        ] {
            assert_eq!(one(text), fields, "{text:?}");
        }
    }

    #[test]
    fn a_record_without_its_end_says_so() {
        let text = "a,\"b\",3\n\nc,\"d";
        assert_eq!(
            records(text),
            [(vec!["a".into(), "b".into(), "3".into()], false), (vec!["c".into(), "d".into()], true)]
        );
        for end in 0..text.len() {
            records(&text[..end]);
        }
    }

    #[test]
    fn numbers_are_read_to_64_bits() {
        let mut csv = Csv::new(&b"18446744073709551615,\"0x00007f5500000000\", 5 ,x,-1,1.5\n"[..]).unwrap();
        let record = csv.record().unwrap().unwrap();
        let numbers: Vec<_> = (0..6).map(|at| record.int(Some(at))).collect();
        assert_eq!(numbers, [Some(-1), Some(0x7f55_0000_0000), Some(5), None, Some(-1), None]);
        assert_eq!((record.unsigned::<u32>(Some(4)), record.real(Some(5))), (None, Some(1.5)));
    }
}

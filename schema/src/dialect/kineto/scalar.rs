//! The values of scalars, exactly as their digits say: numbers may be text, and no number becomes a double.

use std::borrow::Cow;

use super::scan::Raw;

/// A text without its quotes and escapes; a number as it is spelled; `None` for anything else.
pub(super) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    match raw {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Some(String::from_utf8_lossy(inner)),
        [b'"', inner @ .., b'"'] => Some(match serde_json::from_slice::<String>(raw) {
            Ok(text) => Cow::Owned(text),
            Err(_) => String::from_utf8_lossy(inner),
        }),
        [] | [b'{' | b'[', ..] | b"null" => None,
        _ => Some(String::from_utf8_lossy(raw)),
    }
}

/// A scalar without quotes and white space around it.
#[inline]
pub(super) fn bare(raw: Raw<'_>) -> Raw<'_> {
    match raw {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => raw,
    }
}

/// A whole number: signed, unsigned to 2^64 (its bits are kept), hexadecimal with `0x`.
pub(super) fn whole(raw: Raw<'_>) -> Option<i64> {
    let bare = bare(raw);
    if bare.len() <= 18 && !bare.is_empty() && bare.iter().all(u8::is_ascii_digit) {
        return Some(bare.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')));
    }
    let text = std::str::from_utf8(bare).ok()?;
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|value| value as i64);
    }
    let bits = || text.parse::<u64>().ok().map(|value| value as i64);
    let decimal = || scaled(bare, 0).filter(|_| text.contains(['.', 'e', 'E']));
    text.parse().ok().or_else(bits).or_else(decimal)
}

/// A number that is not negative and fits.
pub(super) fn unsigned<T: TryFrom<i64>>(raw: Raw<'_>) -> Option<T> {
    whole(raw).and_then(|value| T::try_from(value).ok())
}

/// A text and the number that it ends with.
pub(super) fn numbered(raw: Raw<'_>) -> (String, Option<i64>) {
    if let Some(number) = whole(raw) {
        return (String::new(), Some(number));
    }
    let text = text(raw).unwrap_or_default();
    let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit());
    (prefix.to_owned(), text[prefix.len()..].parse().ok())
}

/// The number of a thread or a stream: text has it at its end.
#[inline]
pub(super) fn number(raw: Raw<'_>) -> Option<i64> {
    let inner = bare(raw);
    let digits = inner.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == inner.len() { whole(raw) } else { numbered(raw).1 }
}

/// Three sizes.
pub(super) fn axes<T: TryFrom<i64>>(raw: Raw<'_>) -> Option<[T; 3]> {
    let inner = raw.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut sizes = inner.split(|&byte| byte == b',').map(|size| unsigned(size.trim_ascii()));
    let axes = [sizes.next()??, sizes.next()??, sizes.next()??];
    sizes.next().is_none().then_some(axes)
}

/// Microseconds as nanoseconds; what is below a nanosecond is rounded half up.
#[inline]
pub(super) fn nanoseconds(raw: Raw<'_>) -> Option<i64> {
    let bare = bare(raw);
    // Of 18 digits the value in ns fits as long as at most 15 are before the point.
    let mut value = 0_i64;
    let mut point = bare.len();
    if bare.is_empty() || bare.len() > 19 {
        return scaled(bare, 3);
    }
    for (at, &byte) in bare.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
            b'.' if point == bare.len() => point = at,
            _ => return scaled(bare, 3),
        }
    }
    match (point, bare.len() - point) {
        (1..=15, 0) => Some(value * 1000),
        (1..=15, 2) => Some(value * 100),
        (1..=15, 3) => Some(value * 10),
        (1..=15, 4) => Some(value),
        _ => scaled(bare, 3),
    }
}

/// A decimal number times a power of ten, in any spelling of JSON.
#[cold]
fn scaled(bare: Raw<'_>, power: i32) -> Option<i64> {
    let text = std::str::from_utf8(bare).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    if before.is_empty() && after.is_empty() {
        return None;
    }
    // The number of digits before the point once it is moved.
    let point = i64::from(exponent) + i64::from(power) + before.len() as i64;
    let mut value = 0_i128;
    let mut digits = before.bytes().chain(after.bytes());
    if !digits.clone().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    for _ in 0..point.max(0) {
        let next = digits.next();
        if value == 0 && next.is_none() {
            return Some(0);
        }
        value = value.checked_mul(10)? + i128::from(next.unwrap_or(b'0') - b'0');
        if value > i128::from(i64::MAX) {
            return None;
        }
    }
    let half_or_more = point >= 0 && digits.next().is_some_and(|digit| digit >= b'5');
    let value = i64::try_from(value + i128::from(half_or_more)).ok()?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_become_nanoseconds_to_the_last_digit() {
        for (text, expected) in [
            ("4481292347478.689", Some(4_481_292_347_478_689)),
            ("2211714153399.54", Some(2_211_714_153_399_540)),
            ("1.5", Some(1_500)),
            ("7", Some(7_000)),
            ("\"12.25\"", Some(12_250)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("1.2345", Some(1_235)),
            ("-3.5", Some(-3_500)),
            ("1.5e3", Some(1_500_000)),
            ("25E-1", Some(2_500)),
            ("1e-30", Some(0)),
            ("1790857026000000.123", Some(1_790_857_026_000_000_123)),
            ("1e30", None),
            ("0e999", Some(0)),
            ("NaN", None),
            ("", None),
            ("\"\"", None),
            ("1.2.3", None),
            ("null", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_whole_number_is_read_in_any_spelling() {
        for (text, expected) in [
            ("5", Some(5)),
            ("\"5\"", Some(5)),
            ("-1", Some(-1)),
            ("18446744073709551615", Some(-1)),
            ("\"0x7f55\"", Some(0x7f55)),
            ("2.0", Some(2)),
            ("true", None),
            ("null", None),
            ("[1]", None),
            ("", None),
        ] {
            assert_eq!(whole(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_text_has_no_quotes_and_no_escapes() {
        for (raw, expected) in [
            (r#""aten::mm""#, Some("aten::mm")),
            (r#""a\"b\u00e9\n""#, Some("a\"bé\n")),
            (r#""bad \x escape""#, Some("bad \\x escape")),
            ("17", Some("17")),
            ("null", None),
            ("[]", None),
        ] {
            assert_eq!(text(raw.as_bytes()).as_deref(), expected, "{raw}");
        }
        assert_eq!(text(b"\"\xff\"").as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn three_sizes_are_a_shape() {
        assert_eq!(axes(b"[4096, 1, 1]"), Some([4096_u32, 1, 1]));
        assert_eq!(axes::<u32>(b"[4096, 1]"), None);
        assert_eq!(axes::<u32>(b"[-1, 1, 1]"), None);
    }

    #[test]
    fn a_process_id_may_have_a_label_in_front() {
        assert_eq!(numbered(b"\"[TP00] 2774\""), ("[TP00] ".to_owned(), Some(2774)));
        assert_eq!(numbered(b"\"Spans\""), ("Spans".to_owned(), None));
        assert_eq!(numbered(b"-1"), (String::new(), Some(-1)));
        assert_eq!(number(b"\"[TP00] 7\""), Some(7));
        assert_eq!(number(b"\"7\""), Some(7));
        assert_eq!(number(b"\"PyTorch Profiler\""), None);
    }
}

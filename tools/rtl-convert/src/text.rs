//! Numbers and texts as bytes.

#[inline]
pub fn number(value: impl itoa::Integer, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

pub fn json(text: &str, bytes: &mut Vec<u8>) {
    // A text is always valid JSON, and memory always takes it.
    let _ = serde_json::to_writer(bytes, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_written_as_it_is() {
        for value in [0, 1, 9, 10, 99, 100, 101, 12_345, 999_999, 1_000_000, u64::MAX] {
            let mut bytes = Vec::new();
            number(value, &mut bytes);
            assert_eq!(String::from_utf8(bytes).expect("digits"), value.to_string());
        }
        let mut bytes = Vec::new();
        number(i64::MIN, &mut bytes);
        assert_eq!(bytes, i64::MIN.to_string().as_bytes());
    }

    #[test]
    fn any_text_is_one_json_string() {
        for text in ["", "\"quoted\"", "back\\slash", "\u{1}\n\t", "\u{1f600}", &"x".repeat(65536)] {
            let mut bytes = Vec::new();
            json(text, &mut bytes);
            assert_eq!(serde_json::from_slice::<String>(&bytes).expect("JSON"), text);
        }
    }
}

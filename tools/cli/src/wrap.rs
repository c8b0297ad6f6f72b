use unicode_width::UnicodeWidthStr;

/// `text` with line breaks, so that it fits `width` columns beside and below an indentation of `indent` columns. A word
/// that is wider than that has a line of its own.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut used = indent;
    for word in text.split(' ') {
        let needed = word.width();
        if used > indent && used + 1 + needed > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if !lines.is_empty() {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += needed;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_goes_on_under_its_beginning() {
        assert_eq!(wrapped("one two three four", 12, 2), "one two\n  three four");
        assert_eq!(wrapped("a-word-wider-than-the-screen b", 12, 2), "a-word-wider-than-the-screen\n  b");
    }
}

//! Texts of traces may have any character; what is printed of them cannot control the terminal, page or issue that shows it.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces control characters by their symbols, so that a text stays on its line and cannot control the terminal.
/// Characters that are invisible or change the direction of the text become their numbers, `\u{202e}`.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    // The first bytes of such characters; most of them start others too.
    let may_start = |byte: u8| {
        byte < 0x20 || matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xdb | 0xdc | 0xe1 | 0xe2 | 0xef | 0xf0 | 0xf3)
    };
    if !text.bytes().any(may_start) || !text.chars().any(|c| c.is_control() || is_format(c)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match u32::from(character) {
            code @ 0..0x20 => {
                escaped.push(char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            0x7f => escaped.push('\u{2421}'),
            _ if character.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            code if is_format(character) => _ = write!(escaped, "\\u{{{code:x}}}"),
            _ => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// Unicode's format characters (category Cf) and separators of lines and paragraphs.
fn is_format(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters that mean something in GitHub's Markdown, also within a word.
const MARKDOWN: &[char] =
    &['`', '*', '_', '~', '[', ']', '<', '>', '\\', '|', '&', '@', '#', '$', '!', ':', '/', '{', '}'];

/// A text of a trace within Markdown: words with characters that could be markup, links, mentions, references, HTML or
/// formulas become code, so that they show as they are and do nothing.
pub fn markdown_text(text: &str) -> String {
    let text = escape_control(text);
    let mut result = String::with_capacity(text.len());
    let mut code: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let plain = word.trim_end_matches([':', ',']);
        if plain.contains(MARKDOWN) || plain.to_ascii_lowercase().starts_with("www.") {
            code.push(word);
            continue;
        }
        push_code(&mut result, &mut code);
        push_word(&mut result, word);
    }
    push_code(&mut result, &mut code);
    result
}

/// A text of a trace as a whole: as it is, or as code if a part of it could be markup.
pub fn markdown_name(text: &str) -> String {
    let text = escape_control(text);
    match markdown_text(&text) == text {
        true => text.into_owned(),
        false => markdown_code(&text),
    }
}

pub fn markdown_code(text: &str) -> String {
    let text = escape_control(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Spaces keep a backtick at the end of the text from the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn push_code(result: &mut String, words: &mut Vec<&str>) {
    if words.is_empty() {
        return;
    }
    let text = words.join(" ");
    let name = text.trim_end_matches([':', ',']);
    let code = format!("{}{}", markdown_code(name), &text[name.len()..]);
    push_word(result, &code);
    words.clear();
}

fn push_word(result: &mut String, word: &str) {
    if !result.is_empty() {
        result.push(' ');
    }
    result.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_symbols_and_invisible_ones_numbers() {
        assert_eq!(escape_control("a\nb\x1b[31m"), "a␊b␛[31m");
        assert_eq!(escape_control("gemm\u{202e}txt"), "gemm\\u{202e}txt");
        assert_eq!(
            escape_control("a\u{200b}b\u{2066}c\u{feff}\u{e0041}"),
            "a\\u{200b}b\\u{2066}c\\u{feff}\\u{e0041}"
        );
        assert_eq!(escape_control("ядро カーネル …"), "ядро カーネル …");
    }

    #[test]
    fn names_in_markdown_are_neither_links_nor_mentions_nor_markup() {
        for (text, markdown) in [
            ("12 copies with length zero, id 7", "12 copies with length zero, id 7"),
            ("did not end: f<int, (a)2>(g) on GPU 0", "did not end: `f<int, (a)2>(g)` on GPU 0"),
            ("ask @octocat about #12", "ask `@octocat` about `#12`"),
            ("[x](http://evil) www.evil.org", "`[x](http://evil) www.evil.org`"),
            ("a`b ``", "``` a`b `` ```"),
            ("&lt; $x$ \u{202e}", "`&lt; $x$ \\u{202e}`"),
        ] {
            assert_eq!(markdown_text(text), markdown);
        }
        assert_eq!(markdown_name("gemm"), "gemm");
        assert_eq!(markdown_name("copy of a_b"), "`copy of a_b`");
    }
}

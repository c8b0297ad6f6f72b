//! The parts of a demangled C++ signature, and its names without types.

use std::ops::Range;

use crate::identity;

/// A part of a signature outside all brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words, spaces and colons.
    Text(Range<usize>),
    /// A word that contains brackets or spaces: `operator()`, `(anonymous namespace)`, `{lambda(int)#1}`.
    Atom(Range<usize>),
    /// Template arguments (`<`), parameters (`(`) or `[`, with their brackets.
    Group(u8, Range<usize>),
}

impl Part {
    /// The bytes of the signature that the parameter spans.
    pub fn range(&self) -> Range<usize> {
        match self {
            Self::Text(range) | Self::Atom(range) | Self::Group(_, range) => range.clone(),
        }
    }
}

/// Operators whose symbol contains a bracket; the longest comes first.
const OPERATORS: [&str; 15] = [
    "operator<<=",
    "operator>>=",
    "operator<=>",
    "operator->*",
    "operator()",
    "operator[]",
    "operator<<",
    "operator>>",
    "operator<=",
    "operator>=",
    "operator->",
    "operator<",
    "operator>",
    "operator new[]",
    "operator delete[]",
];

/// The parts of a signature in order. A bracket that is not closed reaches to the end.
pub fn parts(name: &str) -> Vec<Part> {
    let bytes = name.as_bytes();
    let mut parts = Vec::new();
    let (mut text, mut at) = (0, 0);
    while at < bytes.len() {
        let part = match bytes[at] {
            b'(' if name[at..].starts_with("(anonymous") => Part::Atom(at..closing(bytes, at)),
            b'{' => Part::Atom(at..closing(bytes, at)),
            bracket @ (b'(' | b'<' | b'[') => Part::Group(bracket, at..closing(bytes, at)),
            b'o' => match operator(bytes, at) {
                Some(end) => Part::Atom(at..end),
                None => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += 1;
                continue;
            }
        };
        if text < at {
            parts.push(Part::Text(text..at));
        }
        at = part.range().end;
        text = at;
        parts.push(part);
    }
    if text < at {
        parts.push(Part::Text(text..at));
    }
    parts
}

/// The end of the operator that begins at `at`; a conversion (`operator float`) has its type.
fn operator(bytes: &[u8], at: usize) -> Option<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let rest = &bytes[at..];
    if !rest.starts_with(b"operator") || at.checked_sub(1).is_some_and(|before| is_word(bytes[before])) {
        return None;
    }
    if let Some(symbol) = OPERATORS.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
        return Some(at + symbol.len());
    }
    let after = rest.strip_prefix(b"operator ")?;
    let length = after.iter().take_while(|&&byte| !matches!(byte, b'(' | b'<' | b'[')).count();
    Some(at + "operator ".len() + length)
}

/// The end of the bracket that opens at `open`: angle brackets count only outside of round ones, where they are
/// template arguments and not comparisons.
fn closing(bytes: &[u8], open: usize) -> usize {
    let mut stack = Vec::new();
    let mut at = open;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'(' | b'[' | b'{' => stack.push(byte),
            b'<' if stack.last().is_none_or(|&top| top == b'<') => stack.push(byte),
            b'>' if stack.last() == Some(&b'<') => _ = stack.pop(),
            b')' | b']' | b'}' => {
                let opening = [b'(', b'[', b'{'][usize::from(byte == b']') + 2 * usize::from(byte == b'}')];
                if let Some(depth) = stack.iter().rposition(|&open| open == opening) {
                    stack.truncate(depth);
                }
            }
            b'o' if stack.last() == Some(&b'<') => {
                if let Some(end) = operator(bytes, at) {
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
        if stack.is_empty() {
            return at;
        }
    }
    bytes.len()
}

/// The name of a function by the rule of rocprofv3's `--truncate-kernels`: without template arguments, parameters and
/// all that stands before the last `:`. `void at::native::reduce_kernel<512, 1>(int, float)` becomes `reduce_kernel`.
/// Names that are no C++ signature (Tensile's, Triton's) stay whole. Distinct kernels may get equal short names.
///
/// rocprofv3 matches brackets of one kind only. Where that loses the name (`f<(4 > 2)>()`, `A::operator()(int) const`),
/// this function keeps it.
pub fn shorten(name: &str) -> &str {
    part_of_path(identity(name), |separator| matches!(separator, ' ' | ':'))
}

/// The name of a function with its namespaces and without return type, parameters and its template arguments:
/// `at::native::reduce_kernel`.
pub fn qualified(name: &str) -> &str {
    part_of_path(identity(name), |separator| separator == ' ')
}

/// The function's name from the last separator on.
fn part_of_path(name: &str, separates: impl Fn(char) -> bool) -> &str {
    let mut parts = parts(name);
    let mut end = name.len();
    let mut has_parameters = false;
    while let Some(last) = parts.last() {
        match last {
            Part::Group(bracket, range) => {
                (end, has_parameters) = (range.start, *bracket == b'(');
            }
            Part::Text(range) => {
                let text = &name[range.start..end.min(range.end)];
                let is_qualifier = |word| matches!(word, "const" | "volatile" | "noexcept" | "&" | "&&");
                if parts.len() > 1
                    && !has_parameters
                    && text.split(' ').all(|word| word.is_empty() || is_qualifier(word))
                {
                    end = range.start;
                } else {
                    end = range.start + text.trim_end().len();
                    break;
                }
            }
            Part::Atom(range) => {
                end = range.end;
                break;
            }
        }
        parts.pop();
    }
    let start = parts.iter().rev().find_map(|part| match part {
        Part::Text(range) => {
            let text = &name[range.start..range.end.min(end)];
            text.rfind(&separates).map(|separator| range.start + separator + 1)
        }
        _ => None,
    });
    match name.get(start.unwrap_or(0)..end) {
        Some(short) if !short.is_empty() => short,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_the_function_without_namespaces_and_types() {
        for (full, short) in [
            (
                "void at::native::vectorized_elementwise_kernel<4>(int, float)",
                "vectorized_elementwise_kernel",
            ),
            ("add_rmsn(float*, float const*)", "add_rmsn"),
            ("Cijk_Ailk_Bljk_BBS_BH_MT128x128x64.kd", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x64"),
            ("void (anonymous namespace)::softmax_warp<float, 2>(float*)", "softmax_warp"),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
            ("ns::A<int>::run(int)", "run"),
            ("void f<int>(int) [clone .isra.0]", "f"),
            ("void f<int>(int) [clone .kd]", "f"),
        ] {
            assert_eq!(shorten(full), short, "{full}");
        }
    }

    #[test]
    fn brackets_of_one_kind_do_not_close_those_of_another() {
        for (full, short) in [
            ("void f<std::enable_if<(4 > 2), int>::type>(int)", "f"),
            ("std::enable_if<((sizeof(T)) >= (8)) && (1 < 2), void>::type ns::g<float>(float*)", "g"),
            ("void ns::h<(bool)1, &(ns::compare(int, int))>(int)", "h"),
            ("decltype(a->b(c)) ns::k<int>(int)", "k"),
        ] {
            assert_eq!(shorten(full), short, "{full}");
        }
    }

    #[test]
    fn operators_lambdas_and_functions_without_a_type_keep_their_name() {
        for (full, short) in [
            ("Op::operator()(int*)", "operator()"),
            ("Op::operator()(int*) const", "operator()"),
            ("bool ns::operator< <int>(A<int>, A<int>)", "operator<"),
            ("std::ostream& ns::operator<<(std::ostream&, A const&)", "operator<<"),
            ("A::operator->() const", "operator->"),
            ("A::operator float() const", "operator float"),
            ("void f<&A::operator> >(int)", "f"),
            ("run(int)::{lambda(float)#1}::operator()(float) const", "operator()"),
            ("run(int)::{lambda(float)#1}", "{lambda(float)#1}"),
            ("my_operator(int)", "my_operator"),
        ] {
            assert_eq!(shorten(full), short, "{full}");
        }
    }

    #[test]
    fn damaged_names_are_no_panic() {
        for (full, short) in [
            ("", ""),
            ("(", "("),
            ("<>", "<>"),
            ("const", "const"),
            ("f<int, (cut", "f"),
            ("f>)]}", "f>)]}"),
            ("ядро<int>(int)", "ядро"),
            (" ", " "),
        ] {
            assert_eq!(shorten(full), short, "{full}");
        }
        assert_eq!(shorten(&format!("f{}", "<(".repeat(100_000))), "f");
    }

    #[test]
    fn a_qualified_name_keeps_its_namespaces() {
        for (full, path) in [
            (
                "void at::native::vectorized_elementwise_kernel<4>(int, float)",
                "at::native::vectorized_elementwise_kernel",
            ),
            (
                "void (anonymous namespace)::softmax_warp<float, 2>(float*)",
                "(anonymous namespace)::softmax_warp",
            ),
            ("Op::operator()(int*)", "Op::operator()"),
            ("ns::A<int>::run(int)", "ns::A<int>::run"),
            ("void f<std::enable_if<(4 > 2), int>::type>(int)", "f"),
        ] {
            assert_eq!(qualified(full), path, "{full}");
        }
    }
}

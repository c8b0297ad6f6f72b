//! The identity of kernel names, and their demangled form.

/// The part of a stored kernel name that identifies the kernel: one trailing `.kd`, ` [clone .kd]` is not
/// part of it (ROCm's code objects name the descriptor, tools strip it or not).
pub fn identity(name: &str) -> &str {
    name.strip_suffix(".kd").or_else(|| name.strip_suffix(" [clone .kd]")).unwrap_or(name)
}

/// The demangled form of an Itanium-mangled name; `None` where it is not one or is malformed (compilers
/// do emit such names), so that the caller keeps the name as it is.
///
/// Names come from whatever a GPU is given to run, so there are bounds: a form of more than 256 KiB is none (200
/// characters can stand for gigabytes), and rules of the grammar nest 512 deep at most, some 50 templates in each
/// other, for which 512 KiB of stack are enough.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    // The parser takes time to refuse a malformed name that doubles with every template in which the fault lies.
    // So it may not go deep at first, where most names end, and deeper only for a name that was not cut off.
    let symbol = match parse(name, 96) {
        Err(cpp_demangle::error::Error::TooMuchRecursion) if is_closed(name) => parse(name, 512),
        parsed => parsed,
    };
    let printing = cpp_demangle::DemangleOptions::default().recursion_limit(512);
    let mut text = Bounded::default();
    symbol.ok()?.structured_demangle(&mut text, &printing).ok()?;
    Some(text.written)
}

fn parse(name: &str, deepest: u32) -> cpp_demangle::error::Result<cpp_demangle::Symbol<&str>> {
    let options = cpp_demangle::ParseOptions::default().recursion_limit(deepest);
    cpp_demangle::Symbol::new_with_options(name, &options)
}

/// True where the lists of template arguments that a name opens (`I`) may all be closed in it (`E`).
fn is_closed(name: &str) -> bool {
    let (mut open, mut at, mut before) = (0_i64, 0, b'_');
    let bytes = name.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        // A number is the length of an identifier that follows, unless it numbers a substitution or is a literal.
        let is_length = !matches!(before, b'S' | b'T') && bytes.get(at + digits) != Some(&b'E');
        // Without digits, this may be within a character.
        let length = name.get(at..at + digits).filter(|_| is_length).and_then(|digits| digits.parse().ok());
        open += i64::from(byte == b'I') - i64::from(byte == b'E');
        before = byte;
        at = at.saturating_add(digits.max(1)).saturating_add(length.unwrap_or(0_usize));
    }
    open <= 0
}

/// Text that fails to grow beyond 256 KiB. An empty piece counts too, or printing nothing might never end.
#[derive(Default)]
struct Bounded {
    written: String,
    spent: usize,
}

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.spent += piece.len().max(1);
        if self.spent > 256 << 10 {
            return Err(std::fmt::Error);
        }
        self.written.push_str(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_descriptor_suffix_is_not_part_of_the_name() {
        assert_eq!(identity("gemm.kd"), "gemm");
        assert_eq!(identity("gemm.kd.kd"), "gemm.kd");
        assert_eq!(identity("void f<int>(int) [clone .kd]"), "void f<int>(int)");
        assert_eq!(identity("gemm"), "gemm");
    }

    #[test]
    fn bf16_names_that_libstdcxx_cannot_read_are_demangled() {
        assert_eq!(
            demangle("_Z3fooIDF16bEvT_").as_deref(),
            Some("void foo<std::bfloat16_t>(std::bfloat16_t)")
        );
        assert_eq!(demangle("Cijk_Ailk_Bljk"), None);
        assert_eq!(demangle("_Z"), None);
    }

    #[test]
    fn templates_of_namespaces_nest_as_deep_as_libraries_of_templates_need() {
        let nested = |depth: usize| {
            demangle(&format!("_ZN1A1fIiEEvi{}i{}", "N1A1BI".repeat(depth), "EE".repeat(depth)))
        };
        assert_eq!(nested(1).as_deref(), Some("void A::f<int>(int, A::B<int>)"));
        assert!(nested(50).is_some());
        assert_eq!(nested(100_000), None, "no overflow of the stack");
    }

    #[test]
    fn a_name_that_was_cut_off_is_refused_in_no_time() {
        let opened = format!("_Z1fI1AIiE{}", "S_I".repeat(200));
        assert!(!is_closed(&opened));
        assert_eq!(demangle(&opened), None);
        for closed in ["_Z3III1AIiE", "_Z1fIS10_IiELi10EE", "_Z1fI1AIL9EnumClass5EEE", "_Z1fIT12_IiEE"] {
            assert!(is_closed(closed), "{closed}");
        }
        assert!(!is_closed("_Z2III1AIiE"));
    }

    #[test]
    fn a_malformed_name_has_any_characters_and_is_refused() {
        let deep = |end: &str| format!("_Z4gemmI{}{end}", "M".repeat(100));
        for end in ["\u{318}", "1\u{318}", "2\u{318}E", "\u{e0971}"] {
            assert_eq!(demangle(&deep(end)), None, "{end}");
        }
    }

    #[test]
    fn a_form_that_doubles_with_every_few_characters_is_refused() {
        let doubled = |times: u8| {
            let levels =
                (0..times).map(|at| char::from_digit(u32::from(at), 36).unwrap().to_ascii_uppercase());
            let parameters: String = levels.map(|at| format!("S_IS{at}_S{at}_E")).collect();
            demangle(&format!("_Z1f1AIiiE{parameters}"))
        };
        assert_eq!(doubled(1).as_deref(), Some("f(A<int, int>, A<A<int, int>, A<int, int> >)"));
        assert!(doubled(8).is_some());
        assert_eq!(doubled(36), None);
    }
}

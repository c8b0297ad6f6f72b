//! Makes texts of symbols so that different kernels never share a name: a symbol is any bytes, a recorded name is text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The bytes of a symbol as text. Compilers write ASCII, which stays. In other content, bytes that are no UTF-8 become `\xNN` and
/// a backslash becomes two, so that no two symbols become one.
#[must_use]
pub fn text_of(symbol: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(symbol) {
        Ok(text) if !text.contains('\\') => Cow::Borrowed(text),
        _ => {
            let mut text = String::with_capacity(symbol.len() + 8);
            for chunk in symbol.utf8_chunks() {
                text.push_str(&chunk.valid().replace('\\', "\\\\"));
                chunk.invalid().iter().for_each(|byte| {
                    let _ = write!(text, "\\x{byte:02x}");
                });
            }
            Cow::Owned(text)
        }
    }
}

/// Gives each symbol the name that is recorded: its demangled form, or the symbol itself where that is impossible or where
/// another symbol already has this name. `void f<int>(int)` may be two templates, `_Z1fIiEvT_` and `_Z1fIiEvi`: the first one
/// gets the name.
#[derive(Debug, Default)]
pub struct Names {
    /// The symbols that have a name, by the key by which readers identify kernels.
    owners: HashMap<String, String>,
}

impl Names {
    /// Returns the name of a symbol, which is always the same for a symbol.
    pub fn name(&mut self, symbol: &str) -> String {
        let plain = std::iter::once(symbol.to_owned());
        // A symbol may equal another one's demangled name, or differ from it in parts that readers leave out.
        let numbered = (2..).map(|number: u64| format!("{symbol} [{number}]"));
        for name in rtl_schema::demangle(symbol).into_iter().chain(plain).chain(numbered) {
            let identity = rtl_schema::identity(&name).to_owned();
            if self.owners.entry(identity).or_insert_with(|| symbol.to_owned()) == symbol {
                return name;
            }
        }
        symbol.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_demangled_in_full() {
        let mut names = Names::default();
        assert_eq!(
            names.name("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"),
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, \
             std::array<char*, (unsigned long)1> >(int, at::native::FillFunctor<float>, std::array<char*, (unsigned long)1>)"
        );
        assert_eq!(names.name("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16"), "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16");
    }

    #[test]
    fn kernels_that_rocm_trace_lite_makes_one_stay_two() {
        let mut names = Names::default();
        let zero = names.name("_Z4kernILN2ns1FE0EfEvPT0_");
        let one = names.name("_Z4kernILN2ns1FE1EfEvPT0_");
        assert_eq!(
            (&*zero, &*one),
            ("void kern<(ns::F)0, float>(float*)", "void kern<(ns::F)1, float>(float*)")
        );
    }

    #[test]
    fn two_symbols_that_demangle_alike_keep_two_names() {
        let mut names = Names::default();
        assert_eq!(names.name("_Z1fIiEvT_"), "void f<int>(int)");
        assert_eq!(names.name("_Z1fIiEvi"), "_Z1fIiEvi");
        assert_eq!(names.name("_Z1fIiEvT_"), "void f<int>(int)", "the second time");
        assert_eq!(names.name("_Z1fIiEvi"), "_Z1fIiEvi", "the second time");
    }

    #[test]
    fn a_symbol_may_be_spelled_as_another_is_demangled() {
        let mut names = Names::default();
        assert_eq!(names.name("_Z1fIiEvT_"), "void f<int>(int)");
        assert_eq!(names.name("void f<int>(int)"), "void f<int>(int) [2]");
        assert_eq!(names.name("void f<int>(int) [2]"), "void f<int>(int) [2] [2]");
    }

    #[test]
    fn what_readers_strip_from_a_name_does_not_make_it_another() {
        let mut names = Names::default();
        assert_eq!([names.name("gemm"), names.name("gemm.kd")], ["gemm", "gemm.kd [2]"]);
    }

    #[test]
    fn bytes_that_are_no_text_stay_apart() {
        assert_eq!(text_of(b"_Z3addPf"), "_Z3addPf");
        assert_eq!(text_of(b"a\xff\\"), "a\\xff\\\\");
        let symbols: [&[u8]; 5] = [b"\xff", b"\xfe", b"\\xff", "\u{fffd}".as_bytes(), b"\\\xff"];
        let texts: HashSet<_> = symbols.iter().map(|symbol| text_of(symbol)).collect();
        assert_eq!(texts.len(), symbols.len());
    }

    /// Parts of symbols that are similar to each other or to their demangled forms.
    fn part() -> impl Strategy<Value = &'static str> {
        let parts = [
            "_Z1f", "I", "i", "E", "v", "T_", "Li0E", "Lj0E", "S_", "N", "1a", ".kd", ".1", " [2]", "f()",
            "P",
        ];
        prop::sample::select(parts.to_vec())
    }

    proptest! {
        #[test]
        fn two_symbols_never_share_a_name(
            symbols in prop::collection::vec(prop::collection::vec(part(), 0..7).prop_map(|parts| parts.concat()), 2..40),
        ) {
            let mut names = Names::default();
            let mut owner = HashMap::new();
            for symbol in &symbols {
                let name = names.name(symbol);
                prop_assert_eq!(&name, &names.name(symbol));
                let identity = rtl_schema::identity(&name).to_owned();
                prop_assert_eq!(*owner.entry(identity).or_insert(symbol), symbol);
            }
        }

        #[test]
        fn two_byte_strings_never_become_one_text(
            one in prop::collection::vec(prop::sample::select(b"\\xf\xff\xc3\xa9a".to_vec()), 0..6),
            other in prop::collection::vec(prop::sample::select(b"\\xf\xff\xc3\xa9a".to_vec()), 0..6),
        ) {
            prop_assert_eq!(text_of(&one) == text_of(&other), one == other);
        }
    }
}

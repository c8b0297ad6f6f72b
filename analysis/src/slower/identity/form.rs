//! Forms of a name without the parts that differ between builds.

/// The name without the additions of compilers and tools: descriptor and clone suffixes, addresses, ordinals of lambdas
/// and unnamed types, white space; demangled where it is stored mangled.
pub fn normal(name: &str) -> String {
    let mut name = name.trim();
    loop {
        let shorter = rtl_schema::identity(name);
        let shorter = match shorter.rfind(" [clone ") {
            Some(at) if shorter.ends_with(']') => &shorter[..at],
            _ => shorter,
        };
        let shorter = shorter.trim_end();
        if shorter.len() == name.len() {
            break;
        }
        name = shorter;
    }
    let demangled = rtl_schema::demangle(name);
    let name = demangled.as_deref().unwrap_or(name);
    let mut form = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let (take, skip) = match next {
            '0' if rest.starts_with("0x") && !form.ends_with(|c: char| c.is_alphanumeric()) => {
                ("0x", 2 + digits(&rest[2..], 16))
            }
            '#' => ("#", 1 + digits(&rest[1..], 10)),
            _ if next.is_whitespace() => {
                let blank = rest.len() - rest.trim_start().len();
                // Only between two words does white space mean something.
                let needed = form.ends_with(is_word) && rest[blank..].starts_with(is_word);
                (if needed { " " } else { "" }, blank)
            }
            _ => (&rest[..next.len_utf8()], next.len_utf8()),
        };
        form.push_str(take);
        rest = &rest[skip..];
    }
    form
}

/// The normal form without template arguments, parameters and return type; empty where it has none of them.
pub fn without_templates(name: &str) -> String {
    let name = rtl_schema::identity(name);
    let demangled = rtl_schema::demangle(name);
    let name = demangled.as_deref().unwrap_or(name);
    let short = rtl_schema::qualified(name);
    if short.len() == name.len() { String::new() } else { normal(short) }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many bytes of digits `text` begins with.
fn digits(text: &str, radix: u32) -> usize {
    text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_count_and_tools_add_is_gone() {
        for (name, form) in [
            ("gemm.kd", "gemm"),
            ("void f<int>(int) [clone .kd]", "void f<int>(int)"),
            ("f [clone .isra.0] [clone .kd]", "f"),
            ("kernel_0x7f00beef12", "kernel_0x"),
            ("run at 0x7f00beef12 (x)", "run at 0x(x)"),
            ("f::{lambda(float)#12}::g", "f::{lambda(float)#}::g"),
            ("a<b<int> >  ( unsigned   int )", "a<b<int>>(unsigned int)"),
            ("_Z4gemmi", "gemm(int)"),
        ] {
            assert_eq!(normal(name), form, "{name}");
        }
    }

    #[test]
    fn templates_and_parameters_go_and_plain_names_have_no_such_form() {
        assert_eq!(without_templates("void at::native::reduce<512, 1>(float*)"), "at::native::reduce");
        assert_eq!(without_templates("triton_poi_fused_add_0"), "");
        assert_eq!(without_templates("Cijk_Ailk_Bljk_BBS_BH_MT128x128x64.kd"), "");
    }

    #[test]
    fn names_beyond_ascii_are_no_panic() {
        assert_eq!(normal("кернел<#1> 0xß"), "кернел<#>0xß");
        assert_eq!(normal(""), "");
    }
}

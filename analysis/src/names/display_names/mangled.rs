//! Names of kernels that no demangler reads: they use mangling of C++20, such as template arguments that are functions.

/// The most identifiers of template arguments that are shown.
const SHOWN: usize = 3;

/// The function of an Itanium-mangled name and the first identifiers of its template arguments, without namespaces.
pub(super) fn display_name(name: &str) -> Option<String> {
    let encoding = name.strip_prefix("_Z")?;
    let nested = encoding.strip_prefix('N').map(|nested| nested.trim_start_matches(['K', 'V', 'r']));
    let (mut function, mut rest) = identifier(nested.unwrap_or(encoding))?;
    while let Some((inner, behind)) = identifier(rest) {
        (function, rest) = (inner, behind);
    }
    let Some(arguments) = rest.strip_prefix('I') else { return Some(function.to_owned()) };
    let mut shown = Vec::new();
    let mut rest = arguments;
    while !rest.is_empty() {
        match identifier(rest) {
            // Of a nested name only the last identifier tells something.
            Some((found, behind)) => {
                if identifier(behind).is_none() && shown.last() != Some(&found) {
                    shown.push(found);
                }
                rest = behind;
            }
            None => rest = behind_character(rest),
        }
    }
    let is_cut = shown.len() > SHOWN || shown.is_empty();
    shown.truncate(SHOWN);
    shown.extend(is_cut.then_some("…"));
    Some(format!("{function}<{}>", shown.join(", ")))
}

/// The text behind one character, or behind a substitution (`S3_`, `T_`), whose number is no length.
fn behind_character(text: &str) -> &str {
    let numbered =
        text.strip_prefix(['S', 'T']).map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
    let mut characters = text.chars();
    characters.next();
    numbered.and_then(|text| text.strip_prefix('_')).unwrap_or(characters.as_str())
}

/// An identifier behind its length, and the text behind it.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text.get(..digits)?.parse().ok()?;
    let found = text.get(digits..digits.checked_add(length)?)?;
    let is_name = found.starts_with(|first: char| first.is_alphabetic() || first == '_');
    is_name.then(|| (found, &text[digits + length..]))
}

#[cfg(test)]
mod tests {
    use super::display_name;

    #[test]
    fn a_name_that_cannot_be_demangled_shows_its_function_and_identifiers_of_its_arguments() {
        for (name, display) in [
            (
                "_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EEEEvPNS1_\
                 15Float8_e4m3fnuzEPS4_if",
                Some("scaled_act_and_mul_kernel<Half, silu_kernel, Float8_e4m3fnuz>"),
            ),
            (
                "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
                Some("act_and_mul_kernel<__hip_bfloat16, silu>"),
            ),
            ("_Z4gemmTn", Some("gemm")),
            ("_Z4gemmITn", Some("gemm<…>")),
            ("_Z99gemm", None),
            ("_Z99999999999999999999gemm", None),
            ("_ZE", None),
            ("_Z1äb", None),
            ("gemm", None),
        ] {
            assert_eq!(display_name(name).as_deref(), display, "{name}");
        }
    }
}

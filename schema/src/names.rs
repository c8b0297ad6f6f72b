//! What makes two kernel names the same, and how they are shown.

/// The part of a stored kernel name that identifies the kernel: one trailing `.kd`, ` [clone .kd]` is not
/// part of it (ROCm's code objects name the descriptor, tools strip it or not).
pub fn identity(name: &str) -> &str {
    name.strip_suffix(".kd").or_else(|| name.strip_suffix(" [clone .kd]")).unwrap_or(name)
}

/// The demangled form of an Itanium-mangled name; `None` where it is not one or is malformed (compilers
/// do emit such names), so that the caller keeps the name as it is.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    cpp_demangle::Symbol::new(name).ok()?.demangle().ok()
}

/// A name for a narrow column: without return type, arguments and template arguments.
/// `void at::native::vectorized_elementwise_kernel<4>(int, float)` becomes `at::native::vectorized_elementwise_kernel`.
/// Names that are no C++ signature (Tensile's, Triton's) stay whole. Distinct kernels may get equal short names.
pub fn shorten(name: &str) -> &str {
    let name = identity(name);
    let bytes = name.as_bytes();
    let mut start = 0;
    let mut end = bytes.len();
    let mut depth = 0_u32;
    let mut position = 0;
    while position < bytes.len() {
        let rest = &name[position..];
        if let Some(skip) = [
            "(anonymous namespace)",
            "operator()",
            "operator<<",
            "operator<=",
            "operator<",
            "operator>>",
            "operator>=",
            "operator->",
            "operator>",
            "{lambda(",
        ]
        .iter()
        .find(|word| rest.starts_with(**word))
        {
            position += skip.len();
            continue;
        }
        match bytes[position] {
            b'<' => {
                if depth == 0 && position > start {
                    end = end.min(position);
                }
                depth += 1;
            }
            b'>' => depth = depth.saturating_sub(1),
            b'(' if depth == 0 => {
                end = end.min(position);
                break;
            }
            b' ' if depth == 0 && end == bytes.len() => start = position + 1,
            // A name that goes on after its template arguments: `a::b<int>::c`, `unsigned f<2> ...`.
            b':' if depth == 0 && end < position => end = bytes.len(),
            _ => {}
        }
        position += name[position..].chars().next().map_or(1, char::len_utf8);
    }
    let short = name.get(start..end).unwrap_or(name).trim();
    if short.is_empty() { name } else { short }
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
    fn a_short_name_is_the_function_without_its_types() {
        for (full, short) in [
            (
                "void at::native::vectorized_elementwise_kernel<4>(int, float)",
                "at::native::vectorized_elementwise_kernel",
            ),
            ("add_rmsn(float*, float const*)", "add_rmsn"),
            ("Cijk_Ailk_Bljk_BBS_BH_MT128x128x64.kd", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x64"),
            (
                "void (anonymous namespace)::softmax_warp<float, 2>(float*)",
                "(anonymous namespace)::softmax_warp",
            ),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
            ("Op::operator()(int*)", "Op::operator()"),
            ("ns::A<int>::run(int)", "ns::A<int>::run"),
        ] {
            assert_eq!(shorten(full), short);
        }
    }
}

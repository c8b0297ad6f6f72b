//! Families of generated kernels, whose names spell out how each member was tuned.

/// The family of a name, `None` where it belongs to none that is known.
///
/// - Tensile: the problem (`Cijk_Ailk_Bljk_BBS_BH`), without the solution that starts at the macro-tile.
/// - Composable Kernel: the kernel template (`ck::kernel_gemm_xdl_cshuffle_v3`); for ck_tile, whose entry point is one
///   template, the kernel that it wraps.
/// - Triton as torch.compile names it: without the number that counts kernels of one name.
/// - RCCL device kernels: the collective, without algorithm, protocol and type.
pub fn family(name: &str) -> Option<String> {
    let name = rtl_schema::identity(name);
    let demangled = rtl_schema::demangle(name);
    let name = demangled.as_deref().unwrap_or(name);
    tensile(name)
        .or_else(|| triton(name))
        .or_else(|| collective(name))
        .map(str::to_owned)
        .or_else(|| composable(name))
}

fn tensile(name: &str) -> Option<&str> {
    if !name.starts_with("Cijk_") {
        return None;
    }
    let tile =
        name.match_indices("_MT").find(|(at, _)| name[at + 3..].starts_with(|c: char| c.is_ascii_digit()));
    tile.map(|(at, _)| &name[..at])
}

fn triton(name: &str) -> Option<&str> {
    if !name.starts_with("triton_") {
        return None;
    }
    // Before Triton 3 the name goes on with the signature: `_0d1d2d3de`.
    let (base, last) = name.rsplit_once('_')?;
    let signature = last.contains('d') && last.chars().all(|c| c.is_ascii_digit() || "dec".contains(c));
    let (base, last) = if signature { base.rsplit_once('_')? } else { (base, last) };
    let counted = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    counted.then_some(base)
}

fn collective(name: &str) -> Option<&str> {
    let at = ["ncclDevKernel_", "ncclKernel_", "rcclDevKernel_"]
        .iter()
        .find_map(|prefix| name.find(prefix).map(|at| (at, at + prefix.len())));
    let (start, word) = at?;
    let end = name[word..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(name.len(), |end| word + end);
    Some(&name[start..end])
}

fn composable(name: &str) -> Option<String> {
    let at = name.find("ck_tile::kentry").or_else(|| name.find("ck::kernel_"))?;
    let template = &name[at..];
    let base = |text: &str| text.split(['<', '(', ',', '>']).next().unwrap_or_default().to_owned();
    let (entry, arguments) = template.split_once('<').unwrap_or((template, ""));
    match arguments.find("ck_tile::").filter(|_| entry == "ck_tile::kentry") {
        Some(wrapped) => Some(format!("{entry}<{}>", base(&arguments[wrapped..]))),
        None => Some(base(template)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_kernels_are_known_by_what_they_compute() {
        for (name, expected) in [
            (
                "Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x256_MI16x16x1_SN.kd",
                "Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs",
            ),
            ("triton_poi_fused_add_mul_17", "triton_poi_fused_add_mul"),
            ("triton_red_fused_sum_3_0d1d2d3de", "triton_red_fused_sum"),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"),
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ncclDevKernel_AllReduce"),
            (
                "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm<1, 2>, true>(ck::Args)",
                "ck::kernel_gemm_xdl_cshuffle_v3",
            ),
            (
                "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::Shape<1>>, int>(int)",
                "ck_tile::kentry<ck_tile::FmhaFwdKernel>",
            ),
        ] {
            assert_eq!(family(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_have_no_family() {
        for name in ["attn_fwd", "triton_", "triton_poi_fused_add", "Cijk_Ailk", "", "void f<int>(int)"] {
            assert_eq!(family(name), None, "{name}");
        }
    }
}

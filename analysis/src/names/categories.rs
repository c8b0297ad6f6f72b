//! The category of a kernel, from its name.

use regex_lite::Regex;
use serde::Deserialize;

use crate::{Error, Result};

/// The category that makes a kernel a collective for [`mod@crate::gpu_time::sweep`].
pub const COLLECTIVE: &str = "collective";

/// The category of names that no rule knows.
pub const OTHER: &str = "other";

/// Rules that give every kernel name a category: the user's first, then the built-in ones; the first match wins.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    category: String,
    pattern: Regex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    category: String,
    #[serde(rename = "match")]
    pattern: String,
}

impl Categories {
    /// Reads the user's rules: `[[rule]]` tables with `category` and `match` (a regular expression, searched in
    /// the stored name and in its demangled form). The built-in rules follow them.
    ///
    /// # Errors
    /// Where the text is no such TOML, or an expression does not compile.
    pub fn from_toml(text: &str) -> Result<Self> {
        let file: RuleFile = toml::from_str(text)
            .map_err(|error| Error::Rules { detail: error.to_string().trim_end().to_owned() })?;
        let rules = file
            .rule
            .into_iter()
            .enumerate()
            .map(|(position, rule)| match Regex::new(&rule.pattern) {
                Ok(pattern) => Ok(Rule { category: rule.category, pattern }),
                Err(error) => Err(Error::RulePattern {
                    number: position + 1,
                    category: rule.category,
                    detail: error.to_string(),
                }),
            })
            .collect::<Result<_>>()?;
        Ok(Self { rules })
    }

    /// The category of a kernel name; [`OTHER`] where no rule matches.
    pub fn of(&self, name: &str) -> &str {
        if !self.rules.is_empty() {
            let demangled = rtl_schema::demangle(name);
            let matches = |pattern: &Regex| {
                pattern.is_match(name) || demangled.as_deref().is_some_and(|name| pattern.is_match(name))
            };
            if let Some(rule) = self.rules.iter().find(|rule| matches(&rule.pattern)) {
                return &rule.category;
            }
        }
        built_in(name)
    }
}

/// The built-in rules in order: category and lower-case parts of names. `^` holds one to the beginning.
///
/// The order says what wins: Inductor names list all that was fused, so they are Triton's before anything;
/// collectives fused with a norm wait for other ranks; attention kernels of Composable Kernel name their GEMM
/// pipeline; a fill or copy of PyTorch runs inside its elementwise kernel.
const RULES: [(&str, &str); 9] = [
    ("triton", "^triton_"),
    (
        COLLECTIVE,
        "nccl rccl cross_device_reduce all_reduce allreduce all_gather allgather reduce_scatter \
         reducescatter all_to_all alltoall mscclpp rocshmem",
    ),
    (
        "attention",
        "attention attn fmha sdpa mla_decode mla_prefill pa_decode pa_fwd gemm_softmax_gemm bwd_kernel_fuse \
         compute_dot_do_o convert_dq_to",
    ),
    ("gemm", "cijk_ hipblaslt gemm gemv nvjet matmul wvsplt llmm1 fused_moe_kernel"),
    (
        "normalisation",
        "layernorm layer_norm rmsnorm rms_norm add_rmsn groupnorm group_norm batchnorm batch_norm \
         instancenorm instance_norm rowwisemoments gammabeta",
    ),
    (
        "copy/fill",
        "__amd_rocclr_copy __amd_rocclr_fill copybuffer fillbuffer fillfunctor copy_kernel batchedcopy \
         memcpy memset and_cache transpose",
    ),
    (
        "elementwise",
        "elementwise pointwise multi_tensor_apply dropout act_and_mul activation silu gelu relu rotary \
         rope_ quant optensor distribution_ vector_add vectoradd add_kernel mul_kernel scale_kernel",
    ),
    (
        "reduction",
        "reduce reduction softmax argmax argmin topk lpnorm lookback_scan scan_kernel sum_kernel sum_and_ \
         cumsum compute_grad_weight histogram nll_loss cross_entropy",
    ),
    ("triton", "triton"),
];

/// The number of parts of all rules.
const PARTS: usize = {
    let (mut count, mut group) = (0, 0);
    while group < RULES.len() {
        let (parts, mut at) = (RULES[group].1.as_bytes(), 0);
        count += 1;
        while at < parts.len() {
            count += (parts[at] == b' ') as usize;
            at += 1;
        }
        group += 1;
    }
    count
};

/// The built-in rules, each with one part.
struct BuiltIn {
    rules: [(&'static str, &'static str); PARTS],
    /// For each of a part's first three bytes: which rules have which byte there, one bit for each rule. All rules are looked
    /// for in one pass; a compiled set of patterns would cost more than a small trace.
    first: [[u128; 256]; 3],
}

/// Made at compile time, because a small trace has few names.
static BUILT_IN: BuiltIn = {
    let (mut rules, mut first) = ([("", ""); PARTS], [[0; 256]; 3]);
    let (mut rule, mut group) = (0, 0);
    while group < RULES.len() {
        let (category, mut rest) = RULES[group];
        while !rest.is_empty() {
            let (bytes, mut end) = (rest.as_bytes(), 0);
            let start = (bytes[0] == b'^') as usize;
            while end < bytes.len() && bytes[end] != b' ' {
                if end >= start && end < start + 3 {
                    first[end - start][bytes[end] as usize] |= 1 << rule;
                }
                end += 1;
            }
            let part;
            (part, rest) = rest.split_at(end);
            rest = if rest.is_empty() { rest } else { rest.split_at(1).1 };
            rules[rule] = (category, part);
            rule += 1;
        }
        group += 1;
    }
    BuiltIn { rules, first }
};

fn built_in(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let BuiltIn { rules, first } = &BUILT_IN;
    let mut found = rules.len();
    for (position, window) in bytes.windows(3).enumerate() {
        let [one, two, three] = [window[0], window[1], window[2]].map(usize::from);
        let mut candidates = first[0][one] & first[1][two] & first[2][three];
        while candidates != 0 {
            let rule = candidates.trailing_zeros() as usize;
            if rule >= found {
                break;
            }
            let (word, in_place) = match rules[rule].1.strip_prefix('^') {
                Some(word) => (word, position == 0),
                None => (rules[rule].1, true),
            };
            if in_place && bytes[position..].starts_with(word.as_bytes()) {
                found = rule;
            }
            candidates &= candidates - 1;
        }
    }
    rules.get(found).map_or(OTHER, |(category, _)| category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_names_fall_where_an_engineer_expects_them() {
        let rules = Categories::default();
        for (name, category) in [
            ("Cijk_Alik_Bljk_F8HS_BH_BiasSH_AS_SAB_SAV_UserArgs_MT256x224x128", "gemm"),
            ("void wvSpltK_hf_sml_<64, 4, 16, 8, 1, 4>(int, int, __half const*)", "gemm"),
            (
                "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_26FmhaFwdTilePartitionerBlockGemm",
                "attention",
            ),
            ("_Z32paged_attention_ll4mi_QKV_kernelIDF16_hLN4vllm18Fp8KVCacheDataTypeE1E", "attention"),
            ("attn_fwd", "attention"),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", "attention"),
            ("void compute_dot_do_o_specialized<true, 128>(AttentionBackward)", "attention"),
            ("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", "gemm"),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "collective"),
            ("void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)", "collective"),
            (
                "void vllm::scaled_fused_add_rms_norm_kernel<c10::Half, 8>(c10::Float8_e4m3fnuz*)",
                "normalisation",
            ),
            ("add_rmsn(float*, float const*)", "normalisation"),
            (
                "void at::native::(anonymous namespace)::cuComputeGradGammaBeta<float, float>()",
                "normalisation",
            ),
            ("__amd_rocclr_fillBufferAligned", "copy/fill"),
            ("__amd_rocclr_copyBuffer", "copy/fill"),
            ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long>>", "copy/fill"),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
                "elementwise",
            ),
            ("void vllm::rotary_embedding_kernel<c10::Half, true>(long const*)", "elementwise"),
            ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"),
            ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>", "reduction"),
            ("triton_red_fused_native_layer_norm_3", "triton"),
            ("my_triton_thing", "triton"),
            ("kernel_0x7f0012", "other"),
            ("", "other"),
        ] {
            assert_eq!(rules.of(name), category, "{name}");
        }
    }

    #[test]
    fn every_part_of_a_rule_is_built_in() {
        let parts =
            RULES.iter().flat_map(|&(category, parts)| parts.split(' ').map(move |part| (category, part)));
        assert_eq!(parts.collect::<Vec<_>>(), BUILT_IN.rules);
    }

    #[test]
    fn one_pass_finds_what_trying_every_rule_in_order_finds() {
        let slow = |name: &str| {
            let lower = name.to_ascii_lowercase();
            let mut rules = BUILT_IN.rules.iter();
            rules
                .find(|(_, word)| match word.strip_prefix('^') {
                    Some(word) => lower.starts_with(word),
                    None => lower.contains(word),
                })
                .map_or(OTHER, |(category, _)| category)
        };
        for (_, one) in &BUILT_IN.rules {
            for (_, two) in &BUILT_IN.rules {
                let name = format!("{}x{}", one.trim_start_matches('^'), two.trim_start_matches('^'));
                assert_eq!(built_in(&name), slow(&name), "{name}");
            }
        }
    }

    #[test]
    fn the_users_rules_come_first_and_see_demangled_names() {
        let rules = Categories::from_toml(
            "[[rule]]\ncategory = \"mine\"\nmatch = \"^foo<\"\n[[rule]]\ncategory = \"gemm-f8\"\nmatch = 'Cijk_.*F8'",
        )
        .unwrap();
        assert_eq!(rules.of("Cijk_Alik_F8HS"), "gemm-f8");
        assert_eq!(rules.of("Cijk_Alik_BBS"), "gemm");
        assert_eq!(rules.of("_Z3fooIiEvT_"), "other");
        let rules = Categories::from_toml("[[rule]]\ncategory = \"mine\"\nmatch = \"foo<int>\"").unwrap();
        assert_eq!(rules.of("_Z3fooIiEvT_"), "mine");
    }

    #[test]
    fn a_wrong_rule_is_named() {
        let error = Categories::from_toml("[[rule]]\ncategory = \"bad\"\nmatch = \"(\"").unwrap_err();
        assert!(error.to_string().starts_with("category rule 1 (bad): "), "{error}");
        assert!(matches!(Categories::from_toml("[[rule]]\nname = 1"), Err(Error::Rules { .. })));
        assert!(matches!(Categories::from_toml("not toml"), Err(Error::Rules { .. })));
    }
}

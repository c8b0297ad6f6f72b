//! Names of kernels for people: short, and different for different kernels.
//!
//! A kernel's full name can take thousands of characters, most of which all kernels of a library share. Its display name
//! keeps the parts that identify it: the macro tile and the data types of a Tensile kernel, the operator of an
//! elementwise kernel, the function and the template arguments of other C++ kernels, the head size of attention.
//! Machine formats have full names.

mod distinct;
mod function;
mod mangled;
mod tensile;

use std::collections::HashMap;

/// The display names of the kernels of one report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisplayNames {
    names: HashMap<String, String>,
}

impl DisplayNames {
    /// Display names of these kernels, in any order and with repetitions. Different names get different display names,
    /// which depend on the set of names only.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all: Vec<&str> = names.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        let forms = all.iter().map(|name| (*name, display_name(name)));
        Self { names: distinct::distinct(forms.collect()).into_iter().collect() }
    }

    /// Returns whether no kernel has a display name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The kernels with their display names, by kernel.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.names.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let mut names: Vec<(&str, &str)> = names.collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// The display name of a kernel, or the name itself of another text.
    pub fn get<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, String::as_str)
    }
}

/// The short names of rocprofv3 ([`rtl_schema::shorten`]) of stored names, in the order given; kernels with equal ones also
/// show the words in which they differ.
pub fn distinct_short_names(stored: &[&str]) -> Vec<String> {
    let mut identities: Vec<&str> = stored.iter().map(|name| rtl_schema::identity(name)).collect();
    identities.sort_unstable();
    identities.dedup();
    let short = |name: &str| {
        let demangled = rtl_schema::demangle(name);
        rtl_schema::shorten(demangled.as_deref().unwrap_or(name)).to_owned()
    };
    let forms = identities.into_iter().map(|name| (name, short(name))).collect();
    let forms: HashMap<String, String> = distinct::distinct(forms).into_iter().collect();
    let form = |name: &&str| forms.get(rtl_schema::identity(name)).cloned().unwrap_or_default();
    stored.iter().map(form).collect()
}

/// The parts of a name that identify the kernel; another kernel may have the same ones.
fn display_name(name: &str) -> String {
    let stored = rtl_schema::identity(name);
    let demangled = rtl_schema::demangle(stored);
    let name = demangled.as_deref().unwrap_or(stored);
    let tensile = tensile::display_name(name);
    tensile.or_else(|| mangled::display_name(name)).unwrap_or_else(|| function::display_name(name))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_kernel_shows_the_parts_that_identify_it() {
        for (full, display) in [
            (
                "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x128_MI16x16x1_SN_LDSB0_AFC0_WG32_8_1.kd",
                "Cijk_Alik_Bljk_BBS_BH_MT256x224x128",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, \
                 at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, \
                 at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, \
                 std::array<char*, 3ul>)",
                "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, MulFunctor<float>>>",
            ),
            (
                "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, \
                 cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, false, false, \
                 false, false, true, false, false>(pytorch_flash::Flash_fwd_params)",
                "flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, …>, false, false, …>",
            ),
            (
                "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<\
                 at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::\
                 {lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, int const&)::\
                 {lambda(int)#1}>(int, int)",
                "elementwise_kernel<128, 4, direct_copy_kernel_cuda(BFloat16)>",
            ),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
            // Damaged: the brackets of the lambda are the wrong way round.
            ("f<g()::{lamb)d(a#3}>(int)", "f<g>"),
            ("_Z4gemmIfEvPT_i", "gemm<float>"),
        ] {
            assert_eq!(display_name(full), display, "{full}");
        }
    }

    proptest! {
        #[test]
        fn different_kernels_never_have_equal_display_names(
            names in proptest::collection::vec(
                "(void )?(a|b)::f(<(int|[01]|g<float>), (a::h|b::h|array<char\\*, 2>)>)?\\((int|float)?\\)\
                 |Cijk_(A|B)_(BBS|SB)_BH_MT(1|2)x1x1_(X|Y)(1|2)_Z\
                 |f( \\[a\\]|~2)?|\\PC{0,6}",
                0..30,
            )
        ) {
            let display = DisplayNames::of(names.iter().map(String::as_str));
            let different: HashSet<&String> = names.iter().collect();
            let texts: HashSet<&str> = different.iter().map(|name| display.get(name)).collect();
            prop_assert_eq!(texts.len(), different.len(), "{:?}", display);
        }
    }
}

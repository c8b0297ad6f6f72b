//! Colours by meaning. The style has a variable for each (`--c0` and so on), in light and in dark.

/// Categories of kernels in the order of their colours.
const CATEGORIES: [&str; 9] = [
    "gemm",
    "attention",
    "collective",
    "normalisation",
    "elementwise",
    "reduction",
    "copy/fill",
    "triton",
    "other",
];

/// The colour of copies that DMA engines make.
pub const COPIES: usize = 9;

/// The first colour of categories of the user.
const FIRST_CUSTOM: usize = 10;

const CUSTOM_COUNT: usize = 3;

pub const COUNT: usize = FIRST_CUSTOM + CUSTOM_COUNT;

/// The number of a colour. Categories of the user share the last ones by a hash of their names.
#[must_use]
pub fn of_category(category: &str) -> usize {
    let known = CATEGORIES.iter().position(|known| *known == category);
    known.unwrap_or_else(|| {
        FIRST_CUSTOM
            + category.bytes().fold(0_usize, |sum, byte| sum * 31 % 1_021 + usize::from(byte)) % CUSTOM_COUNT
    })
}

#[must_use]
pub fn class(number: usize) -> String {
    format!("c{number}")
}

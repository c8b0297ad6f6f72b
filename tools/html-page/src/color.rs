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

/// The colour of copies by engines.
pub const COPIES: usize = 9;

/// The first colour of categories of the user.
const OF_USERS: usize = 10;

/// How many colours there are for these.
const USERS: usize = 3;

/// How many colours there are.
pub const COUNT: usize = OF_USERS + USERS;

/// The number of the colour of a category.
#[must_use]
pub fn of_category(category: &str) -> usize {
    let known = CATEGORIES.iter().position(|known| *known == category);
    known.unwrap_or_else(|| {
        OF_USERS + category.bytes().fold(0_usize, |sum, byte| sum * 31 % 1_021 + usize::from(byte)) % USERS
    })
}

/// The class of a colour.
#[must_use]
pub fn class(number: usize) -> String {
    format!("c{number}")
}

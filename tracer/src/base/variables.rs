//! The names of the tracer's environment variables. rtl-trace includes this file, too, to name a misspelt variable where no
//! process has loaded the tracer, and links nothing else of it.

/// Names in alphabetical order, as in docs/reference/env.md.
pub(crate) const NAMES: [&str; 19] = [
    "RTL_BARRIER",
    "RTL_BUFFER",
    "RTL_COPY",
    "RTL_DEBUG",
    "RTL_EMBEDDED",
    "RTL_HIP_API_FILTER",
    "RTL_HIP_API_FILTER_OUT",
    "RTL_HIP_ARGS",
    "RTL_HSA_API_FILTER",
    "RTL_HSA_API_FILTER_OUT",
    "RTL_HSA_ARGS",
    "RTL_HSA_HOST_DISPATCH",
    "RTL_MAX_SIZE",
    "RTL_METADATA",
    "RTL_MODE",
    "RTL_NOTES",
    "RTL_OUTPUT",
    "RTL_RUN_ID",
    "RTL_START",
];

/// A warning about a name that is almost one of ours. Any other `RTL_` name may belong to another program.
#[must_use]
pub(crate) fn misspelt(name: &str) -> Option<String> {
    if !name.starts_with("RTL_") || NAMES.contains(&name) {
        return None;
    }
    let meant = NAMES.iter().find(|known| distance(name.as_bytes(), known.as_bytes()) <= 2)?;
    Some(format!("{name}: unknown setting; hint: {meant}"))
}

/// The Levenshtein distance in bytes.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, byte) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for at in 0..other.len() {
            let replaced = diagonal + usize::from(*byte != other[at]);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_spelt_almost_as_one_of_ours_is_named_and_others_are_not() {
        let hint =
            |name, meant| assert_eq!(misspelt(name), Some(format!("{name}: unknown setting; hint: {meant}")));
        hint("RTL_OUPUT", "RTL_OUTPUT");
        hint("RTL_MODES", "RTL_MODE");
        hint("RTL_HIP_ARG", "RTL_HIP_ARGS");
        for name in ["RTL_OUTPUT", "RTL_LIB", "RTL_CACHE", "RTL_REQUIRE", "RTL_STACKS", "OUPUT", ""] {
            assert_eq!(misspelt(name), None, "{name}");
        }
        for (one, other, expected) in [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
        }
    }

    #[test]
    fn the_reference_has_every_variable() {
        let page = include_str!("../../../docs/reference/env.md");
        for name in NAMES {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}

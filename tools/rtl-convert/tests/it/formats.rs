//! The table of formats in docs/reference/convert.md is that of the declarations.

use rtl_convert::formats::FORMATS;

fn code(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_documentation_lists_every_format_with_its_names_and_endings() {
    let page = include_str!("../../../../docs/reference/convert.md");
    for format in FORMATS {
        let (names, endings) = (code(&[&[format.name], format.aliases].concat()), code(format.endings));
        let row = format!("| {names} | {endings} | {} |", format.help);
        assert!(page.contains(&row), "docs/reference/convert.md lacks this row:\n{row}");
    }
}

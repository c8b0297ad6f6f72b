//! Names of Tensile and hipBLASLt.

/// `Cijk_Ailk_Bljk_BBS_BH_Bias_..._MT128x64x32_MI...` becomes `Cijk_Ailk_Bljk_BBS_BH_MT128x64x32`: the indices (which
/// operand is transposed), the data types and the macro tile. `None` for other names.
pub(super) fn display_name(name: &str) -> Option<String> {
    let start = name.find("Cijk_")?;
    if !name[..start].chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return None;
    }
    let tokens: Vec<&str> = name.split('_').collect();
    let tile = tokens.iter().position(|token| is_tile(token))?;
    let is_option =
        |token: &&str| token.starts_with("Bias") || token.starts_with("UserArgs") || is_tile(token);
    let types = tokens.iter().position(is_option)?;
    Some([&tokens[..types], &tokens[tile..=tile]].concat().join("_"))
}

/// Matches tokens such as `MT128x64x32`.
fn is_tile(token: &str) -> bool {
    let sizes = token.strip_prefix("MT").unwrap_or_default();
    sizes.split('x').count() == 3 && sizes.split('x').all(|size| size.parse::<u32>().is_ok())
}

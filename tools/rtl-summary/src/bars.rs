//! Small pictures of numbers in a row of characters.

const EIGHTHS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws shares of 0 to 1. Only 0 is drawn as nothing.
pub(crate) fn of_shares(shares: &[f64]) -> String {
    let most = EIGHTHS.len() - 1;
    shares.iter().map(|share| EIGHTHS[((share * most as f64).ceil() as usize).min(most)]).collect()
}

/// Draws heights that are given in eighths.
pub(crate) fn of_eighths(heights: &[u8]) -> String {
    heights.iter().map(|&height| EIGHTHS[usize::from(height).min(EIGHTHS.len() - 1)]).collect()
}

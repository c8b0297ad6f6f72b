//! Figures that do not describe the run.

use super::finding::Finding;
use crate::trust::{Health, Trust};

/// Costs nothing, and comes before everything else.
pub(super) fn finding(health: &Health) -> Option<Finding> {
    let worst = health.reasons.first().filter(|_| health.trust == Trust::Bad)?;
    Some(Finding {
        id: "untrustworthy".to_owned(),
        sentence: format!("the figures do not describe the run: {}", worst.sentence),
        evidence: worst.evidence.clone(),
        look: "rtl-summary --health TRACE".to_owned(),
        help: "record it again as the reason says; docs/reference/trust.md has each of them".to_owned(),
        ..Finding::default()
    })
}

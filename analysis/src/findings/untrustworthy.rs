//! Figures that do not describe the run.

use super::finding::Finding;
use super::inputs::Inputs;
use crate::trust::{Health, Trust, remedy};

/// Costs nothing, and comes before everything else.
pub(super) fn finding(inputs: &Inputs<'_>, health: &Health) -> Option<Finding> {
    let worst = health.reasons.first().filter(|_| health.trust == Trust::Bad)?;
    Some(Finding {
        id: "untrustworthy".to_owned(),
        sentence: format!("the figures do not describe the run: {}", worst.sentence),
        evidence: worst.evidence.clone(),
        look: "rtl-summary --health TRACE".to_owned(),
        help: remedy(&worst.id, inputs.analysis.tables.info.dialect).to_owned(),
        ..Finding::default()
    })
}

//! The gaps that rules about idle GPUs have in common.

use rustc_hash::FxHashMap;

use super::finding::PLACES;
use super::inputs::Inputs;
use crate::idle::{AfterBlocking, Cause, CauseIdle, GpuIdle, IdleGap, PlaceIdle};
use crate::trust::Evidence;

/// Idle time of all GPUs for one cause.
#[derive(Debug, Default)]
pub(super) struct IdleLoss {
    pub(super) ns: i64,
    pub(super) gaps: u64,
    pub(super) gpus: Vec<i64>,
    pub(super) place: Option<String>,
    pub(super) evidence: Vec<Evidence>,
}

impl IdleLoss {
    /// Time that blocking calls of this cause bear.
    pub(super) fn to_blocking(inputs: &Inputs<'_>, cause: Cause) -> Self {
        let part = |gpu: &'_ GpuIdle| gpu.after_blocking.iter().find(|after| after.cause == cause).cloned();
        Self::new(inputs, |gpu| {
            let AfterBlocking { cost_ns, gaps, places, longest, .. } = part(gpu)?;
            Some((
                cost_ns.saturating_sub(inputs.claimed_after_blocking(gpu.gpu, cause)),
                gaps,
                places,
                longest,
            ))
        })
    }

    /// Time of this cause that no blocking call bears.
    pub(super) fn of_its_own(inputs: &Inputs<'_>, cause: Cause) -> Self {
        Self::new(inputs, |gpu| {
            let found = gpu.causes.iter().find(|found| found.cause == cause)?;
            let CauseIdle { own_ns, gaps, places, longest, .. } = found.clone();
            Some((own_ns.saturating_sub(inputs.claimed(gpu.gpu, cause)), gaps, places, longest))
        })
    }

    fn new(
        inputs: &Inputs<'_>,
        part: impl Fn(&GpuIdle) -> Option<(i64, u64, Vec<PlaceIdle>, Vec<IdleGap>)>,
    ) -> Self {
        let mut lost = Self::default();
        let mut places: FxHashMap<String, i64> = FxHashMap::default();
        let mut longest: Vec<IdleGap> = Vec::new();
        for gpu in inputs.idle() {
            let Some((ns, gaps, by_place, largest)) = part(gpu).filter(|(ns, ..)| *ns > 0) else { continue };
            lost.ns = lost.ns.saturating_add(ns);
            lost.gaps += gaps;
            lost.gpus.push(gpu.gpu);
            for PlaceIdle { place, idle_ns } in by_place {
                *places.entry(place.label()).or_default() += idle_ns;
            }
            longest.extend(largest);
        }
        lost.place = places
            .into_iter()
            .max_by(|(one, first), (other, second)| (first, other).cmp(&(second, one)))
            .map(|(place, _)| place);
        longest.sort_by_key(|gap| (std::cmp::Reverse(gap.duration_ns), gap.start_ns));
        lost.evidence = longest.iter().take(PLACES).map(evidence).collect();
        if lost.gpus.len() == inputs.gpus().len() {
            lost.gpus.clear();
        }
        lost
    }

    /// `, most of it in aten::item -> hipStreamSynchronize`; nothing where no place is known.
    pub(super) fn at(&self) -> String {
        self.place.as_ref().map_or_else(String::new, |place| format!(", most at {place}"))
    }
}

pub(super) fn evidence(gap: &IdleGap) -> Evidence {
    Evidence {
        name: gap.after.clone(),
        start_ns: gap.start_ns,
        end_ns: Some(gap.start_ns.saturating_add(gap.duration_ns)),
        correlation: gap.correlation,
    }
}

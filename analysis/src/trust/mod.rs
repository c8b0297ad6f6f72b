//! Can the figures of a trace be believed? Each file looks for one reason why not.
//!
//! A reason states what is missing or wrong, how much of it, and where. `docs/reference/trust.md` has the rules.

mod capture;
mod clocks;
mod copies;
mod counters;
mod cut_off;
mod duplicates;
mod evidence;
mod far_apart;
mod graphs;
mod holes;
mod kernels;
mod late_start;
mod launched;
mod lite;
mod losses;
mod nothing;
mod overlaps;
mod profiler;
mod reason;
mod remedy;
mod room;
mod sampled;
pub mod sanity;
mod steps;
mod streaming;
pub mod tracing_cost;
pub mod unfinished;
mod waiting;
mod window;
mod window_end;

pub use self::evidence::Evidence;
pub(crate) use self::holes::Holes;
pub(crate) use self::launched::Launched;
pub(crate) use self::profiler::{ID as PROFILER_COST, cost as recording_cost};
pub use self::reason::{Reason, Trust};
pub(crate) use self::remedy::{remedy, with_calls};
pub(crate) use self::sampled::is_sampled;
pub(crate) use self::steps::StepLaunches;
pub use self::streaming::{StreamingHealth, UNEXAMINED};
use crate::Analysis;
use crate::ranks::Ranks;

/// The verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Health {
    /// The worst of the reasons.
    pub trust: Trust,
    /// All reasons, the worst first, then by rule.
    pub reasons: Vec<Reason>,
}

impl Health {
    /// The verdict that follows from these reasons.
    #[must_use]
    pub fn of(mut reasons: Vec<Reason>) -> Self {
        reasons = reasons.into_iter().map(Reason::with_affected).collect();
        reasons.sort_by(|one, other| (other.trust, one.input).cmp(&(one.trust, other.input)));
        Self { trust: reasons.first().map_or(Trust::Good, |worst| worst.trust), reasons }
    }
}

/// Looks for every reason in a whole trace: a filter would leave launches without their kernels. `ranks` are those of the
/// trace, if they were compared.
#[must_use]
pub fn health(analysis: &Analysis<'_>, ranks: Option<&Ranks>) -> Health {
    let tables = analysis.tables;
    let launched = Launched::of(tables);
    let [stray, far_apart] = far_apart::reasons(analysis);
    let reasons = [
        nothing::reason(tables, &launched),
        capture::reason(&launched),
        graphs::reason(analysis, &launched),
        steps::reason(&launched),
        kernels::reason(&launched),
        kernels::of_gpus(analysis),
        losses::reason(tables),
        cut_off::reason(&tables.info),
        lite::reason(&tables.info),
        sampled::reason(tables),
        holes::reason(analysis, &launched),
        duplicates::reason(analysis),
        far_apart,
        stray,
        clocks::reason(analysis, &launched),
        counters::reason(&tables.info),
        copies::reason(&launched),
        profiler::reason(analysis),
        overlaps::reason(analysis),
        window::reason(&launched),
        late_start::reason(&launched),
        window_end::reason(&launched),
        waiting::reason(analysis, ranks),
    ];
    Health::of(reasons.into_iter().flatten().collect())
}

/// The verdict on several traces: the reasons of each, and what their `ranks` show beside each other.
#[must_use]
pub fn combined(parts: &[Health], ranks: Option<&Ranks>) -> Health {
    of_job(parts, ranks.map(waiting::sums))
}

/// Combines the verdicts of a job whose ranks waited for each other, and were busy, for this many ns.
#[must_use]
pub fn of_job(parts: &[Health], waited_and_busy: Option<(u64, u64)>) -> Health {
    let mut reasons: Vec<Reason> = Vec::new();
    for (input, part) in parts.iter().enumerate() {
        let is_told = |reason: &&Reason| reason.trust > Trust::Good || reason.id == profiler::ID;
        let all = part.reasons.iter().filter(is_told);
        reasons.extend(all.map(|reason| Reason { input: Some(input), ..reason.clone() }));
    }
    reasons.extend(waited_and_busy.and_then(waiting::of_sums));
    Health::of(reasons)
}

#[cfg(test)]
mod tests {
    use rtl_schema::{Dialect, Tables};

    use super::*;
    use crate::Categories;
    use crate::ranks::Rank;

    fn ids(tables: &Tables) -> Vec<(String, Trust)> {
        let health = health(&Analysis::new(tables, &Categories::default()), None);
        let known = health.reasons.into_iter().filter(|reason| reason.id != "no-gpu-events");
        known.map(|reason| (reason.id, reason.trust)).collect()
    }

    #[test]
    fn lost_records_limit_a_trace_and_many_make_it_bad() {
        let ranges = vec![rtl_schema::table::Range::default(); 90];
        let mut tables = Tables { ranges, ..Tables::default() };
        for (lost, trust) in [(9, Trust::Limited), (10, Trust::Bad)] {
            tables.info.losses = vec![("full".to_owned(), lost), ("skipped:mode".to_owned(), 1_000)];
            assert_eq!(ids(&tables), [("lost-records".to_owned(), trust)]);
        }
        tables.info.losses.remove(0);
        assert!(ids(&tables).is_empty(), "skipped on purpose");
    }

    #[test]
    fn lite_mode_limits_a_trace() {
        let mut tables = Tables::default();
        tables.info.dialect = Dialect::Native;
        for (mode, expected) in [("lite", 1), ("standard", 0)] {
            tables.info.mode = Some(mode.to_owned());
            assert_eq!(ids(&tables).len(), expected);
        }
    }

    #[test]
    fn waiting_counts_from_a_twentieth_of_the_busy_time() {
        let rank = |busy_ns, clock_free_wait_ns| Rank { busy_ns, clock_free_wait_ns, ..Rank::default() };
        let ranks = |waits| Ranks { ranks: vec![rank(600, waits), rank(400, 0)], ..Ranks::default() };
        assert_eq!(waiting::between(&ranks(49)), None);
        let reason = waiting::between(&ranks(50)).unwrap();
        assert_eq!((reason.count, reason.of, reason.trust), (50, 1_000, Trust::Good));
        assert!(reason.sentence.contains("5.0 % of the busy time"), "{}", reason.sentence);
    }

    #[test]
    fn the_verdict_is_that_of_the_worst_reason_and_remarks_of_parts_are_left_out() {
        let reason = |trust| Reason { trust, ..Reason::default() };
        let part = Health::of(vec![reason(Trust::Good), reason(Trust::Bad), reason(Trust::Limited)]);
        assert_eq!((part.trust, part.reasons[0].trust), (Trust::Bad, Trust::Bad));
        let all = combined(&[Health::default(), part], None);
        assert_eq!((all.trust, all.reasons.len(), all.reasons[0].input), (Trust::Bad, 2, Some(1)));
        assert_eq!(Health::of(Vec::new()).trust, Trust::Good);
    }
}

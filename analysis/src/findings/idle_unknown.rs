//! Idle time of which the trace does not tell the cause.

use rtl_schema::Tables;

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::lost::Lost;
use super::words::{percent, time};
use crate::idle::{Cause, CauseIdle, GpuIdle, IdleGap};
use crate::trust::{Evidence, remedy, with_calls};

/// A few gaps are named where they hold this part of the time, and there are this many times as many.
const MOST: f64 = 0.5;
const FEW: u64 = 4;

/// Gaps up to this part of the wall time are at its beginning.
const BEGINNING: f64 = 0.8;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    unrecorded(inputs).into_iter().chain(unknown(inputs)).collect()
}

/// Time in which the GPU probably worked.
fn unrecorded(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = Lost::new(inputs, |part| inputs.is_hole(part));
    let finding = lost.finding("idle-unknown")?;
    let sentence = format!(
        "no op is recorded and the GPU looks {}{}{}: the ops after it had been launched long before, so the GPU probably ran work \
         that is not in the trace",
        lost.idle(&finding),
        lost.when(),
        lost.between(),
    );
    let dialect = inputs.analysis.tables.info.dialect;
    Some(Finding {
        sentence,
        look: "rtl-summary --section gaps,queues TRACE".to_owned(),
        help: format!("this time is probably not lost, only not recorded; {}", remedy("holes", dialect)),
        ..finding
    })
}

fn unknown(inputs: &Inputs<'_>) -> Option<Finding> {
    let tables = inputs.analysis.tables;
    let unknown = |gpu: &'_ GpuIdle| match inputs.is_sampled {
        true => CauseIdle {
            own_ns: gpu.idle_ns,
            gaps: gpu.gaps,
            longest: gpu.longest.iter().take(PLACES).cloned().collect(),
            ..CauseIdle::default()
        },
        false => gpu.causes.iter().find(|cause| cause.cause == Cause::Unknown).cloned().unwrap_or_default(),
    };
    let all: Vec<CauseIdle> = inputs.idle().iter().map(unknown).collect();
    let finding = Finding::of_gpus("idle-unknown", inputs, all.iter().map(|cause| cause.own_ns).collect());
    if finding.cost_ns == 0 {
        return None;
    }
    let mut longest: Vec<&IdleGap> = all.iter().flat_map(|cause| &cause.longest).collect();
    longest.sort_by_key(|gap| (std::cmp::Reverse(gap.duration_ns), gap.start_ns));
    let why = Why::new(inputs, longest.first().map_or(0, |gap| gap.correlation));
    let evidence = |gap: &&IdleGap| Evidence {
        name: gap.after.clone(),
        start_ns: gap.start_ns,
        end_ns: Some(gap.start_ns.saturating_add(gap.duration_ns)),
        correlation: gap.correlation,
    };
    Some(Finding {
        sentence: format!(
            "idle for {}{} ({} of the wall time) for unknown causes: {}{}",
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
            why.sentence(tables),
            largest(inputs, &all),
        ),
        look: "rtl-summary --section gaps TRACE".to_owned(),
        help: why.help(tables).to_owned(),
        evidence: longest.iter().take(PLACES).map(evidence).collect(),
        ..finding
    })
}

/// Why nothing ties ops to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Most calls were cut from the file.
    Sampled,
    /// There are none.
    NoCalls,
    /// The op after the longest gap was launched before the recording.
    Before,
    /// The call of that op is missing among others.
    Cut,
    /// It names no call.
    Untied,
}

impl Why {
    /// Of a trace in which the longest gap ends with an op that names this call.
    fn new(inputs: &Inputs<'_>, correlation: i64) -> Self {
        let calls = &inputs.analysis.tables.api_calls;
        let first = || calls.correlation.iter().filter(|&id| id != 0).min();
        match () {
            () if inputs.is_sampled => Self::Sampled,
            () if calls.is_empty() => Self::NoCalls,
            () if correlation == 0 => Self::Untied,
            () if first().is_some_and(|first| correlation < first) => Self::Before,
            () => Self::Cut,
        }
    }

    fn sentence(self, tables: &Tables) -> &'static str {
        match self {
            Self::Sampled => "most calls are missing from the file, and with them probably ops",
            Self::NoCalls if !tables.operators.is_empty() => {
                "the trace has operators of the host, and none of its calls"
            }
            Self::NoCalls => "the trace has no calls of the host",
            Self::Before => "the ops after the gaps were launched before the recording began",
            Self::Cut => "the calls that launched the ops after the gaps are not in the file",
            Self::Untied => "nothing ties the ops that ended the gaps to calls of the host",
        }
    }

    fn help(self, tables: &Tables) -> &'static str {
        match self {
            Self::Sampled | Self::Cut => {
                "read the whole file: this one is an extract or a sample, or its recorder lost calls"
            }
            Self::NoCalls | Self::Untied => with_calls(tables.info.dialect),
            Self::Before => "leave the beginning out (--time steady), or record more steps",
        }
    }
}

/// `; 6 of 26 gaps hold 8.30 s of it, all before +11.6 s, the longest before gemm`: of the GPU that loses most, where few gaps hold
/// most of its time.
fn largest(inputs: &Inputs<'_>, all: &[CauseIdle]) -> String {
    let most = all.iter().zip(inputs.idle()).zip(inputs.gpus()).max_by_key(|((cause, _), _)| cause.own_ns);
    let Some(((cause, idle), gpu)) = most else { return String::new() };
    let is_taken = |gap: &&IdleGap| {
        inputs.is_sampled || gap.parts.first().is_some_and(|part| part.cause == Cause::Unknown)
    };
    let (mut count, mut sum, mut end) = (0_u64, 0_i64, 0_i64);
    for gap in idle.longest.iter().filter(is_taken) {
        let gap_end = gap.start_ns.saturating_add(gap.duration_ns);
        (count, sum, end) = (count + 1, sum.saturating_add(gap.duration_ns), end.max(gap_end));
        if sum as f64 >= MOST * cause.own_ns as f64 {
            break;
        }
    }
    let gaps = cause.gaps;
    let Some(first) = idle.longest.iter().find(is_taken).filter(|_| gaps >= FEW) else {
        return String::new();
    };
    if (sum as f64) < MOST * cause.own_ns as f64 || count * FEW > gaps {
        return String::new();
    }
    let on = if inputs.gpus().len() > 1 { format!(" of GPU {}", gpu.gpu) } else { String::new() };
    let end = end.saturating_sub(gpu.start_ns);
    let when = match end as f64 <= BEGINNING * gpu.wall_ns as f64 {
        true => format!(" and {} before +{}", if count == 1 { "lies" } else { "lie" }, time(end)),
        false => String::new(),
    };
    let verb = if count == 1 { "holds" } else { "hold" };
    format!(
        "; {count} of {gaps} gaps{on} {verb} {} of it{when}, the longest before {}",
        time(sum),
        inputs.display(&first.after),
    )
}

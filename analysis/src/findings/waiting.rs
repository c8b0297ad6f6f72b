//! Ranks that are late in turn, so that the others wait although no one rank is slow.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::lost::Lost;
use super::words::{counted, percent, time};

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let Some(job) = &inputs.job else { return Vec::new() };
    let finding = Finding::of_gpus("waiting", inputs, job.in_turn.clone());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let needs = &job.ranks.needs;
    let mut last: Vec<(u64, &str)> = needs
        .ranks
        .iter()
        .zip(&job.ranks.ranks)
        .filter_map(|(need, rank)| Some((need.as_ref()?.last, rank.name.as_str())))
        .filter(|(times, _)| *times > 0)
        .collect();
    last.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    let name = |(at, (times, name)): (usize, &(u64, &str))| match at {
        0 => format!("{name} comes last in {times}"),
        _ => format!("{name} in {times}"),
    };
    let mut named: Vec<String> = last.iter().take(PLACES).enumerate().map(name).collect();
    if last.len() > PLACES {
        named.push(counted(
            (last.len() - PLACES) as u64,
            "other rank in the rest",
            "other ranks in the rest",
        ));
    }
    let lost = Lost::of_parts(inputs, job.of_late.clone());
    let (why, help) = match job.is_host_late {
        true => (
            format!("their hosts are late{}", lost.at()),
            "look at what hosts do at times: garbage collection, loaders of data, other processes, cores that are not their own",
        ),
        false => (
            "they compute longer then".to_owned(),
            "spread the work evenly in each step: lengths of sequences, tokens of experts, stages of a pipeline",
        ),
    };
    vec![Finding {
        sentence: format!(
            "ranks are late in turn: of {} in which others wait, {}, because {why}; {}{} would be won if the last \
             rank were as early as the median one ({} of the wall time)",
            counted(needs.notable, "collective", "collectives"),
            named.join(", "),
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
        ),
        evidence: lost.evidence(),
        look: "rtl-summary --by rank TRACE".to_owned(),
        help: help.to_owned(),
        ..finding
    }]
}

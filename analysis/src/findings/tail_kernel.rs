//! A kernel whose calls take longer at times, although they do the same work.

use rtl_schema::Tables;

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::trust::Evidence;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let analysis = inputs.analysis;
    let (tables, names) = (analysis.tables, &analysis.names);
    let &(worst, ref late) = analysis.late_calls()?;
    let mut finding = Finding::new("tail-kernel", inputs, late.excess_ns);
    let name = names.kernels[worst].label.to_string();
    finding.sentence = format!(
        "{} takes much longer in {} of {} calls of the same work, {} in all ({} of the wall time)",
        inputs.display(&name),
        late.calls,
        late.of,
        time(late.excess_ns),
        percent(finding.share),
    );
    finding.evidence = late.worst.iter().take(PLACES).map(|&(_, row)| call(tables, &name, row)).collect();
    finding.look = format!("rtl-summary {} --by step TRACE", inputs.select(&name));
    finding.help = "look at what runs at the same time (copies, collectives, another process) and at the clocks of the GPU"
        .to_owned();
    Some(finding)
}

fn call(tables: &Tables, name: &str, row: u32) -> Evidence {
    let (dispatches, row) = (&tables.dispatches, row as usize);
    let start_ns = dispatches.start[row];
    let end_ns = dispatches.duration.valid(row).map(|duration| start_ns.saturating_add(duration));
    Evidence { name: name.to_owned(), start_ns, end_ns, correlation: dispatches.correlation.get(row) }
}

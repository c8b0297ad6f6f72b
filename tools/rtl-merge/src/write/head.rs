//! The rows of the merged trace that no input has alone: metadata of the job, its processes and its agents.

use std::collections::BTreeMap;

use rtl_schema::Error;
use rtl_write::NativeWriter;
use serde_json::json;

use crate::identity::Places;
use crate::output::{CLOCK, TOTALS};
use crate::plan::Plan;
use crate::read::Input;

pub(super) fn write(
    writer: &mut NativeWriter,
    inputs: &[Input],
    places: &Places,
    plan: &Plan,
) -> Result<(), Error> {
    write_metadata(writer, inputs)?;
    if let Some((field, id)) = &plan.clock {
        writer.push_metadata(CLOCK, &json!({ (*field): id }).to_string())?;
    }
    for (number, process) in &plan.processes {
        writer.push_process(process, Some(*number))?;
    }
    for device in &places.devices.all {
        writer.push_agent(&device.agent, None, device.number)?;
    }
    writer.keep_range_ids(plan.last_range);
    Ok(())
}

/// Metadata that all inputs share, and sums of their counts.
fn write_metadata(writer: &mut NativeWriter, inputs: &[Input]) -> Result<(), Error> {
    writer.push_metadata("schema_version", "rtl-1")?;
    let common = |of: &dyn Fn(&Input) -> Option<String>| {
        let first = of(inputs.first()?)?;
        inputs.iter().all(|input| of(input).as_ref() == Some(&first)).then_some(first)
    };
    let tool = common(&|input| Some(input.info.tool.clone())).unwrap_or_else(|| "several".to_owned());
    writer.push_metadata("tool", &tool)?;
    for (tag, value) in [
        ("tool_version", common(&|input| input.info.tool_version.clone())),
        ("mode", common(&|input| input.info.mode.clone())),
        ("run_id", common(&|input| input.tag("run_id").map(str::to_owned))),
        // The least complete input counts.
        ("complete", inputs.iter().filter_map(|input| input.tag("complete")).min().map(str::to_owned)),
    ] {
        if let Some(value) = value {
            writer.push_metadata(tag, &value)?;
        }
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for input in inputs {
        for (reason, count) in &input.info.losses {
            let tag = if reason.contains(':') { reason.clone() } else { format!("lost:{reason}") };
            *counts.entry(tag).or_default() += count;
        }
        for tag in TOTALS {
            if let Some(count) = input.tag(tag).and_then(|count| count.trim().parse::<u64>().ok()) {
                *counts.entry(tag.to_owned()).or_default() += count;
            }
        }
    }
    for (tag, count) in counts {
        writer.push_metadata(&tag, &count.to_string())?;
    }
    Ok(())
}

//! Tests that the tracer states its own cost.

use std::io::Write;

use e2e::Process;
use rtl_schema::{Select, Trace};

#[test]
fn the_cost_of_tracing_is_in_the_file() {
    for process in Process::on_every_stack("on_request") {
        let outcome = process.traced_while(|input, output, _| {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            // The collector requests samples while it is awake.
            for _ in 0..100 {
                writeln!(input, "50").unwrap();
                output.read_line(&mut line).unwrap();
            }
        });
        let tables = Trace::open(&outcome.traces[0]).unwrap().read(&Select::ops()).unwrap();
        let costs: Vec<_> = tables.info.recorder_costs().collect();
        let [cost] = costs[..] else { panic!("{outcome:?}") };
        let threads = cost.collector_cpu_ns + cost.recorder_cpu_ns;
        assert!(threads > 0 && threads <= cost.process_cpu_ns, "{cost:?}");
        assert!(cost.launch_samples > 0 && cost.launch_ns.is_some_and(|ns| ns > 0.0), "{cost:?}");
        assert!(cost.buffer_peak_bytes > 0, "{cost:?}");
    }
}

#[test]
fn the_hooks_of_ranges_are_counted_and_timed() {
    for process in Process::on_every_stack("ranges") {
        let outcome = process.arguments(&["global", "8", "4000"]).preloaded().well();
        let select = Select { ranges: true, ..Select::ops() };
        let tables = Trace::open(&outcome.traces[0]).unwrap().read(&select).unwrap();
        let costs: Vec<_> = tables.info.recorder_costs().collect();
        let [cost] = costs[..] else { panic!("{outcome:?}") };
        // A range that was left open has one hook, and a name has one that leads to no row.
        let markers = tables.ranges.iter().filter(|range| range.is_marker()).count();
        let events = 2 * tables.ranges.len() - markers;
        let hooks = usize::try_from(cost.hooks).unwrap();
        assert!(events > 1_000 && hooks.abs_diff(events) < 200, "{hooks} hooks, {events} events");
        assert!(cost.hook_samples > 0 && cost.hook_ns.is_some_and(|ns| ns > 0.0), "{cost:?}");
    }
}

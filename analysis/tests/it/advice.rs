//! Advice fits what the trace shows of the program: small traces of one thread.

use crate::common::{analysis, call, copy, dispatch, range};
use rtl_analysis::findings::{Finding, findings};
use rtl_analysis::trust::{Health, Reason};
use rtl_schema::table::{Direction, Dispatch, Operator};
use rtl_schema::{Dialect, Tables};

const MS: i64 = 1_000_000;
const US: i64 = 1_000;

/// The thread 7 launches a kernel at a moment; it runs 10 us later, for a time in ns.
fn launch(tables: &mut Tables, moment: i64, ns: i64) {
    let correlation = tables.api_calls.len() as i64 + 1;
    call(tables, 7, "cudaLaunchKernel", correlation, moment, moment + 5 * US);
    let row = Dispatch { start: moment + 10 * US, duration: Some(ns), correlation, ..Dispatch::default() };
    dispatch(tables, 0, 0, row, "gemm");
}

fn operator(tables: &mut Tables, name: &str, [start, end]: [i64; 2]) {
    let name = tables.strings.intern(name);
    let row = Operator { tid: Some(7), name, start, duration: Some(end - start), ..Operator::default() };
    tables.operators.push(row);
}

fn first(tables: &Tables) -> Finding {
    findings(&analysis(tables), &Health::default()).findings.first().expect("a finding").clone()
}

/// Launches of 1 ms without a gap, and one after 30 ms.
fn one_gap() -> Tables {
    let mut tables = Tables::default();
    (0..5).for_each(|at| launch(&mut tables, at * MS / 2, MS));
    launch(&mut tables, 30 * MS, MS);
    tables
}

#[test]
fn a_loader_without_workers_is_to_have_some() {
    let mut tables = one_gap();
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    range(&mut tables, 1, Some(7), loader, 3 * MS, 30 * MS - US);
    assert!(first(&tables).help.contains("num_workers"));
    let mut tables = one_gap();
    range(&mut tables, 1, Some(7), "tf_data.next", 3 * MS, 30 * MS - US);
    let help = first(&tables).help;
    assert!(help.starts_with("load ahead of time") && !help.contains("num_workers"), "{help}");
}

#[test]
fn only_an_operator_that_launches_nothing_seems_to_compute_on_the_cpu() {
    let with_end = |end| {
        let mut tables = one_gap();
        operator(&mut tables, "aten::normal_", [3 * MS, end]);
        first(&tables)
    };
    let apart = with_end(30 * MS - US);
    assert!(apart.id == "idle-host" && apart.help.contains("on the CPU"), "{apart:?}");
    let around = with_end(30 * MS + 6 * US);
    assert!(around.id == "idle-host" && !around.help.contains("on the CPU"), "{around:?}");
}

#[test]
fn a_synchronize_of_the_device_is_no_result_that_is_read() {
    let waits = |function: &str, operator_name: Option<&str>| {
        let mut tables = Tables::default();
        for step in 0..10 {
            let start = step * 2 * MS;
            launch(&mut tables, start, MS);
            let [begin, end] = [start + 20 * US, start + 15 * MS / 10];
            call(&mut tables, 7, function, 0, begin, end);
            if let Some(name) = operator_name {
                operator(&mut tables, name, [begin - US, end + US]);
            }
        }
        tables.info.dialect = Dialect::Kineto;
        let first = first(&tables);
        assert_eq!(first.id, "idle-sync");
        first.help
    };
    assert!(waits("cudaDeviceSynchronize", None).contains("whole device"));
    assert!(waits("cudaStreamSynchronize", Some("aten::_local_scalar_dense")).contains("`.item()`"));
    assert!(waits("cudaStreamSynchronize", Some("aten::nonzero")).contains("boolean masks"));
}

/// 200 kernels of 2 us, one every 50 us.
fn slow_host() -> Tables {
    let mut tables = Tables::default();
    (0..200).for_each(|at| launch(&mut tables, at * 50 * US, 2 * US));
    tables.info.dialect = Dialect::Kineto;
    tables
}

#[test]
fn advice_on_a_slow_host_names_what_the_host_runs() {
    let plain = first(&slow_host());
    assert_eq!(plain.id, "launch-bound");
    assert!(plain.help.contains("torch.compile") && !plain.help.contains("optimizer"), "{}", plain.help);
    let within = |name: &str| {
        let mut tables = slow_host();
        range(&mut tables, 1, Some(7), name, -US, 4 * MS);
        first(&tables).help
    };
    assert!(within("Optimizer.zero_grad#SGD.zero_grad").contains("`zero_grad(set_to_none=True)`"));
    assert!(within("Optimizer.step#AdamW.step").contains("`fused=True`"));
    let mut jax = slow_host();
    jax.info.dialect = Dialect::JaxJson;
    let help = first(&jax).help;
    assert!(help.contains("`jax.jit`") && !help.contains("torch"), "{help}");
}

#[test]
fn graphs_are_in_use_only_where_the_host_launches_them() {
    // The first launches are of single kernels, the others of graphs of 20 kernels without gaps.
    let help = |singles: i64| {
        let mut tables = Tables::default();
        for at in 0..40 {
            let moment = at * 500 * US;
            launch(&mut tables, moment, 2 * US);
            if at >= singles {
                *tables.api_calls.name.last_mut().unwrap() = tables.strings.intern("cudaGraphLaunch");
            }
            let correlation = tables.dispatches.correlation.get(tables.dispatches.len() - 1);
            for node in 1..if at >= singles { 20 } else { 1 } {
                let start = moment + 10 * US + node * 2 * US;
                let row = Dispatch { start, duration: Some(2 * US), correlation, ..Dispatch::default() };
                dispatch(&mut tables, 0, 0, row, "gemm");
            }
        }
        first(&tables).help
    };
    assert!(help(2).starts_with("graphs are in use already"), "{}", help(2));
    assert!(!help(30).contains("graphs are in use"), "{}", help(30));
}

#[test]
fn copies_that_the_host_waits_for_state_direction_and_memory() {
    let mut tables = Tables::default();
    launch(&mut tables, 0, MS);
    for at in 1..5 {
        let start = at * 10 * MS;
        call(&mut tables, 7, "cudaMemcpyAsync", 100 + at, start, start + 4 * MS);
        copy(&mut tables, 0, Direction::DeviceToHost, None, start + 10 * US, start + 4 * MS);
        let name = tables.strings.intern("Memcpy DtoH (Device -> Pageable)");
        let copied = tables.copies.last_mut().unwrap();
        (copied.name, copied.correlation) = (name, 100 + at);
        launch(&mut tables, start + 4 * MS + 20 * US, 5 * MS);
    }
    let first = first(&tables);
    assert_eq!(first.id, "blocking-copy");
    assert!(first.sentence.contains("most of them device-to-host (pageable memory)"), "{}", first.sentence);
    assert!(first.help.contains("to pinned memory without blocking"), "{}", first.help);
}

#[test]
fn a_slow_host_repeats_what_trust_says_of_the_profiler() {
    let sentence = "about 30 % of the wall time is torch.profiler itself (200 calls and operators)";
    let reason =
        Reason { id: "profiler-cost".to_owned(), sentence: sentence.to_owned(), ..Reason::default() };
    let tables = slow_host();
    let told = findings(&analysis(&tables), &Health::of(vec![reason])).findings;
    assert!(told[0].sentence.ends_with(&format!("; {sentence}")), "{}", told[0].sentence);
    assert!(!first(&tables).sentence.contains("profiler"));
}

#[test]
fn a_trace_without_gpu_events_states_what_the_host_ran() {
    let mut tables = Tables::default();
    operator(&mut tables, "aten::linear", [0, 4 * MS]);
    operator(&mut tables, "aten::addmm", [0, 4 * MS]);
    operator(&mut tables, "aten::relu", [5 * MS, 6 * MS]);
    let headline = findings(&analysis(&tables), &Health::default()).headline;
    let told = "No work of a GPU is recorded: 3 operators on the CPU run for 5.00 ms, longest aten::linear with 4.00 ms";
    assert_eq!(headline.without_gpu(), told);
}

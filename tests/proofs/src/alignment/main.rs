//! How far off are aligned clocks, and is the straggler named? On simulated clusters, each question by its name or all:
//!
//! `cargo run --release -p proofs --bin alignment -- 200 [constant|wandering|bias|straggler|cut]...`

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

mod cluster;
mod cut;
mod questions;

use cluster::Cluster;
use cut::cut_jobs;
use questions::{CLUSTER, clocks, straggler};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(50);
    let questions: Vec<String> = arguments.collect();
    let asked = |name: &str| questions.is_empty() || questions.iter().any(|question| question == name);
    if asked("constant") {
        print_errors("constant drift", CLUSTER, count);
    }
    if asked("wandering") {
        print_errors("drift that wanders by 0.1 ppm", Cluster { wander: 1e-7, ..CLUSTER }, count);
        print_errors("drift that wanders by 1 ppm", Cluster { wander: 1e-6, ..CLUSTER }, count);
    }
    if asked("bias") {
        print_errors("ends of a node late by 10 us", Cluster { bias: 10_000.0, ..CLUSTER }, count);
    }
    if asked("straggler") {
        println!("straggler named first: {} of {count}", straggler(count));
    }
    if asked("cut") {
        let found = cut_jobs(count);
        println!(
            "jobs whose ranks lack calls: straggler right in {} of {}, {} of {} collectives matched",
            found.right, found.jobs, found.matched, found.collectives
        );
    }
}

fn print_errors(title: &str, cluster: Cluster, count: u64) {
    let errors = clocks(cluster, count);
    println!(
        "{title}: error p50 {:.2} us, p99 {:.2} us, worst {:.2} us; stated on average {:.2} us, which covers {:.1} % of \
         {} nodes; {} violations, {} refused",
        errors.microseconds(0.5),
        errors.microseconds(0.99),
        errors.microseconds(1.0),
        errors.stated / f64::from(errors.nodes) / 1e3,
        100.0 * f64::from(errors.covered) / f64::from(errors.nodes),
        errors.nodes,
        errors.violations,
        errors.refused,
    );
}

//! The short version of `proofs/src/alignment`: clusters whose true clocks are known. Seeds are fixed, so the figures are
//! the same every time.

#![allow(dead_code, reason = "shared with the long version, which asks more")]

#[path = "../src/alignment/cluster.rs"]
mod cluster;
#[path = "../src/alignment/cut.rs"]
mod cut;
#[path = "../src/alignment/questions.rs"]
mod questions;

use cluster::Cluster;
use cut::cut_jobs;
use questions::{CLUSTER, clocks, straggler};

#[test]
fn clocks_that_drift_are_put_on_one_to_a_microsecond() {
    let errors = clocks(CLUSTER, 3);
    assert!(errors.microseconds(0.99) < 1.0, "{}", errors.microseconds(0.99));
    assert_eq!((errors.nodes, errors.refused, errors.violations), (21, 0, 0));
}

#[test]
fn so_are_clocks_whose_drift_wanders() {
    let errors = clocks(Cluster { wander: 1e-6, ..CLUSTER }, 3);
    assert!(errors.microseconds(0.99) < 2.0, "{}", errors.microseconds(0.99));
    assert_eq!(errors.violations, 0);
}

#[test]
fn ends_that_are_always_late_on_a_node_are_within_the_stated_error() {
    let errors = clocks(Cluster { bias: 10_000.0, ..CLUSTER }, 5);
    assert!(errors.covered >= 34, "{} of {}", errors.covered, errors.nodes);
    assert!(errors.microseconds(1.0) > 10.0, "the bias cannot be seen in the clocks");
}

#[test]
fn a_cluster_that_hardly_meets_is_left_alone() {
    let errors = clocks(Cluster { collectives: 8, ..CLUSTER }, 2);
    assert_eq!((errors.nodes, errors.refused), (0, 14));
}

#[test]
fn a_rank_that_computes_three_percent_longer_is_named_without_clocks() {
    assert_eq!(straggler(5), 5);
}

#[test]
fn jobs_whose_ranks_lack_calls_are_matched_and_their_straggler_is_named() {
    let found = cut_jobs(60);
    assert!(found.right >= 59, "{found:?}");
    assert!(found.matched as f64 >= 0.999 * found.collectives as f64, "{found:?}");
}

//! Is the cause of lost time the first finding, and is its cost right? On simulated runs with planted causes:
//!
//! `cargo run --release -p proofs --bin findings -- 200 [verbose]`

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

mod judge;
mod machine;
mod program;

use judge::{healthy, planted};
use program::Cause;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(200);
    let verbose = arguments.next().is_some();
    let (mut first, mut near) = (0, 0);
    for (cause, number) in Cause::ALL.into_iter().zip(0..) {
        let seeds = (0..count).filter(|seed| seed % Cause::ALL.len() as u64 == number);
        let judged: Vec<_> = seeds.map(|seed| planted(cause, seed)).collect();
        let firsts = judged.iter().filter(|judged| judged.is_first).count();
        let nears = judged.iter().filter(|judged| judged.cost_is_near).count();
        println!("{}: first in {firsts} of {}, cost within 10 % in {nears}", cause.id(), judged.len());
        for judged in judged.iter().filter(|judged| verbose && !judged.cost_is_near) {
            println!("  {:?} costs {:.3}", judged.plan, judged.share);
            for finding in &judged.found {
                println!("    {:.3} {}: {}", finding.share, finding.id, finding.sentence);
            }
        }
        (first, near) = (first + firsts, near + nears);
    }
    println!("the planted cause is the first finding in {first} of {count}, with the right cost in {near}");
    let found: Vec<_> = (0..count).map(healthy).filter(|found| !found.is_empty()).collect();
    println!("healthy traces with a finding: {} of {count}", found.len());
    for finding in found.iter().flatten().filter(|_| verbose) {
        println!("    {:.3} {}: {}", finding.share, finding.id, finding.sentence);
    }
}

//! Findings about ranks that wait for each other, against jobs of a small machine that is run again without the cause.

use crate::common::analysis;
use proptest::prelude::*;
use rtl_analysis::findings::{Finding, findings};
use rtl_analysis::trust::Health;
use rtl_schema::table::{Agent, AgentKind, ApiCall, Collective, Dispatch, Operator, Process, Track};
use rtl_schema::{AgentId, NameId, ProcessId, Tables};

const ALL_REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";
const US: i64 = 1_000;

/// A job: each step of a rank launches its kernels, then a collective.
#[derive(Debug, Clone)]
struct Job {
    steps: usize,
    /// By rank: what the host needs before each launch in ns.
    host: Vec<i64>,
    /// By rank: what its kernels take in ns.
    kernels: Vec<Vec<(&'static str, i64)>>,
    /// Step, rank and how long the host is late in it in ns.
    late: Vec<(usize, usize, i64)>,
    /// Step, rank and how much longer its first kernel takes in it in ns.
    longer: Vec<(usize, usize, i64)>,
    /// True if hosts wait for their GPUs after each step.
    is_synchronised: bool,
    transfer: i64,
    collective: &'static str,
    /// How many ranks the trace says the job has.
    world: u32,
    /// By rank: the kernels of the first step that its recording lacks.
    unseen: Vec<usize>,
}

impl Job {
    fn new(ranks: usize) -> Self {
        Self {
            steps: 40,
            host: vec![10 * US; ranks],
            kernels: vec![vec![("gemm", 200 * US); 4]; ranks],
            late: Vec::new(),
            longer: Vec::new(),
            is_synchronised: true,
            transfer: 50 * US,
            collective: ALL_REDUCE,
            world: ranks as u32,
            unseen: vec![0; ranks],
        }
    }

    /// The trace, and when its last collective ends.
    fn run(&self) -> (Tables, i64) {
        let mut tables = Tables::default();
        let ranks = self.host.len();
        for rank in 0..ranks as u32 {
            let process = Process {
                rank: Some(rank),
                world: Some(self.world),
                boot_id: Some("boot".to_owned()),
                space: rank,
                ..Process::default()
            };
            tables.processes.push(process);
            tables.agents.push(Agent { kind: AgentKind::Gpu, number: i64::from(rank), ..Agent::default() });
        }
        let (mut hosts, mut gpus) = (vec![0_i64; ranks], vec![0_i64; ranks]);
        let mut correlation = 0;
        for step in 0..self.steps {
            let mut arrivals = Vec::new();
            for rank in 0..ranks {
                let late = self.late.iter().filter(|late| (late.0, late.1) == (step, rank));
                hosts[rank] += late.map(|late| late.2).sum::<i64>();
                let longer = self.longer.iter().filter(|longer| (longer.0, longer.1) == (step, rank));
                let longer: i64 = longer.map(|longer| longer.2).sum();
                for (at, &(name, ns)) in self.kernels[rank].iter().enumerate() {
                    let ns = if at == 0 { ns + longer } else { ns };
                    correlation += 1;
                    hosts[rank] += self.host[rank];
                    let launch = hosts[rank];
                    hosts[rank] += 5 * US;
                    let start = gpus[rank].max(hosts[rank] + 2 * US);
                    gpus[rank] = start + ns;
                    if step > 0 || at >= self.unseen[rank] {
                        call(&mut tables, rank, "hipLaunchKernel", correlation, [launch, hosts[rank]]);
                        kernel(&mut tables, rank, name, correlation, [start, start + ns]);
                    }
                }
                correlation += 1;
                let launch = hosts[rank];
                hosts[rank] += 5 * US;
                call(&mut tables, rank, "hipLaunchKernel", correlation, [launch, hosts[rank]]);
                arrivals.push((gpus[rank].max(hosts[rank] + 2 * US), correlation));
            }
            let end = arrivals.iter().map(|arrival| arrival.0).max().unwrap() + self.transfer;
            for (rank, &(start, correlation)) in arrivals.iter().enumerate() {
                kernel(&mut tables, rank, self.collective, correlation, [start, end]);
                gpus[rank] = end;
                if self.is_synchronised {
                    call(&mut tables, rank, "hipStreamSynchronize", 0, [hosts[rank], end]);
                    hosts[rank] = end;
                }
            }
        }
        (tables, gpus[0])
    }
}

fn call(tables: &mut Tables, rank: usize, name: &str, correlation: i64, [start, end]: [i64; 2]) {
    let (name, domain) = (tables.strings.intern(name), tables.strings.intern("hip"));
    tables.api_calls.push(ApiCall {
        process: ProcessId(rank as u32),
        tid: Some(7),
        name,
        domain,
        correlation,
        start,
        duration: Some(end - start),
        category: NameId::NONE,
        args: NameId::NONE,
        ..ApiCall::default()
    });
}

fn kernel(tables: &mut Tables, rank: usize, name: &str, correlation: i64, [start, end]: [i64; 2]) {
    let (process, agent) = (ProcessId(rank as u32), AgentId(rank as u32));
    let track = tables.tracks.intern(Track { process, agent, ..Track::default() });
    let (name, duration) = (tables.strings.intern(name), Some(end - start));
    tables.dispatches.push(Dispatch { track, name, start, duration, correlation, ..Dispatch::default() });
}

fn found(tables: &Tables) -> Vec<Finding> {
    findings(&analysis(tables), &Health::default()).findings
}

fn only(tables: &Tables, id: &str) -> Finding {
    let found = found(tables);
    let own: Vec<&Finding> = found.iter().filter(|finding| finding.id == id).collect();
    assert_eq!(own.len(), 1, "{id} in {found:#?}");
    own[0].clone()
}

/// Asserts that a finding costs what the job takes less without its cause, within a tenth.
fn assert_costs(finding: &Finding, with: i64, without: i64) {
    let (cost, truth) = (finding.cost_ns as f64, (with - without) as f64);
    assert!((cost - truth).abs() <= 0.1 * truth, "{cost} of {truth}: {}", finding.sentence);
}

#[test]
fn a_straggler_costs_what_is_won_at_the_pace_of_the_next_host() {
    let mut job = Job { is_synchronised: false, kernels: vec![vec![("gemm", 15 * US); 4]; 4], ..Job::new(4) };
    job.host = vec![120 * US, 120 * US, 120 * US, 128 * US];
    let (tables, with) = job.run();
    job.host[3] = 120 * US;
    let straggler = only(&tables, "straggler");
    assert_costs(&straggler, with, job.run().1);
    assert_eq!(straggler.ranks, [3]);
    assert!(straggler.sentence.contains("because its host needs"), "{}", straggler.sentence);
    let first = &found(&tables)[0];
    assert_eq!((first.id.as_str(), first.gpus.len()), ("launch-bound", 0), "{}", first.sentence);
    assert!(first.sentence.contains("the hosts of all ranks"), "{}", first.sentence);
}

#[test]
fn the_kernel_that_only_a_straggler_runs_is_named() {
    let mut job = Job::new(4);
    job.kernels[1].push(("product", 300 * US));
    job.kernels[1][0].1 += 10 * US;
    let (tables, with) = job.run();
    job.kernels[1] = job.kernels[0].clone();
    let straggler = only(&tables, "straggler");
    assert_costs(&straggler, with, job.run().1);
    let all = 40.0 * 0.310;
    assert!(
        straggler.sentence.contains(&format!("it computes {all:.1} ms longer")),
        "{}",
        straggler.sentence
    );
    let named = "most of it in product, which only it runs (+12.0 ms)";
    assert!(straggler.sentence.contains(named), "{}", straggler.sentence);
}

#[test]
fn no_kernel_is_named_where_many_share_the_difference() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let mut job = Job { kernels: vec![names.map(|name| (name, 50 * US)).to_vec(); 4], ..Job::new(4) };
    job.kernels[2].iter_mut().for_each(|kernel| kernel.1 += 10 * US);
    let straggler = only(&job.run().0, "straggler");
    assert!(straggler.sentence.contains("it computes 4.00 ms longer. "), "{}", straggler.sentence);
}

#[test]
fn ranks_that_are_late_in_turn_are_a_finding_with_the_cost_of_their_lateness() {
    let mut job = Job::new(8);
    job.late = (0..40).map(|step| (step, (step * 5 + step / 3) % 8, 800 * US)).collect();
    let (tables, with) = job.run();
    job.late.clear();
    let waiting = only(&tables, "waiting");
    assert_costs(&waiting, with, job.run().1);
    assert_eq!(found(&tables)[0].id, "waiting");
    assert!(waiting.sentence.contains("because their hosts are late"), "{}", waiting.sentence);
}

#[test]
fn ranks_whose_work_is_longer_in_turn_wait_for_each_other() {
    let mut job = Job::new(4);
    job.longer = (0..40).map(|step| (step, (step * 3 + step / 4) % 4, 500 * US)).collect();
    let (tables, with) = job.run();
    job.longer.clear();
    let waiting = only(&tables, "waiting");
    assert!(waiting.sentence.contains("because they compute longer then"), "{}", waiting.sentence);
    // The rank that is late does not wait: of four, the others lose all of it in three steps of four.
    assert!(waiting.cost_ns * 2 > with - job.run().1, "{}", waiting.sentence);
    assert!(waiting.cost_ns <= with - job.run().1, "{}", waiting.sentence);
}

#[test]
fn a_rank_whose_recording_began_late_has_no_less_work() {
    let mut job = Job { steps: 12, ..Job::new(4) };
    job.unseen = vec![3, 0, 2, 1];
    let (tables, _) = job.run();
    let ids: Vec<String> = found(&tables).into_iter().map(|finding| finding.id).collect();
    assert!(!ids.iter().any(|id| id == "imbalance" || id == "straggler" || id == "waiting"), "{ids:?}");
}

#[test]
fn sends_and_exchanges_of_ranks_are_matched() {
    let mut job =
        Job { collective: "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", ..Job::new(2) };
    job.kernels[0].push(("gemm", 300 * US));
    let (tables, with) = job.run();
    job.kernels[0].pop();
    let straggler = only(&tables, "straggler");
    assert_costs(&straggler, with, job.run().1);
    assert_eq!(straggler.ranks, [0]);
    let exposed = only(&tables, "exposed-comm");
    let parts = "6.00 ms of that is waiting for late ranks, and 2.00 ms is transfer (hiding it wins at most";
    assert!(exposed.sentence.contains(parts), "{}", exposed.sentence);
}

#[test]
fn ranks_without_a_trace_are_counted_and_nobody_is_blamed_for_them() {
    let mut job = Job { world: 8, transfer: 400 * US, ..Job::new(4) };
    job.kernels[2][0].1 += 3 * US;
    let (tables, _) = job.run();
    let exposed = only(&tables, "exposed-comm");
    let missing = "waiting for late ranks: 4 of 8 have none";
    assert!(exposed.sentence.contains(missing), "{}", exposed.sentence);
    assert!(found(&tables).iter().all(|finding| finding.id != "straggler" && finding.id != "waiting"));
    // A group of fewer ranks lacks fewer.
    let mut tables = tables;
    let ranks = tables.strings.intern("[0, 1, 2, 3, 5]");
    let group = Collective { ranks, size: Some(5), ..Collective::default() };
    tables.collectives.intern(group);
    let exposed = only(&tables, "exposed-comm");
    assert!(exposed.sentence.contains("waiting for late ranks: 1 of 5 has none"), "{}", exposed.sentence);
}

#[test]
fn communication_of_the_host_has_its_place_and_its_cost() {
    let mut job = Job::new(1);
    job.late = (0..40).map(|step| (step, 0, 1_200 * US)).collect();
    let (mut tables, with) = job.run();
    job.late.clear();
    // The host is late at the start of each step, in an operator of gloo.
    let calls: Vec<(i64, i64)> = (0..tables.api_calls.len())
        .filter(|&row| tables.strings.get(tables.api_calls.name[row]) == "hipStreamSynchronize")
        .map(|row| (tables.api_calls.start[row], tables.api_calls.duration.get(row).unwrap()))
        .collect();
    for (start, duration) in std::iter::once((0, 0)).chain(calls) {
        let name = tables.strings.intern("gloo:all_reduce");
        let start = start + duration;
        let row = Operator { tid: Some(7), name, start, duration: Some(1_200 * US), ..Operator::default() };
        tables.operators.push(row);
    }
    let of_host: Vec<Finding> = found(&tables)
        .into_iter()
        .filter(|finding| finding.sentence.contains("the host communicates with other ranks"))
        .collect();
    let [finding] = &of_host[..] else { panic!("{:#?}", found(&tables)) };
    assert_eq!(finding.id, "exposed-comm");
    assert!(finding.sentence.contains("most at gloo:all_reduce"), "{}", finding.sentence);
    assert_costs(finding, with, job.run().1);
}

prop_compose! {
    fn jobs()(
        ranks in 2_usize..6,
        steps in 2_usize..30,
        host in prop::collection::vec(1_i64..200, 6),
        work in prop::collection::vec(1_i64..200, 6),
        late in prop::collection::vec((0_usize..30, 0_usize..6, 0_i64..2_000), 0..40),
        is_synchronised: bool,
        transfer in 1_i64..300,
        more_world in 0_u32..3,
        unseen in prop::collection::vec(0_usize..4, 6),
        is_exchange: bool,
    ) -> Job {
        Job {
            steps,
            host: host[..ranks].iter().map(|us| us * US).collect(),
            kernels: work[..ranks].iter().map(|us| vec![("gemm", us * US); 4]).collect(),
            late: late.into_iter().map(|(step, rank, us)| (step, rank, us * US)).collect(),
            longer: Vec::new(),
            is_synchronised,
            transfer: transfer * US,
            collective: if is_exchange { "ncclDevKernel_SendRecv" } else { ALL_REDUCE },
            world: ranks as u32 + more_world,
            unseen: unseen[..ranks].to_vec(),
        }
    }
}

proptest! {
    /// Findings that do not fit into the wall time of a GPU, alone or together, panic where assertions are on.
    #[test]
    fn findings_of_any_job_fit_into_its_wall_time(job in jobs()) {
        let (tables, _) = job.run();
        for finding in found(&tables) {
            prop_assert!((0.0..=1.0).contains(&finding.share), "{}", finding.sentence);
        }
    }

    /// Whatever bounds a job, a rank that becomes as fast as the next one wins no more than the machine says.
    #[test]
    fn a_straggler_never_costs_more_than_what_is_won(mut job in jobs()) {
        // Ranks that are late at times, too, share the waiting with it.
        job.late.clear();
        let (tables, with) = job.run();
        if let Some(straggler) = found(&tables).into_iter().find(|finding| finding.id == "straggler") {
            let rank = straggler.ranks[0] as usize;
            // The machine with a rank in its place that is like the slowest of the others.
            let like = |other: usize| {
                let mut faster = job.clone();
                faster.host[rank] = job.host[other];
                faster.kernels[rank] = job.kernels[other].clone();
                with - faster.run().1
            };
            let won = (0..job.host.len()).filter(|&at| at != rank).map(like).min().unwrap();
            // What ranks did before the first collective is taken for one step.
            let step = with as f64 / job.steps as f64;
            prop_assert!(
                straggler.cost_ns as f64 <= 1.1 * won as f64 + step,
                "{won} of {with}: {}", straggler.sentence
            );
        }
    }
}

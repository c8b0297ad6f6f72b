//! RTG's text files, through the door that every trace takes.

use std::io::Write;

use proptest::prelude::*;
use rtl_schema::table::{Direction, RangeKind, Shape};
use rtl_schema::{Dialect, ProblemKind, Select, Tables, Trace};

fn read_as(content: &[u8], select: &Select) -> Tables {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let trace = Trace::open(file.path()).unwrap();
    assert_eq!(trace.dialect(), Dialect::Rtg);
    trace.read(select).unwrap()
}

fn read(content: &str) -> Tables {
    read_as(content.as_bytes(), &Select::everything())
}

const KERNEL: &str = "profile:  kernel;\t     gemm.kd;\t   1.0 us;\t1000;\t2000;\t#0.1.0;\n";
const BARRIER: &str = "profile: barrier;\t            ;\t   0.5 us;\t2000;\t2500;\t#0.1.1;\n";
const COPY: &str =
    "profile:    copy;\tHostToDevice;\t   3.0 us;\t1000;\t4000;\t#1.0.0;\t8192 bytes;\t1 MB;\t2 GB/s;\n";

#[test]
fn kernels_barriers_and_copies_have_a_place_and_a_time() {
    let tables = read(&[KERNEL, BARRIER, COPY].concat());
    let kernel = tables.dispatches.get(0);
    assert_eq!(tables.strings.get(kernel.name), "gemm.kd");
    assert_eq!((kernel.start, kernel.duration), (1000, Some(1000)));
    let track = tables.tracks.get(kernel.track);
    assert_eq!((tables.agent(track.agent).number, track.queue), (0, 1));

    let barrier = tables.barriers[0];
    assert_eq!(tables.strings.get(barrier.name), "");
    assert_eq!((barrier.start, barrier.duration, barrier.track), (2000, Some(500), kernel.track));

    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.bytes), (Direction::HostToDevice, Some(8192)));
    assert_eq!(tables.agent(tables.tracks.get(copy.track).agent).number, 1);
    assert_eq!(tables.processes.len(), 1);
    assert_eq!(tables.problems.iter().count(), 0);
}

#[test]
fn ids_are_line_numbers_over_all_tables_and_the_applications_lines_count() {
    let tables = read(&["epoch 1\n", KERNEL, "loss = 0.5; lr = 1\n", COPY, BARRIER].concat());
    assert_eq!((tables.dispatches.get(0).id, tables.copies[0].id, tables.barriers[0].id), (2, 4, 5));
}

#[test]
fn line_ends_of_windows_and_bytes_that_are_no_text_are_read() {
    let mut content = KERNEL.replace('\n', "\r\n").into_bytes();
    content.extend_from_slice(b"\xff\xfe progress \xf0\n");
    content.extend_from_slice(b"profile:  kernel;\tbad\xffname;\t 1.0 us;\t5;\t6;\t#0.0.0;");
    let tables = read_as(&content, &Select::everything());
    assert_eq!(tables.dispatches.len(), 2);
    assert_eq!(tables.strings.get(tables.dispatches.name[1]), "bad\u{fffd}name");
}

#[test]
fn a_malformed_record_is_counted_and_left_out() {
    let cut = "profile:  kernel;\t     gemm.kd;\t   1.0 us;\t10";
    let tables = read(&[KERNEL, "profile: kernel;\tx;\t1 us;\tnow;\tthen;\t#0.0.0;\n", cut].concat());
    assert_eq!(tables.dispatches.len(), 1);
    let problem = tables.problems.iter().next().unwrap();
    assert_eq!((problem.kind, problem.count, problem.first), (ProblemKind::BadValue, 2, 2));
}

#[test]
fn a_copy_without_its_size_is_kept() {
    let tables = read("profile: copy;\tDeviceToHost;\t1 us;\t10;\t20;\t#0.0.0;\n");
    assert_eq!((tables.copies[0].bytes, tables.copies[0].direction), (None, Direction::DeviceToHost));
}

#[test]
fn a_line_longer_than_any_buffer_is_one_line() {
    let name = "x".repeat(3 << 20);
    let tables = read(&format!("{KERNEL}profile: kernel;\t{name};\t1 us;\t10;\t20;\t#0.0.0;\n"));
    assert_eq!(tables.strings.get(tables.dispatches.name[1]).len(), 3 << 20);
}

/// One launch: the call, the packet on the host and on the device, a barrier, a copy, a range and a marker.
const TEXT: &str = "\
HIP: pid:10 tid:140 hipLaunchKernel(f, {4,1,1}) [kern_a(int*)] ret=0 @900 +50
HSA: pid:10 tid:140 dispatch queue:3 agent:94 signal:1 name:'kern_a(int*)' tick:920 id:0 workgroup:{64,2,1} grid:{250,2,1}
HSA: pid:10 tid:141 dispatch queue:3 agent:94 signal:1 name:'kern_a(int*)' start:1000 stop:1300 id:0
HSA: pid:10 tid:141 barrier queue:3 agent:94 signal:2 start:1300 stop:1310 dep1:1 dep2:0 dep3:0 dep4:0 dep5:0 id:1
HSA: pid:10 tid:141 copy agent:95 signal:3 start:1400 stop:1500 dep1:0 dep2:0 dep3:0 dep4:0 dep5:0
HSA: pid:10 tid:140 hsa_signal_create (1, 0, nil, 0x7ff) ret=0 @1600 +3
RTX: pid:10 tid:140 forward pass @800 +900
RTX: pid:11 tid:150 here @850
";

#[test]
fn a_launch_is_tied_to_its_call_thread_and_shape() {
    let tables = read(TEXT);
    let dispatch = tables.dispatches.get(0);
    assert_eq!((dispatch.start, dispatch.duration, dispatch.tid), (1000, Some(300), Some(140)));
    let shape = tables.shapes.get(dispatch.shape.unwrap());
    assert_eq!(shape, Shape::from_items([64, 2, 1], [250, 2, 1]));
    let host = tables.api_calls.get(1);
    assert_eq!((host.start, host.correlation, host.duration), (920, dispatch.correlation, Some(0)));
    assert_ne!(dispatch.correlation, 0);
    assert_eq!(dispatch.details.enqueued, Some(920));
    assert!(tables.info.linked);
}

#[test]
fn a_dispatch_without_a_host_line_has_no_call_to_be_tied_to() {
    let device: String =
        TEXT.lines().filter(|line| !line.contains(" tick:")).map(|line| format!("{line}\n")).collect();
    let tables = read(&device);
    let dispatch = tables.dispatches.get(0);
    assert_eq!((dispatch.correlation, dispatch.tid, dispatch.shape), (0, None, None));
    assert_eq!(dispatch.details.enqueued, None);
    assert!(!tables.info.linked);
}

#[test]
fn calls_keep_their_arguments_and_the_kernel_they_launch() {
    let tables = read(TEXT);
    let [launch, _, create] = [0, 1, 2].map(|row| tables.api_calls.get(row));
    assert_eq!(tables.strings.get(launch.name), "hipLaunchKernel");
    assert_eq!(tables.strings.get(launch.args), "f, {4,1,1}");
    assert_eq!(tables.strings.get(tables.api_calls.launches[0].kernel), "kern_a(int*)");
    assert_eq!(tables.strings.get(create.name), "hsa_signal_create");
    assert_eq!(tables.strings.get(create.domain), "HSA");
    assert_eq!((create.start, create.duration, create.tid), (1600, Some(3), Some(140)));
}

#[test]
fn agents_are_numbered_as_they_appear_and_ranges_belong_to_their_process() {
    let tables = read(TEXT);
    let agents: Vec<_> = tables.agents.iter().map(|agent| (agent.number, agent.source_id)).collect();
    assert_eq!(agents, [(0, 94), (1, 95)]);
    assert_eq!(tables.barriers[0].duration, Some(10));
    assert_eq!((tables.copies[0].direction, tables.copies[0].bytes), (Direction::Unknown, None));
    let [range, marker] = [tables.ranges[0], tables.ranges[1]];
    assert_eq!(tables.strings.get(range.name), "forward pass");
    assert_eq!((range.start, range.duration, range.is_marker()), (800, Some(900), false));
    assert_eq!((marker.kind, marker.duration), (RangeKind::Marker, Some(0)));
    assert_eq!(tables.process(marker.process).pid, Some(11));
}

#[test]
fn what_is_not_selected_is_not_read_and_ops_stay_the_same() {
    let tables = read_as(TEXT.as_bytes(), &Select::ops());
    let dispatch = tables.dispatches.get(0);
    assert_eq!((dispatch.id, dispatch.tid, dispatch.correlation, dispatch.shape), (0, None, 0, None));
    assert_eq!((tables.api_calls.len(), tables.ranges.len(), tables.copies.len()), (0, 0, 1));
    assert_eq!((dispatch.start, dispatch.duration), (1000, Some(300)));
}

#[test]
fn text_of_something_else_is_not_ours() {
    for content in ["hello\nworld\n", "profile: loading\n", "{\"profile\": 1}\n", "xprofile: kernel;\n"] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        assert!(Trace::open(file.path()).is_err(), "{content}");
    }
}

#[test]
fn every_line_of_rtgs_own_files_is_read() {
    let Some(shared) = support::shared() else { return };
    let tables = Trace::open(shared.join("golden/rpt/in.txt")).unwrap().read(&Select::everything()).unwrap();
    let ops = tables.dispatches.len() + tables.barriers.len() + tables.copies.len();
    assert_eq!((ops, tables.problems.iter().count()), (300, 0));

    let tables =
        Trace::open(shared.join("golden/rtg/sample.txt")).unwrap().read(&Select::everything()).unwrap();
    assert_eq!((tables.dispatches.len(), tables.barriers.len(), tables.copies.len()), (1, 1, 1));
    assert_eq!((tables.api_calls.len(), tables.problems.iter().count()), (6, 0));
}

proptest! {
    #[test]
    fn damaged_lines_are_read_or_counted_but_never_a_panic(
        cuts in prop::collection::vec((0..11_usize, 0..140_usize, any::<char>()), 1..30),
    ) {
        let whole = [KERNEL, BARRIER, COPY, TEXT].concat();
        let lines: Vec<&str> = whole.lines().collect();
        let damaged: String = cuts
            .iter()
            .map(|&(line, at, new)| {
                let mut text: Vec<char> = lines[line].chars().collect();
                let at = at.min(text.len() - 1);
                text[at] = new;
                text.into_iter().chain(['\n']).collect::<String>()
            })
            .collect();
        let tables = read(&[KERNEL, &damaged].concat());
        prop_assert!(tables.dispatches.len() <= cuts.len() + 1);
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    assert_eq!(read(&format!("\u{feff}{KERNEL}{COPY}")).dispatches.len(), 1);
}

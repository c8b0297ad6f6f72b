//! Tests of a recorder, with a channel to it that tests fill.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use rtl_schema::{Select, Tables, Trace};
use rtl_write::Target;

use super::close::Close;
use super::*;
use crate::base::gpus::Gpu;
use crate::base::kernels::Kernel;
use crate::base::kernels::descriptor::Resources;
use crate::collect::batch_channel::{BATCH, Sender, batch_channel_of};
use crate::collect::dispatch::{KernelId, Queue, QueueOrdinal};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn known() -> Arc<RecorderState> {
    let known = RecorderState::default();
    for (mangled, kernel_object) in [("_Z3addPf", 0x1000), ("Cijk_Ailk", 0x1100)] {
        let mangled = mangled.to_owned();
        let resources = Resources { lds: Some(64), ..Resources::default() };
        known.kernels.add(Kernel { mangled, kernel_object, resources, ..Kernel::default() });
    }
    known.queues.add(Queue { gpu: 0, address: 0x7000, hardware: 0x9000 });
    known.queues.add(Queue { gpu: 1, address: 0x7100, hardware: 0x9100 });
    Arc::new(known)
}

fn dispatch(number: u64) -> Dispatch {
    Dispatch {
        start: 1_000 * number as i64,
        end: 1_000 * number as i64 + 700,
        correlation: number,
        enqueued: 0,
        range: 0,
        kernel: KernelId(number as u32 % 2),
        queue: QueueOrdinal(number as u32 % 2),
        tid: std::process::id(),
        grid: [256, 4, 1],
        lds: 64,
        scratch: 0,
        workgroup: [64, 2, 1],
        gpu: number as u16 % 2,
    }
}

fn settings(output: &std::path::Path) -> Settings {
    Settings { output: Some(output.into()), ..Settings::default() }
}

fn start(settings: Settings, known: &Arc<RecorderState>) -> Result<(Sender<Dispatch>, Recorder)> {
    let (sender, receiver) = batch_channel_of(8);
    for number in 0..2 {
        known.gpus.add(Gpu { number, ..Gpu::default() });
    }
    Ok((sender, Recorder::start(settings, Arc::clone(known), receiver, |_| ())?))
}

/// Sends dispatches with these numbers, and waits while there is no room.
fn send(sender: &mut Sender<Dispatch>, known: &RecorderState, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        known.counters.see(1);
        while sender.send(dispatch(number)).is_err() {
            std::thread::yield_now();
        }
    }
    sender.flush();
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Waits until a condition holds; `what` names it in the panic after ten seconds.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = soon();
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn read(path: &std::path::Path) -> Result<Tables> {
    Ok(Trace::open(path)?.read(&Select::everything())?)
}

/// The first value of a metadata tag.
fn tag<'a>(tables: &'a Tables, tag: &str) -> Option<&'a str> {
    let found = tables.info.metadata.iter().find(|(known, _)| known == tag);
    found.map(|(_, value)| value.as_str())
}

#[test]
fn every_dispatch_is_in_the_file_with_all_that_is_known_of_it() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (mut sender, recorder) = start(settings(&path), &known)?;
    send(&mut sender, &known, 1..=5_000);
    drop(sender);
    let ending = recorder.finish(soon());
    assert_eq!(ending, Ending { path: Some(path.clone()), failure: None, rest: None });
    assert_eq!((known.counters.snapshot().recorded, known.counters.snapshot().on_the_way()), (5_000, 0));

    let tables = read(&path)?;
    let dispatches = &tables.dispatches;
    assert_eq!(dispatches.len(), 5_000);
    let name = |at| tables.strings.get(dispatches.name[at]);
    assert_eq!((name(0), name(1)), ("Cijk_Ailk", "add(float*)"));
    assert_eq!((dispatches.start[4_999], dispatches.duration.get(4_999)), (5_000_000, Some(700)));
    for (expected, value) in [("complete", "1"), ("seen", "5000"), ("recorded", "5000"), ("mode", "standard")]
    {
        assert_eq!(tag(&tables, expected), Some(value), "{expected}");
    }
    assert_eq!(tables.processes[0].pid, Some(i64::from(std::process::id())));
    assert_eq!((tables.agents.len(), tables.threads.len(), tables.symbols.len()), (2, 1, 2));
    assert_eq!(tables.tracks.rows()[0].hardware_queue, Some(0x9100));
    Ok(())
}

#[test]
fn a_process_without_gpu_work_leaves_no_file() -> Result {
    let folder = tempfile::tempdir()?;
    let (sender, recorder) = start(settings(&folder.path().join("new/trace.db")), &known())?;
    drop(sender);
    assert_eq!(recorder.finish(soon()), Ending::default());
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

#[test]
fn a_process_whose_every_dispatch_was_skipped_has_a_file_that_says_so() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (sender, recorder) = start(settings(&path), &known)?;
    known.counters.see(7);
    known.counters.skip(crate::base::counters::Skipped::Signal, 7);
    drop(sender);
    recorder.finish(soon());
    let tables = read(&path)?;
    assert_eq!(tables.info.losses, [("skipped:completion_signal".to_owned(), 7)]);
    Ok(())
}

#[test]
fn a_file_in_the_making_is_whole_and_says_that_it_is_not_complete() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (mut sender, recorder) = start(settings(&path), &known)?;
    send(&mut sender, &known, 1..=10);
    until("ten dispatches are published", || known.counters.snapshot().recorded == 10);
    let tables = read(&path)?;
    assert_eq!((tables.dispatches.len(), tag(&tables, "complete")), (10, Some("0")));
    assert_eq!(tag(&tables, "recorded"), Some("10"));
    drop(sender);
    recorder.finish(soon());
    assert_eq!(tag(&read(&path)?, "complete"), Some("1"));
    Ok(())
}

#[test]
fn two_symbols_are_never_called_the_same_and_one_is_called_the_same_wherever_it_is_loaded() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), RecorderState::default());
    // These two constructors of one class have the same demangled name; the first is on two GPUs.
    for (mangled, kernel_object) in
        [("_ZN1KC1Ev", 1), ("_ZN1KC2Ev", 2), ("_ZN1KC1Ev", 3), ("", 0x7f), ("", 0x8f), ("long_", 5)]
    {
        let mangled = if mangled == "long_" { "n".repeat(70_000) } else { mangled.to_owned() };
        known.kernels.add(Kernel { mangled, kernel_object, ..Kernel::default() });
    }
    known.queues.add(Queue { gpu: 0, address: 1, hardware: 2 });
    let known = Arc::new(known);
    let (mut sender, recorder) = start(settings(&path), &known)?;
    known.counters.see(6);
    for kernel in 0..6 {
        let kernel = Dispatch { kernel: KernelId(kernel), queue: QueueOrdinal(0), gpu: 0, ..dispatch(2) };
        sender.send(kernel).map_err(|_| "no room")?;
    }
    drop(sender);
    recorder.finish(soon());
    let tables = read(&path)?;
    let names: Vec<_> = (0..6).map(|at| tables.strings.get(tables.dispatches.name[at])).collect();
    assert_eq!(names[..5], ["K::K()", "_ZN1KC2Ev", "K::K()", "kernel_0x7f", "kernel_0x8f"]);
    assert_eq!(names[5].len(), 70_000);
    assert_eq!(tables.symbols.len(), 5);
    Ok(())
}

#[test]
fn a_recorder_that_cannot_keep_up_gives_dispatches_back_and_loses_none_that_it_took() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (mut sender, receiver) = batch_channel_of(2);
    let mut taken = 0;
    for number in 1..=5_000 {
        known.counters.see(1);
        match sender.send(dispatch(number)) {
            Ok(()) => taken += 1,
            Err(_) => known.counters.lose(Lost::Behind, 1),
        }
    }
    let recorder = Recorder::start(settings(&path), Arc::clone(&known), receiver, |_| ())?;
    drop(sender);
    recorder.finish(soon());
    assert_eq!(taken, 2 * BATCH as u64);
    let tables = read(&path)?;
    assert_eq!(tables.dispatches.len() as u64, taken);
    assert_eq!(tables.info.losses, [("lost:behind".to_owned(), 5_000 - taken)]);
    Ok(())
}

#[test]
fn a_file_never_grows_beyond_its_limit_and_counts_what_it_has_no_room_for() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let limit = 512 << 10;
    let (mut sender, recorder) = start(Settings { max_size: Some(limit), ..settings(&path) }, &known)?;
    send(&mut sender, &known, 1..=20_000);
    drop(sender);
    let ending = recorder.finish(soon());
    assert!(ending.failure.is_some_and(|failure| failure.contains("524288 bytes")));
    assert!(std::fs::metadata(&path)?.len() <= limit);
    let tables = read(&path)?;
    let rows = tables.dispatches.len() as u64;
    assert!((1_000..20_000).contains(&rows));
    assert_eq!(tables.info.losses, [("lost:full".to_owned(), 20_000 - rows)]);
    assert_eq!((tag(&tables, "complete"), tag(&tables, "seen")), (Some("1"), Some("20000")));
    Ok(())
}

#[test]
fn what_cannot_be_created_is_counted_and_explained() -> Result {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("file"), "")?;
    let known = known();
    let (mut sender, recorder) = start(settings(&folder.path().join("file/trace.db")), &known)?;
    send(&mut sender, &known, 1..=100);
    drop(sender);
    let ending = recorder.finish(soon());
    assert_eq!(ending.path, None);
    assert!(ending.failure.is_some_and(|failure| failure.starts_with("cannot create: ")));
    assert_eq!(known.counters.snapshot().lost, [(Lost::Write, 100)]);
    Ok(())
}

#[test]
fn a_folder_that_is_removed_meanwhile_hurts_nobody() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("gone/trace.db"), known());
    let (mut sender, recorder) = start(settings(&path), &known)?;
    send(&mut sender, &known, 1..=100);
    until("the first are published", || known.counters.snapshot().recorded == 100);
    std::fs::remove_dir_all(folder.path().join("gone"))?;
    send(&mut sender, &known, 101..=10_000);
    drop(sender);
    recorder.finish(soon());
    assert_eq!((known.counters.snapshot().on_the_way(), path.exists()), (0, false));
    Ok(())
}

#[test]
fn when_the_time_to_finish_is_over_the_rest_is_counted() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (mut sender, receiver) = batch_channel_of(64);
    let (written, all) = ((AT_ONCE * BATCH) as u64, 20_000);
    send(&mut sender, &known, 1..=all);
    drop(sender);
    let over = Mutex::new(Some(Instant::now()));
    let create = create_at(&path);
    let ending = run(session(&known, create), &known, &receiver, &over, |_| ());
    assert!(ending.failure.is_some());
    assert_eq!(known.counters.snapshot().lost, [(Lost::Unwritten, all - written)]);
    assert_eq!(read(&path)?.dispatches.len() as u64, written);
    Ok(())
}

fn create_at(
    path: &std::path::Path,
) -> impl FnMut() -> rtl_schema::Result<(PathBuf, Recording<OwnFile>)> + Send + 'static {
    let path = path.to_owned();
    move || super::create(&path, 1, None)
}

fn session<T: Target + Close>(
    known: &Arc<RecorderState>,
    create: impl FnMut() -> rtl_schema::Result<(PathBuf, Recording<T>)> + Send + 'static,
) -> Session<T> {
    let about = recording_file::ProcessFacts { settings: Settings::default(), identity: Identity::default() };
    Session::new(about, Arc::clone(known), create)
}

/// A file that fails: 0 not yet, 1 with an error, 2 with a panic.
struct Bad {
    file: std::fs::File,
    how: Arc<AtomicU8>,
}

impl Target for Bad {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self.how.load(Ordering::SeqCst) {
            0 => self.file.write_at(bytes, offset),
            1 => Err(io::ErrorKind::StorageFull.into()),
            _ => panic!("a panic on purpose"),
        }
    }
}

impl Close for Bad {
    fn close(self) -> io::Result<()> {
        Ok(())
    }
}

/// Records 100 dispatches, then 10,000 more while writing fails; returns the content of the file.
fn fails(how: u8, recovers: bool, why: Lost) -> Result<Tables> {
    let folder = tempfile::tempdir()?;
    let (path, known) = (folder.path().join("trace.db"), known());
    let (mut sender, receiver) = batch_channel_of(64);
    let broken = Arc::new(AtomicU8::new(0));
    let (file, switch) = (path.clone(), Arc::clone(&broken));
    let create = move || {
        let target = Bad { file: std::fs::File::create_new(&file).unwrap(), how: Arc::clone(&switch) };
        Ok((file.clone(), Recording::start(target, &file, None)?))
    };
    let session = session(&known, create);
    let shared = Arc::clone(&known);
    let thread = std::thread::spawn(move || run(session, &shared, &receiver, &Deadline::default(), |_| ()));
    send(&mut sender, &known, 1..=100);
    until("the first are published", || known.counters.snapshot().recorded == 100);
    broken.store(how, Ordering::SeqCst);
    send(&mut sender, &known, 101..=10_100);
    if how == 1 {
        until("all others are lost", || {
            sender.flush();
            known.counters.snapshot().lost() == 10_000
        });
    }
    if recovers {
        broken.store(0, Ordering::SeqCst);
    }
    drop(sender);
    let ending = thread.join().map_err(|_| "the recorder panicked")?;
    assert!(ending.failure.is_some());
    assert_eq!(known.counters.snapshot().lost, [(why, 10_000)]);
    let tables = read(&path)?;
    assert_eq!((tables.dispatches.len(), tag(&tables, "complete")), (100, Some("0")));
    Ok(tables)
}

#[test]
fn a_full_disk_leaves_what_was_published_and_says_so_when_there_is_room_again() -> Result {
    assert!(fails(1, false, Lost::Write)?.info.losses.is_empty());
    assert_eq!(fails(1, true, Lost::Write)?.info.losses, [("lost:write".to_owned(), 10_000)]);
    Ok(())
}

#[test]
fn a_panic_leaves_what_was_published_and_loses_the_rest() -> Result {
    fails(2, false, Lost::Failure)?;
    Ok(())
}

//! Rows that are written like others are the same, byte for byte.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use proptest::prelude::*;
use rtl_write::{Call, CallDelta, CallTemplate, Op, Recording, RowDelta, RowTemplate, Target};

type Result<T = ()> = anyhow::Result<T>;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl Target for Memory {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut file, start) = (self.0.borrow_mut(), offset as usize);
        let end = file.len().max(start + bytes.len());
        file.resize(end, 0);
        file[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// The file of these ops and how many of them were written by a template. It is published after every `pause` ops.
fn written(ops: &[(Op, RowDelta)], pause: usize, is_templated: bool) -> Result<(Vec<u8>, usize)> {
    let file = Memory::default();
    let mut recording = Recording::start(file.clone(), Path::new("trace.db"), None)?;
    let mut last: Option<(Op, RowTemplate)> = None;
    let mut whole_rows = 0;
    for (at, &(op, delta)) in ops.iter().enumerate() {
        let RowDelta { start, end, items, correlation } = delta;
        let items = op.items.map(|[_, y, z]| [items, y, z]);
        let mut whole = || {
            whole_rows += 1;
            Op { start, end: Some(end), items, correlation, ..op }
        };
        let id = if is_templated {
            let (_, template) = match &mut last {
                Some(last) if last.0 == op => last,
                last => last.insert((op, RowTemplate::default())),
            };
            recording.push_op_templated(template, delta, whole)?
        } else {
            recording.push_op(&whole())?
        };
        assert_eq!(id, at as i64 + 1);
        if (at + 1) % pause == 0 {
            recording.publish(&[("rows", id.to_string())])?;
        }
    }
    recording.publish(&[])?;
    drop(recording);
    Ok((file.0.take(), ops.len() - whole_rows))
}

/// An integer of any width, around where the width changes too.
fn number() -> impl Strategy<Value = i64> {
    let edge = (0..64_u32, -2..=2_i64).prop_map(|(bits, near)| (1_i64 << bits).wrapping_add(near));
    prop_oneof![Just(0), Just(1), Just(-1), any::<i64>(), edge.clone(), edge.prop_map(i64::wrapping_neg)]
}

/// A time that mostly has the same width as others.
fn time() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 1_i64 << 40..1 << 41, 1 => (1_i64 << 47) - 2..(1 << 47) + 2, 1 => number()]
}

fn own() -> impl Strategy<Value = RowDelta> {
    let small = || prop_oneof![8 => 300_i64..1 << 15, 1 => number()];
    (time(), time(), small(), small()).prop_map(|(start, end, items, correlation)| RowDelta {
        start,
        end,
        items: items as u64,
        correlation,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let size = || prop::option::of(prop_oneof![Just([64_u64, 1, 1]), prop::array::uniform3(0..1_u64 << 33)]);
    let fields = (
        prop::option::of(0..9_i64),
        prop::option::of(number()),
        prop_oneof![Just(0), number()],
        size(),
        size(),
        prop::option::of(1..1_i64 << 22),
        prop::option::of(any::<u32>()),
        prop::option::of(number()),
    );
    fields.prop_map(|(gpu, queue, range, items, group, tid, lds, stream)| Op {
        gpu,
        queue,
        range,
        items,
        workgroup: group.map(|group| group.map(|size| size as u32)),
        tid,
        lds,
        stream,
        ..Op::default()
    })
}

proptest! {
    #[test]
    fn a_row_is_the_same_when_it_is_written_like_another(
        kinds in prop::collection::vec(op(), 1..3),
        rows in prop::collection::vec((0..30_usize, own()), 1..400),
        pause in 1..200_usize,
    ) {
        let mut kind = 0;
        let ops: Vec<(Op, RowDelta)> = rows
            .into_iter()
            .map(|(turn, own)| {
                kind = if turn == 0 { (kind + 1) % kinds.len() } else { kind };
                (kinds[kind], own)
            })
            .collect();
        let file = |is_short| {
            let written = written(&ops, pause, is_short).map_err(|error| TestCaseError::fail(error.to_string()));
            written.map(|(file, _)| file)
        };
        let (long, short) = (file(false)?, file(true)?);
        prop_assert!(long == short, "{} bytes and {}", long.len(), short.len());
    }
}

/// As dispatches of one kernel are, 100,000 of them from a time on.
fn dispatches(from: i64) -> Vec<(Op, RowDelta)> {
    let op = Op { gpu: Some(0), queue: Some(3), items: Some([4096, 1, 1]), tid: Some(4711), ..Op::default() };
    let own = |at: i64| {
        let start = from + 700 * at;
        RowDelta { start, end: start + 300, items: 4096 + at as u64 % 7, correlation: at + 1 }
    };
    (0..100_000).map(|at| (op, own(at))).collect()
}

#[test]
fn before_and_after_the_39th_hour_of_a_boot_only_the_widths_of_correlation_ids_break_the_pattern() -> Result {
    // From 1 to 127, 32,767 and 8,388,607 a number takes 1, 2 and 3 bytes; 1 itself takes none.
    for from in [3_600_000_000_000, 40 * 3_600_000_000_000] {
        let ops = dispatches(from);
        let (file, short) = written(&ops, 30_000, true)?;
        assert_eq!(short, ops.len() - 4, "ids 1, 2, 128 and 32,768 begin a pattern");
        assert!(file == written(&ops, 30_000, false)?.0);
    }
    Ok(())
}

#[test]
fn a_pattern_ends_where_times_begin_to_take_more_bytes() -> Result {
    let ops = dispatches((1 << 47) - 700 * 50_000);
    let (file, short) = written(&ops, 30_000, true)?;
    assert_eq!(short, ops.len() - 5, "ids as ever, and one for the times");
    assert!(file == written(&ops, 30_000, false)?.0);
    Ok(())
}

#[test]
fn ops_that_were_enqueued_in_no_call_are_alike() -> Result {
    let mut ops = dispatches(3_600_000_000_000);
    ops.iter_mut().for_each(|(_, own)| own.correlation = 0);
    let (file, short) = written(&ops, 30_000, true)?;
    assert_eq!(short, ops.len() - 1);
    assert!(file == written(&ops, 30_000, false)?.0);
    Ok(())
}

#[test]
fn calls_that_are_alike_are_the_bytes_of_calls_added_one_by_one() -> Result {
    let folder = tempfile::tempdir()?;
    let (long, short) = (folder.path().join("long.db"), folder.path().join("short.db"));
    let mut recordings = (Recording::create(&long, None)?, Recording::create(&short, None)?);
    let name = recordings.0.intern("hipGetDevice")?;
    assert_eq!(recordings.1.intern("hipGetDevice")?, name);
    let first = Call {
        tid: Some(4711),
        start: 1 << 41,
        duration: Some(300),
        name: Some(name),
        correlation: 70_000,
        ..Call::default()
    };
    let mut template = CallTemplate::default();
    let whole = |own: CallDelta| Call {
        start: own.start,
        duration: Some(own.duration),
        correlation: own.correlation,
        ..first
    };
    // Durations from 2 ns to 2 s take 1 to 4 bytes.
    for number in 0..4_600 {
        let (start, duration) = (first.start + 700 * number, 2 + 97 * number * number);
        let correlation = first.correlation + number;
        let own = CallDelta { start, duration, correlation };
        let id = recordings.0.push_call(&whole(own))?;
        let mut is_whole = false;
        let added = recordings.1.push_call_templated(&mut template, own, || {
            is_whole = true;
            whole(own)
        })?;
        assert_eq!((added, is_whole), (id, number == 0), "{duration} ns");
    }
    let own = CallDelta { start: first.start, duration: 300, correlation: first.correlation };
    for other in [
        CallDelta { duration: 0, ..own },
        CallDelta { duration: 1 << 31, ..own },
        CallDelta { duration: -1 << 31, ..own },
        CallDelta { start: 1 << 50, ..own },
        CallDelta { correlation: 5, ..own },
    ] {
        let id = recordings.0.push_call(&whole(other))?;
        let mut is_whole = false;
        let added = recordings.1.push_call_templated(&mut template.clone(), other, || {
            is_whole = true;
            whole(other)
        })?;
        assert_eq!((added, is_whole), (id, true), "a number that takes other bytes: {other:?}");
    }
    recordings.0.publish(&[])?;
    recordings.1.publish(&[])?;
    assert!(std::fs::read(long)? == std::fs::read(short)?);
    Ok(())
}

//! Perfetto's own format, read back packet by packet.

use std::io::Read;
use std::path::Path;

use crate::drawing::{Folder, Slice, assert_same, expected, expected_start, hazards, packets, rows};
use support::{Layout, Options};

/// The slices of the file that `rtl-convert in.db -o out.pftrace` and more words write, from the first one, and the
/// number of counter samples.
fn drawn(folder: &Folder, line: &str) -> (Vec<Slice>, usize) {
    let (code, _, messages) = folder.run(&format!("in.db -o out.pftrace --force {line}"));
    assert_eq!((code, messages.as_str()), (0, ""));
    let (mut slices, samples) = packets::slices(&std::fs::read(folder.path("out.pftrace")).unwrap());
    let first = slices.iter().map(|slice| slice.2).min().unwrap_or(0);
    slices.iter_mut().for_each(|slice| slice.2 -= first);
    (slices, samples)
}

#[test]
fn every_slice_of_every_story_is_drawn_as_it_was() {
    for name in support::fixture_names() {
        let folder = Folder::new();
        let path = folder.story(&name);
        assert_same(&drawn(&folder, "").0, &expected(&path), &name);
    }
}

#[test]
fn every_slice_of_a_shuffled_trace_of_eight_gpus_is_drawn_as_it_was() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    for layout in [Layout::Native, Layout::Rpd3] {
        let options =
            Options { layout, ops: 5_000, api: true, ranges: true, shuffle: true, ..Options::default() };
        support::generate(&options, &path).unwrap();
        let (slices, samples) = drawn(&folder, "");
        assert_same(&slices, &expected(&path), &format!("{layout:?}"));
        assert!(samples > 8 * 1_000, "{samples} samples");
    }
}

#[test]
fn hard_to_draw_traces_are_drawn_as_they_were() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    for seed in 1..=8 {
        hazards::write(seed, &path);
        assert_same(&drawn(&folder, "").0, &expected(&path), &format!("seed {seed}"));
    }
}

#[test]
fn times_are_those_of_the_trace() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    hazards::write(1, &path);
    drawn(&folder, "--no-args");
    let (slices, _) = packets::slices(&std::fs::read(folder.path("out.pftrace")).unwrap());
    let first = slices.iter().map(|slice| slice.2).min();
    assert_eq!(first, u64::try_from(expected_start(&rows(&path))).ok());
}

#[test]
fn a_time_before_zero_moves_all_others() {
    let folder = Folder::new();
    let story =
        "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, -20, -5, 'a'), (0, 0, 10, 11, 'b');";
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    drawn(&folder, "");
    let (slices, _) = packets::slices(&std::fs::read(folder.path("out.pftrace")).unwrap());
    let queue = "GPU 0 / Queue 0".to_owned();
    assert_eq!(slices, [(queue.clone(), "a".to_owned(), 0, 15), (queue, "b".to_owned(), 30, 1)]);
}

#[test]
fn a_compressed_file_has_the_same_content() {
    let folder = Folder::new();
    folder.story("eight-gpus");
    drawn(&folder, "");
    assert_eq!(folder.run("in.db -o out.perfetto-trace.gz").0, 0);
    let packed = std::fs::read(folder.path("out.perfetto-trace.gz")).unwrap();
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut content).unwrap();
    assert_eq!(content, std::fs::read(folder.path("out.pftrace")).unwrap());
}

#[test]
fn a_hundred_queues_are_a_hundred_tracks() {
    let folder = Folder::new();
    folder.hundred_queues();
    let mut tracks: Vec<String> = drawn(&folder, "").0.into_iter().map(|slice| slice.0).collect();
    tracks.dedup();
    assert_eq!(tracks.len(), 101);
    assert!(tracks.iter().all(|track| track.starts_with("GPU 5 / Queue ")));
}

#[test]
fn calls_alone_are_drawn_on_their_thread() {
    let folder = Folder::new();
    let path = folder.calls_alone();
    let (slices, samples) = drawn(&folder, "");
    assert_same(&slices, &expected(&path), "calls alone");
    assert_eq!((slices.len(), samples), (2, 0));
}

#[test]
fn what_is_not_there_is_not_drawn() {
    let folder = Folder::new();
    folder.story("empty");
    assert_eq!(drawn(&folder, ""), (Vec::new(), 0));
    let path = folder.story("only-markers");
    let (slices, samples) = drawn(&folder, "");
    assert_same(&slices, &expected(&path), "only markers");
    assert_eq!(samples, 0);
}

#[test]
fn real_traces_are_drawn_as_they_were() {
    let Some(shared) = support::shared() else { return };
    for name in ["rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd", "rocprofv3-gfx950.json.gz"] {
        let path = shared.join("traces/real").join(name);
        let folder = Folder::new();
        std::fs::copy(&path, folder.path("in.db")).unwrap();
        assert_same(&drawn(&folder, "").0, &expected(Path::new(&path)), name);
    }
}

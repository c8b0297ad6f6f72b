//! Stories and the generator.

use rusqlite::Connection;
use support::{Layout, Options, fixture, fixture_in, fixture_names, generate};

type Result<T = ()> = anyhow::Result<T>;

fn number(path: &std::path::Path, sql: &str) -> Result<i64> {
    Ok(Connection::open(path)?.query_row(sql, [], |row| row.get(0))?)
}

#[test]
fn every_story_can_be_told_in_every_layout_that_takes_its_rows() -> Result {
    let names = fixture_names();
    assert!(names.len() >= 11, "{names:?}");
    for name in &names {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            if layout == Layout::Rpd3 && name == "bad-rows" {
                continue;
            }
            let ops = "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0";
            let (told, native) = (fixture_in(name, layout), fixture(name));
            assert_eq!(number(&told, ops)?, number(&native, ops)?, "{name} {layout:?}");
        }
    }
    Ok(())
}

#[test]
fn the_training_loop_never_overlaps_on_one_queue() -> Result {
    let loop_ = fixture("steady-training-loop");
    let overlaps = "SELECT count(*) FROM (SELECT start, max(end) OVER (PARTITION BY gpuId, queueId ORDER BY start
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM rocpd_op WHERE gpuId >= 0) WHERE start < before";
    assert_eq!(number(&loop_, overlaps)?, 0);
    assert_eq!(number(&loop_, "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0")?, 20 * 2 * 43 + 8);
    Ok(())
}

#[test]
fn one_seed_gives_one_file_in_every_layout() -> Result {
    let folder = tempfile::tempdir()?;
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let options =
            Options { layout, ops: 3_000, api: true, ranges: true, shuffle: true, ..Options::default() };
        let [first, second, other] = ["first", "second", "other"].map(|name| folder.path().join(name));
        generate(&options, &first)?;
        generate(&options, &second)?;
        generate(&Options { seed: 2, ..options }, &other)?;
        assert!(std::fs::read(&first)? == std::fs::read(&second)?, "{layout:?}");
        assert!(std::fs::read(&first)? != std::fs::read(&other)?, "{layout:?}");
        assert_eq!(number(&first, "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0")?, 3_000);
    }
    Ok(())
}

#[test]
fn the_same_workload_is_in_every_layout() -> Result {
    let folder = tempfile::tempdir()?;
    let mut sums = Vec::new();
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let path = folder.path().join(format!("{layout:?}"));
        generate(&Options { layout, ops: 2_000, ..Options::default() }, &path)?;
        sums.push(number(&path, "SELECT sum(end - start) FROM rocpd_op")?);
    }
    assert!(sums[0] > 0 && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    Ok(())
}

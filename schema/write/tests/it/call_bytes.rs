//! The bytes that a recorded call takes on disk.

use rtl_write::{Call, Recording};

type Result<T = ()> = anyhow::Result<T>;

const CALLS: i64 = 100_000;

/// Twelve days after a boot.
const UPTIME: i64 = 12 * 86_400_000_000_000;

/// Bytes a call of a file of calls from this moment on, between some 100 ns and some ms long.
fn bytes(first: i64, like: &Call) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let mut recording = Recording::create(&path, None)?;
    let names = ["hipLaunchKernel", "hipSetDevice", "hipGetLastError", "hipMemcpyAsync"];
    let names =
        names.into_iter().map(|name| recording.intern(name)).collect::<rtl_schema::Result<Vec<_>>>()?;
    for at in 0..CALLS {
        // Of ten calls, six take less than 32 us, and three less than 8 ms.
        let duration = [300, 700, 1_200, 2_500, 9_000, 31_000, 60_000, 800_000, 6_000_000, 40_000_000];
        recording.push_call(&Call {
            start: first + 1_000 * at,
            duration: Some(duration[(at % 10) as usize] + at % 7),
            name: names.get((at % 4) as usize).copied(),
            // As far as the kernel counts threads, and behind the calls that other threads have made.
            tid: Some(4_000_000),
            correlation: 1_000_000 + at,
            domain: names.first().copied(),
            ..*like
        })?;
    }
    recording.publish(&[])?;
    Ok(std::fs::metadata(&path)?.len() as f64 / CALLS as f64)
}

#[test]
fn a_call_takes_at_most_forty_bytes_however_long_the_machine_has_been_up() -> Result {
    let category = Some(rtl_write::StringId::EMPTY);
    for (what, like) in [
        ("of HIP", Call::default()),
        ("on a stream", Call { stream: Some(3), ..Call::default() }),
        ("within another", Call { parent: 999_999, ..Call::default() }),
        ("of HSA", Call { category, ..Call::default() }),
    ] {
        for first in [3_600_000_000_000, UPTIME] {
            let bytes = bytes(first, &like)?;
            assert!(bytes <= 40.0, "{what}, from {first} ns on: {bytes} bytes");
        }
    }
    Ok(())
}

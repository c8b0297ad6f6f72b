//! One million kernels through a [`Recording`], for callgrind: instructions and bytes of a row.
//!
//! `cargo build --profile profiling -p schema --example record`, then
//! `valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*rows*' .../record FILE`

use std::path::Path;

use schema::Result;
use schema::append::Recording;
use schema::write::Op;

const OPS: i64 = 1_000_000;

fn main() -> Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "record.db".to_owned());
    let mut recording = Recording::create(Path::new(&file), None)?;
    let mut names = Vec::new();
    for kernel in 0..300 {
        names.push(recording.text(&format!("kernel_{kernel:0200}"))?);
    }
    rows(&mut recording, &names)?;
    recording.publish(&[("complete", "1".to_owned())])
}

#[inline(never)]
fn rows(recording: &mut Recording, names: &[schema::write::TextId]) -> Result<()> {
    for number in 0..OPS {
        let start = 12 * 86_400_000_000_000 + number * 9_000;
        let kernel = number as usize * 7 % names.len();
        let op = Op {
            gpu: Some(number & 7),
            queue: Some(number >> 3 & 1),
            start,
            end: Some(start + 8_000 + kernel as i64),
            description: Some(names[kernel]),
            items: Some([1 << (8 + kernel % 12), if kernel % 2 == 0 { 1 } else { 8 }, 1]),
            workgroup: Some([256, 1, 1]),
            tid: Some(4_243 + (number & 7)),
            correlation: number + 1,
            lds: Some((kernel as u32 % 3) * 16_384),
            scratch: Some(0),
            ..Op::default()
        };
        recording.op(&op)?;
        if number % 10_000 == 0 {
            recording.publish(&[("complete", "0".to_owned())])?;
        }
    }
    Ok(())
}

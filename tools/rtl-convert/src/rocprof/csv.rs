//! One line for each dispatch, as rocprof writes it with statistics: texts quoted, numbers bare, unknown ones empty.

use std::io;

use atomic_file::{AtomicFile, Destination};
use rtl_schema::Tables;
use rtl_schema::table::Dispatch;

use crate::rocprofv3::page_file::PageFile;
use crate::text;

/// The columns. rtl knows neither the place in the queue, the completion signal, the kernel object nor when the completion was
/// seen.
const HEADER: &str = concat!(
    r#""Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr","#,
    r#""accum_vgpr","sgpr","wave_size","sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs""#,
    "\n"
);

pub(super) struct Dispatches {
    file: PageFile,
    rows: i64,
}

impl Dispatches {
    pub(super) fn create(destination: &Destination) -> io::Result<Self> {
        let mut file = PageFile::create(destination)?;
        file.bytes.extend_from_slice(HEADER.as_bytes());
        Ok(Self { file, rows: 0 })
    }

    pub(super) fn row(&mut self, batch: &Tables, row: &Dispatch, name: &str, end: i64) -> io::Result<()> {
        let track = batch.tracks.get(row.track);
        let shape = row.shape.map(|shape| batch.shapes.get(shape)).unwrap_or_default();
        let symbol = row.symbol.map(|symbol| &batch.symbols[symbol.index()]);
        let product = |sizes: [u64; 3]| {
            let product = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
            product.and_then(|product| i64::try_from(product).ok())
        };
        let register = |count: Option<u32>| count.map(i64::from);
        let out = &mut self.file.bytes;
        text::number(self.rows, out);
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.replace('"', "\"\"").as_bytes());
        out.push(b'"');
        for value in [
            Some(batch.agent(track.agent).number),
            Some(track.queue),
            None,
            batch.process(track.process).pid,
            row.tid,
            shape.items.and_then(product),
            shape.workgroup.map(|sizes| sizes.map(u64::from)).and_then(product),
            shape.lds.map(i64::from),
            shape.scratch.map(i64::from),
            register(symbol.and_then(|symbol| symbol.vgprs)),
            register(symbol.and_then(|symbol| symbol.agprs)),
            register(symbol.and_then(|symbol| symbol.sgprs)),
            None,
            None,
            None,
            row.details.enqueued,
            Some(row.start),
            Some(end),
            None,
            Some(end - row.start),
        ] {
            out.push(b',');
            if let Some(value) = value {
                text::number(value, out);
            }
        }
        out.push(b'\n');
        self.rows += 1;
        self.file.flush_if_full()
    }

    pub(super) fn finish(self) -> io::Result<AtomicFile> {
        self.file.finish()
    }
}

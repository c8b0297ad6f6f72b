//! `rocpd_kernelapi` and `rocpd_copyapi`: the parameters of calls.

use super::state::{CopyLaunch, KernelLaunch, LaunchSource};
use super::{RpdWriter, Table};
use crate::btree::Datum;
use crate::native::rows::{address, memcpy_kind};
use rtl_schema::layout::rpd::Function;
use rtl_schema::table::{ApiLaunch, Copy, Shape};
use rtl_schema::{NameId, Result, Tables};

impl RpdWriter {
    /// Writes the parameters of calls in the source; `ids` has the call of each row.
    pub(super) fn recorded_launches(&mut self, piece: &Tables, ids: &[Option<i64>]) -> Result<()> {
        let LaunchSource::Recorded { executed } = self.launches.source else { return Ok(()) };
        for row in &piece.api_calls.launches {
            let &ApiLaunch {
                call: place,
                kernel,
                shape,
                stream,
                bytes,
                extent,
                direction,
                addresses,
                devices,
                sync,
                pinned,
            } = row;
            let Some(call) = ids.get(place as usize).copied().flatten() else { continue };
            let stream = if stream.is_some() { piece.strings.get(stream) } else { "" };
            if kernel != NameId::NONE || shape.is_some() {
                let shape = shape.map(|shape| piece.shapes.get(shape)).unwrap_or_default();
                let function = Function::of(piece.strings.get(piece.api_calls.name[place as usize]));
                let grid = match function {
                    _ if executed => shape.items,
                    Function::LaunchOfItems => shape.items,
                    Function::LaunchOfGroups => shape.groups,
                    _ => None,
                };
                let name = self.name(piece, kernel)?;
                self.kernel_row(call, stream, grid, shape, name)?;
            } else {
                let (width, height) = extent.unzip();
                let copied = CopyLaunch {
                    direction,
                    bytes,
                    addresses: <[_; 2]>::from(addresses.unzip()),
                    gpus: devices.map_or([-1; 2], <[_; 2]>::from),
                    stream: None,
                };
                self.copy_row(call, stream, &copied, [width, height], [sync, pinned])?;
            }
        }
        Ok(())
    }

    /// Keeps the parameters of a kernel for its call, which was `recorded` or not.
    #[inline]
    pub(super) fn kernel_launch(
        &mut self,
        piece: &Tables,
        call: i64,
        recorded: bool,
        kernel: KernelLaunch,
    ) -> Result<()> {
        match self.launches.source {
            LaunchSource::OpsLater => {
                self.launches.kernels.push((call, kernel));
                Ok(())
            }
            LaunchSource::Recorded { .. } if recorded => Ok(()),
            _ => self.kernel_of_op(piece, call, kernel),
        }
    }

    /// Keeps the parameters of a copy for its call.
    pub(super) fn copy_launch(
        &mut self,
        piece: &Tables,
        call: i64,
        recorded: bool,
        row: &Copy,
    ) -> Result<()> {
        if recorded && self.launches.are_recorded() {
            return Ok(());
        }
        let gpu =
            |agent: Option<rtl_schema::AgentId>| agent.map_or(-1, |agent| self.numbers.gpu(agent).max(-1));
        let copied = CopyLaunch {
            direction: row.direction,
            bytes: row.bytes,
            addresses: [row.destination_address, row.source_address],
            gpus: [gpu(row.destination), gpu(row.source)],
            stream: piece.tracks.get(row.track).stream,
        };
        if matches!(self.launches.source, LaunchSource::OpsLater) {
            self.launches.copies.push((call, copied));
            return Ok(());
        }
        self.copy_of_op(call, copied)
    }

    /// Writes the launches that waited for the last op, in the order of the calls. A call has one row, that of its first op.
    pub(super) fn held_launches(&mut self, tables: &Tables) -> Result<()> {
        for (call, kernel) in first_of_calls(std::mem::take(&mut self.launches.kernels)) {
            self.kernel_of_op(tables, call, kernel)?;
        }
        for (call, copied) in first_of_calls(std::mem::take(&mut self.launches.copies)) {
            self.copy_of_op(call, copied)?;
        }
        Ok(())
    }

    #[inline]
    fn kernel_of_op(&mut self, tables: &Tables, call: i64, kernel: KernelLaunch) -> Result<()> {
        let shape = kernel.shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
        let name = self.name(tables, kernel.name)?;
        let stream =
            tables.tracks.get(kernel.track).stream.map(|stream| stream.to_string()).unwrap_or_default();
        self.kernel_row(call, &stream, shape.items, shape, name)
    }

    #[inline]
    fn kernel_row(
        &mut self,
        call: i64,
        stream: &str,
        grid: Option<[u64; 3]>,
        shape: Shape,
        name: i64,
    ) -> Result<()> {
        let grid = grid.unwrap_or_default().map(|size| size as i64);
        let group = shape.workgroup.unwrap_or_default().map(i64::from);
        let [lds, scratch] = [shape.lds, shape.scratch].map(|bytes| size(bytes.map(u64::from)));
        let cells = [
            stream.into(),
            grid[0].into(),
            grid[1].into(),
            grid[2].into(),
            group[0].into(),
            group[1].into(),
            group[2].into(),
            lds,
            scratch,
            name.into(),
        ];
        self.row_at(Table::Kernelapi, call, &cells)
    }

    fn copy_of_op(&mut self, call: i64, copied: CopyLaunch) -> Result<()> {
        let stream = copied.stream.map(|stream| stream.to_string()).unwrap_or_default();
        self.copy_row(call, &stream, &copied, [None; 2], [false; 2])
    }

    /// Writes a copy with its width and height, and whether it is synchronous and pinned.
    fn copy_row(
        &mut self,
        call: i64,
        stream: &str,
        copied: &CopyLaunch,
        extent: [Option<u64>; 2],
        flags: [bool; 2],
    ) -> Result<()> {
        let [to, from] = copied.addresses.map(|place| place.map(address).unwrap_or_default());
        let cells = [
            stream.into(),
            size(copied.bytes),
            size(extent[0]),
            size(extent[1]),
            memcpy_kind(copied.direction).into(),
            to.as_str().into(),
            from.as_str().into(),
            copied.gpus[0].into(),
            copied.gpus[1].into(),
            i64::from(flags[0]).into(),
            i64::from(flags[1]).into(),
        ];
        self.row_at(Table::Copyapi, call, &cells)
    }
}

/// The first row of each call, in the order of the calls.
fn first_of_calls<T>(mut rows: Vec<(i64, T)>) -> Vec<(i64, T)> {
    // Sorting needs memory even where nothing is to be done.
    if !rows.is_sorted_by_key(|(call, _)| *call) {
        rows.sort_by_key(|(call, _)| *call);
    }
    rows.dedup_by_key(|(call, _)| *call);
    rows
}

/// Bytes. RPD's own word for a size that is not there is the empty text.
fn size(bytes: Option<u64>) -> Datum<'static> {
    bytes.map_or(Datum::Text(""), |bytes| (bytes as i64).into())
}

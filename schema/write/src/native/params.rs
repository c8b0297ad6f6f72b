//! Parameters and results of calls. They have tables of their own, because most calls have none.

use super::layout::Table;
use super::rows::{OpKind, StringId, address};
use super::writer::NativeWriter;
use crate::btree::{Datum, Target};
use rtl_schema::Result;

/// A row of `rocpd_kernelapi`; `sql/tables.sql` says what each column means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaunchParams {
    /// The grid in work-groups.
    pub groups: [u32; 3],
    /// Work-items of a work-group.
    pub items: [u32; 3],
    /// Dynamic LDS in bytes.
    pub lds: u64,
}

/// A row of `rocpd_copyapi`; `sql/tables.sql` says what each column means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyParams {
    /// How many bytes are copied.
    pub bytes: u64,
    /// The address of what is written.
    pub destination: u64,
    /// The address of what is read; `None` of a fill.
    pub source: Option<u64>,
    /// hipMemcpyKind, where it is known.
    pub kind: Option<i64>,
    /// Bytes of a row and the number of rows, of a copy in two dimensions.
    pub extent: Option<(u64, u64)>,
}

impl<T: Target> NativeWriter<T> {
    /// Adds the launch parameters of the call that was added last.
    ///
    /// # Errors
    /// As [`Self::intern`].
    pub fn push_launch_params(&mut self, call: i64, params: &LaunchParams) -> Result<()> {
        let &LaunchParams { groups, items, lds } = params;
        let size = |size: u32| Datum::from(i64::from(size));
        let ([gx, gy, gz], [ix, iy, iz]) = (groups.map(size), items.map(size));
        self.row_at(Table::Kernelapi, call, &[Datum::Null, gx, gy, gz, ix, iy, iz, (lds as i64).into()])
    }

    /// Adds the copy parameters of the call that was added last.
    ///
    /// # Errors
    /// As [`Self::intern`].
    pub fn push_copy_params(&mut self, call: i64, params: &CopyParams) -> Result<()> {
        let &CopyParams { bytes, destination, source, kind, extent } = params;
        let (destination, source) = (address(destination), source.map(address));
        let kind = if source.is_none() { Some(OpKind::FillBuffer.text().0) } else { kind };
        let (width, height) = extent.map(|(width, height)| (width as i64, height as i64)).unzip();
        let cells = [
            Datum::Null,
            (bytes as i64).into(),
            destination.as_str().into(),
            source.as_deref().into(),
            kind.into(),
            Datum::Null,
            width.into(),
            height.into(),
        ];
        self.row_at(Table::Copyapi, call, &cells)
    }

    /// Adds the status that a call has returned.
    ///
    /// # Errors
    /// As [`Self::intern`].
    pub fn push_return_value(
        &mut self,
        call: i64,
        kind: StringId,
        name: StringId,
        value: StringId,
    ) -> Result<()> {
        let cells = [call.into(), Datum::Null, kind.0.into(), name.0.into(), value.0.into()];
        self.row(Table::Arg, &cells)?;
        Ok(())
    }
}

//! Reads `rocpd_kernelapi` and `rocpd_copyapi`: dispatches have their shapes, and copies their bytes and devices, from them.

use super::calls::{Caller, Calls};
use super::{Field, IdMap, LaunchRows, Names, Plan, Variant};
use crate::layout::rpd::Function;
use crate::sqlite::{Database, Row};
use crate::table::{ApiLaunch, Direction, Shape, all};
use crate::{Id, NameId, ProblemKind, Result, Select, ShapeId, Tables};

/// Launch and copy parameters by call: the rows of `rocpd_kernelapi` and `rocpd_copyapi`.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    pub(crate) kernels: IdMap<KernelLaunch>,
    /// Only copies between devices have devices, numbered as the ops number them.
    pub(crate) copies: IdMap<ApiLaunch>,
}

/// The launch parameters of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelLaunch {
    pub(crate) kernel: NameId,
    /// The shape of the dispatch, if the parameters determine it.
    pub(crate) shape: Option<ShapeId>,
}

/// The rows to which both tables refer.
struct Source<'a> {
    database: &'a Database,
    variant: &'a Variant,
    keep: bool,
    names: &'a Names,
    calls: &'a Calls,
}

/// Reads both tables; the rows go to [`crate::table::ApiCalls::launches`] too where they are selected.
pub(crate) fn read(
    database: &Database,
    variant: &Variant,
    select: &Select,
    names: &Names,
    calls: &Calls,
    tables: &mut Tables,
) -> Result<Launches> {
    let keep = select.api && (select.args || select.secondary);
    let source = Source { database, variant, keep, names, calls };
    let mut launches = Launches::default();
    if select.any_shape() || keep {
        launches.kernels = source.kernels(tables)?;
    }
    launches.copies = source.copies(tables)?;
    tables.api_calls.launches.sort_by_key(|launch| launch.call);
    Ok(launches)
}

impl Source<'_> {
    /// The values that `each` makes of the rows of `table`, by call. Where the row itself is kept, as the last argument
    /// says, its parameters are the second value.
    fn scan<T: Copy>(
        &self,
        table: &str,
        mut plan: Plan,
        tables: &mut Tables,
        each: impl Fn(&Row<'_>, (Id, Caller), &mut Tables, bool) -> (T, ApiLaunch),
    ) -> Result<IdMap<T>> {
        let call = [plan.add("api_ptr_id"), plan.add("api_id")];
        let stream = plan.add_if(self.keep, "stream");
        let mut values = Vec::new();
        self.database.scan(table, plan.columns(), |row| {
            let Some(id) = call.iter().find_map(|field| field.int(row)) else { return };
            let Some(caller) = self.calls.get(id) else {
                tables.problems.add_in(ProblemKind::DanglingReference, table, "api_ptr_id", id);
                return;
            };
            let call = self.calls.rows.get(id).filter(|_| self.keep);
            let (value, launch) = each(row, (id, caller), tables, call.is_some());
            values.push((id, value));
            if let Some(call) = call {
                let stream = stream.text(row).filter(|text| !text.is_empty());
                let stream = stream.map_or(NameId::NONE, |text| tables.strings.intern(&text));
                tables.api_calls.launches.push(ApiLaunch { call, stream, ..launch });
            }
        })?;
        values.sort_by_key(|(call, _)| *call);
        Ok(values.into_iter().collect())
    }

    fn kernels(&self, tables: &mut Tables) -> Result<IdMap<KernelLaunch>> {
        const TABLE: &str = "rocpd_kernelapi";
        let launches = self.variant.launches;
        let mut plan = Plan::new(self.database, TABLE)?;
        let grid = ["gridX", "gridY", "gridZ"].map(|column| plan.add(column));
        let workgroup = ["workgroupX", "workgroupY", "workgroupZ"].map(|column| plan.add(column));
        let [lds, scratch, kernel] =
            ["groupSegmentSize", "privateSegmentSize", "kernelName_id"].map(|column| plan.add(column));
        self.scan(TABLE, plan, tables, |row, (call, caller), tables, is_kept| {
            let grid = all(grid.map(|axis| axis.unsigned(row).filter(|&size: &u64| size > 0)));
            let workgroup = all(workgroup.map(|axis| axis.unsigned(row).filter(|&size: &u32| size > 0)));
            let shape = match (workgroup, grid, launches, caller.function) {
                (Some(workgroup), Some(items), LaunchRows::Executed | LaunchRows::Converted, _)
                | (Some(workgroup), Some(items), LaunchRows::Arguments, Function::LaunchOfItems) => {
                    Shape::from_items(workgroup, items)
                }
                (Some(workgroup), Some(groups), LaunchRows::Groups, _)
                | (Some(workgroup), Some(groups), LaunchRows::Arguments, Function::LaunchOfGroups) => {
                    Shape::from_groups(workgroup, groups)
                }
                (workgroup, ..) => Shape { workgroup, ..Shape::default() },
            };
            // A source that copies the call's arguments knows the dynamic LDS only: the dispatch's is unknown.
            let whole = Shape { lds: lds.unsigned(row), scratch: scratch.unsigned(row), ..shape };
            let is_whole = matches!(launches, LaunchRows::Executed | LaunchRows::Converted);
            let known = if is_whole { whole } else { shape };
            let (kernel, problems) = (kernel.int(row), &mut tables.problems);
            let kernel = self.names.checked(kernel, problems, "rocpd_kernelapi.kernelName_id", call);
            let shape = (known != Shape::default()).then(|| tables.shapes.intern(known));
            let stored = is_kept.then(|| tables.shapes.intern(whole));
            (KernelLaunch { kernel, shape }, ApiLaunch { kernel, shape: stored, ..ApiLaunch::default() })
        })
    }

    fn copies(&self, tables: &mut Tables) -> Result<IdMap<ApiLaunch>> {
        const TABLE: &str = "rocpd_copyapi";
        let mut plan = Plan::new(self.database, TABLE)?;
        let [size, width, height, kind] = ["size", "width", "height", "kind"].map(|column| plan.add(column));
        let [dst, src, dst_device, src_device] =
            ["dst", "src", "dstDevice", "srcDevice"].map(|column| plan.add(column));
        let [sync, pinned] = ["sync", "pinned"].map(|column| plan.add_if(self.keep, column));
        self.scan(TABLE, plan, tables, |row, (_, caller), tables, _| {
            let extent = width.unsigned(row).zip(height.unsigned(row));
            let extent = extent.filter(|&(width, height): &(u64, u64)| width > 0 && height > 0);
            let bytes = size
                .unsigned::<u64>(row)
                .filter(|&bytes| bytes > 0 || extent.is_none())
                .or_else(|| extent.and_then(|(width, height)| width.checked_mul(height)));
            let [sync, pinned] = [sync, pinned].map(|flag| flag.int(row).is_some_and(|value| value != 0));
            let launch = ApiLaunch {
                kernel: NameId::NONE,
                bytes,
                extent,
                direction: direction(kind.int(row), self.variant, self.names, tables),
                addresses: address(dst, row).zip(address(src, row)),
                devices: dst_device.int(row).zip(src_device.int(row)),
                sync,
                pinned,
                ..ApiLaunch::default()
            };
            let is_between = match self.variant.launches {
                LaunchRows::Arguments => caller.function == Function::PeerCopy,
                LaunchRows::Converted => true,
                LaunchRows::Executed | LaunchRows::Groups => false,
            };
            (ApiLaunch { devices: launch.devices.filter(|_| is_between), ..launch }, launch)
        })
    }
}

/// hipMemcpyKind, or the id of a string that names the operation.
fn direction(kind: Option<i64>, variant: &Variant, names: &Names, tables: &Tables) -> Direction {
    match kind {
        Some(kind) if variant.launches == LaunchRows::Executed || kind > 4 => {
            let name = names.get(Some(kind));
            Direction::parse(tables.strings.get(name)).unwrap_or_default()
        }
        Some(0) => Direction::HostToHost,
        Some(1) => Direction::HostToDevice,
        Some(2) => Direction::DeviceToHost,
        Some(3) => Direction::DeviceToDevice,
        _ => Direction::Unknown,
    }
}

/// An address as `0x7f59c1260000`.
fn address(field: Field, row: &Row<'_>) -> Option<u64> {
    let text = field.text(row)?;
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

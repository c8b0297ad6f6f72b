use super::calls::Calls;
use super::{IdMap, LaunchRows, Names, Plan, Variant};
use crate::layout::rpd::Function;
use crate::sqlite::{Database, Row};
use crate::table::{ApiLaunch, Direction, Shape};
use crate::{Id, NameId, ProblemKind, Result, Select, ShapeId, Tables};

/// Launch and copy parameters by call: the rows of `rocpd_kernelapi` and `rocpd_copyapi`.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    kernels: IdMap<KernelLaunch>,
    copies: IdMap<u32>,
    copy_rows: Vec<CopyLaunch>,
}

/// The launch parameters of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelLaunch {
    pub(crate) kernel: NameId,
    /// The shape of the dispatch, if the parameters determine it.
    pub(crate) shape: Option<ShapeId>,
}

/// The copy parameters of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CopyLaunch {
    pub(crate) bytes: Option<u64>,
    pub(crate) direction: Direction,
    /// Destination and source address.
    pub(crate) addresses: Option<(u64, u64)>,
    /// Destination and source device of a copy between devices, numbered as the ops number them.
    pub(crate) devices: Option<(i64, i64)>,
}

impl Launches {
    #[inline]
    pub(crate) fn kernel(&self, call: Id) -> Option<KernelLaunch> {
        if self.kernels.is_empty() { None } else { self.kernels.get(call) }
    }

    /// Whether any call has copy parameters.
    pub(crate) fn has_copies(&self) -> bool {
        !self.copy_rows.is_empty()
    }

    #[inline]
    pub(crate) fn copy(&self, call: Id) -> Option<CopyLaunch> {
        self.copies.get(call).map(|row| self.copy_rows[row as usize])
    }
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
    let mut launches = Launches::default();
    if select.any_shape() || keep {
        launches.kernels = read_kernels(database, variant, keep, names, calls, tables)?;
    }
    let mut copies = read_copies(database, variant, keep, names, calls, tables)?;
    copies.sort_by_key(|(call, _)| *call);
    launches.copies = copies.iter().enumerate().map(|(row, (call, _))| (*call, row as u32)).collect();
    launches.copy_rows = copies.into_iter().map(|(_, copy)| copy).collect();
    tables.api_calls.launches.sort_by_key(|launch| launch.call);
    Ok(launches)
}

fn read_kernels(
    database: &Database,
    variant: &Variant,
    keep: bool,
    names: &Names,
    calls: &Calls,
    tables: &mut Tables,
) -> Result<IdMap<KernelLaunch>> {
    const PLACE: &str = "rocpd_kernelapi";
    let mut plan = Plan::of(database, PLACE)?;
    let call = [plan.add("api_ptr_id"), plan.add("api_id")];
    let grid = ["gridX", "gridY", "gridZ"].map(|column| plan.add(column));
    let workgroup = ["workgroupX", "workgroupY", "workgroupZ"].map(|column| plan.add(column));
    let [lds, scratch, kernel] =
        ["groupSegmentSize", "privateSegmentSize", "kernelName_id"].map(|column| plan.add(column));
    let stream = plan.add_if(keep, "stream");
    let mut kernels = Vec::new();
    database.scan(PLACE, plan.columns(), |row| {
        let Some(call) = call.iter().find_map(|field| field.int(row)) else { return };
        let Some(caller) = calls.get(call) else {
            tables.problems.add(ProblemKind::DanglingReference, "rocpd_kernelapi.api_ptr_id", call);
            return;
        };
        let grid = grid.map(|axis| axis.unsigned::<u64>(row).filter(|&size| size > 0));
        let workgroup = workgroup.map(|axis| axis.unsigned::<u32>(row).filter(|&size| size > 0));
        let shape = match (grid, workgroup) {
            ([Some(x), Some(y), Some(z)], [Some(wx), Some(wy), Some(wz)]) => {
                let (grid, workgroup) = ([x, y, z], [wx, wy, wz]);
                match (variant.launches, caller.function) {
                    (LaunchRows::Executed | LaunchRows::Converted, _)
                    | (LaunchRows::Arguments, Function::LaunchOfItems) => Shape::from_items(workgroup, grid),
                    (LaunchRows::Groups, _) | (LaunchRows::Arguments, Function::LaunchOfGroups) => {
                        Shape::from_groups(workgroup, grid)
                    }
                    (LaunchRows::Arguments, _) => Shape { workgroup: Some(workgroup), ..Shape::default() },
                }
            }
            (_, [Some(wx), Some(wy), Some(wz)]) => {
                Shape { workgroup: Some([wx, wy, wz]), ..Shape::default() }
            }
            _ => Shape::default(),
        };
        // A source that copies the call's arguments knows the dynamic LDS only: the dispatch's is unknown.
        let whole = Shape { lds: lds.unsigned(row), scratch: scratch.unsigned(row), ..shape };
        let is_whole = matches!(variant.launches, LaunchRows::Executed | LaunchRows::Converted);
        let known = if is_whole { whole } else { shape };
        let kernel =
            names.checked(kernel.int(row), &mut tables.problems, "rocpd_kernelapi.kernelName_id", call);
        let shape = (known != Shape::default()).then(|| tables.shapes.intern(known));
        kernels.push((call, KernelLaunch { kernel, shape }));
        if let (true, Some(at)) = (keep, calls.rows.get(call)) {
            let shape = Some(tables.shapes.intern(whole));
            let stream = text(stream.position(), row, tables);
            tables.api_calls.launches.push(ApiLaunch { call: at, kernel, shape, stream, ..none() });
        }
    })?;
    kernels.sort_by_key(|(call, _)| *call);
    Ok(kernels.into_iter().collect())
}

fn read_copies(
    database: &Database,
    variant: &Variant,
    keep: bool,
    names: &Names,
    calls: &Calls,
    tables: &mut Tables,
) -> Result<Vec<(Id, CopyLaunch)>> {
    const PLACE: &str = "rocpd_copyapi";
    let mut plan = Plan::of(database, PLACE)?;
    let call = [plan.add("api_ptr_id"), plan.add("api_id")];
    let [size, width, height, kind] = ["size", "width", "height", "kind"].map(|column| plan.add(column));
    let [dst, src, dst_device, src_device] =
        ["dst", "src", "dstDevice", "srcDevice"].map(|column| plan.add(column));
    let [stream, sync, pinned] = ["stream", "sync", "pinned"].map(|column| plan.add_if(keep, column));
    let mut copies = Vec::new();
    database.scan(PLACE, plan.columns(), |row| {
        let Some(call) = call.iter().find_map(|field| field.int(row)) else { return };
        let Some(caller) = calls.get(call) else {
            tables.problems.add(ProblemKind::DanglingReference, "rocpd_copyapi.api_ptr_id", call);
            return;
        };
        let extent = match (width.unsigned::<u64>(row), height.unsigned::<u64>(row)) {
            (Some(width), Some(height)) if width > 0 && height > 0 => Some((width, height)),
            _ => None,
        };
        let bytes = size
            .unsigned::<u64>(row)
            .filter(|&bytes| bytes > 0 || extent.is_none())
            .or_else(|| extent.and_then(|(width, height)| width.checked_mul(height)));
        let direction = direction(kind.int(row), variant, names, tables);
        let addresses = address(dst.position(), row).zip(address(src.position(), row));
        let devices = dst_device.int(row).zip(src_device.int(row));
        let between = devices.filter(|_| match variant.launches {
            LaunchRows::Arguments => caller.function == Function::PeerCopy,
            LaunchRows::Converted => true,
            LaunchRows::Executed | LaunchRows::Groups => false,
        });
        copies.push((call, CopyLaunch { bytes, direction, addresses, devices: between }));
        if let (true, Some(at)) = (keep, calls.rows.get(call)) {
            let stream = text(stream.position(), row, tables);
            let flag = |field: super::Field| field.int(row).is_some_and(|value| value != 0);
            let (sync, pinned) = (flag(sync), flag(pinned));
            let launch = ApiLaunch {
                call: at,
                stream,
                bytes,
                extent,
                direction,
                addresses,
                devices,
                sync,
                pinned,
                ..none()
            };
            tables.api_calls.launches.push(launch);
        }
    })?;
    Ok(copies)
}

/// A launch without known parameters.
fn none() -> ApiLaunch {
    ApiLaunch { kernel: NameId::NONE, stream: NameId::NONE, ..ApiLaunch::default() }
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

fn text(position: Option<usize>, row: &Row<'_>, tables: &mut Tables) -> NameId {
    let text = position.and_then(|at| row.text(at)).filter(|text| !text.is_empty());
    text.map_or(NameId::NONE, |text| tables.strings.intern(&text))
}

/// An address as `0x7f59c1260000`.
fn address(position: Option<usize>, row: &Row<'_>) -> Option<u64> {
    let text = row.text(position?)?;
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

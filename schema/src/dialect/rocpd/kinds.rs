//! Kinds of ops by the names that writers of RPD and of rocm-trace-lite give to opTypes.

use super::Names;
use crate::table::Direction;
use crate::{Id, NameId, Strings};

/// The kind of a row of `rocpd_op`, by its opType.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OpKind {
    Kernel,
    /// `Task`: a kernel of a graph launch.
    GraphKernel,
    /// `CopyHostToDevice`, `CopyDeviceToDevice2D`, `MEMORY_COPY_HOST_TO_DEVICE`, `FillBuffer`, ...
    Copy(Direction),
    Barrier,
    Annotation,
    /// Any other: GPU work if it names a GPU, else an annotation.
    #[default]
    Other,
}

impl OpKind {
    pub(crate) fn of(op_type: &str) -> Self {
        const COPIES: [&str; 5] = ["Copy", "MEMORY_COPY", "Memcpy", "Memset", "FillBuffer"];
        match op_type {
            "KernelExecution" => Self::Kernel,
            "Task" => Self::GraphKernel,
            "Barrier" => Self::Barrier,
            "UserMarker" => Self::Annotation,
            _ if COPIES.iter().any(|word| op_type.starts_with(word)) => {
                Self::Copy(Direction::parse(op_type).unwrap_or_default())
            }
            _ => Self::Other,
        }
    }

    #[inline]
    pub(crate) fn is_dispatch(self, gpu: i64) -> bool {
        !matches!(self, Self::Copy(_) | Self::Barrier | Self::Annotation) && gpu != NO_AGENT
    }
}

/// The gpuId of annotations: no agent at all.
pub(super) const NO_AGENT: i64 = -1;

/// The kinds of op types and their names, each looked up once.
#[derive(Debug, Default)]
pub(super) struct Kinds(Vec<(Option<Id>, OpKind, NameId)>);

impl Kinds {
    #[inline]
    pub(super) fn get(&mut self, op_type: Option<Id>, names: &Names, strings: &Strings) -> (OpKind, NameId) {
        if let Some(&(_, kind, name)) = self.0.iter().find(|(known, ..)| *known == op_type) {
            return (kind, name);
        }
        let name = names.get(op_type);
        let kind = if name.is_some() { OpKind::of(strings.get(name)) } else { OpKind::Other };
        self.0.push((op_type, kind, name));
        (kind, name)
    }
}

/// The direction of ops of a type, if they are copies.
pub fn copy_type(op_type: &str) -> Option<Direction> {
    match OpKind::of(op_type) {
        OpKind::Copy(direction) => Some(direction),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_copy_is_a_copy() {
        for (op_type, direction) in [
            ("CopyHostToDevice", Direction::HostToDevice),
            ("CopyDeviceToHost2D", Direction::DeviceToHost),
            ("MEMORY_COPY_DEVICE_TO_DEVICE", Direction::DeviceToDevice),
            ("FillBuffer", Direction::Fill),
            ("Copy", Direction::Unknown),
            ("Memcpy", Direction::Unknown),
        ] {
            assert_eq!(OpKind::of(op_type), OpKind::Copy(direction), "{op_type}");
        }
    }

    #[test]
    fn a_task_is_a_kernel_of_a_graph() {
        assert_eq!(OpKind::of("Task"), OpKind::GraphKernel);
        assert_eq!(OpKind::of("KernelExecution"), OpKind::Kernel);
        assert_eq!(OpKind::of("copyKernel"), OpKind::Other);
    }
}

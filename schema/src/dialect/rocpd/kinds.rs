use crate::table::Direction;

/// The kind of a row of `rocpd_op`, by its opType.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OpKind {
    /// `KernelExecution`.
    Kernel,
    /// `Task`: a kernel of a graph launch.
    GraphKernel,
    /// `CopyHostToDevice`, `CopyDeviceToDevice2D`, `MEMORY_COPY_HOST_TO_DEVICE`, `FillBuffer`, ...
    Copy(Direction),
    /// `Barrier`.
    Barrier,
    /// `UserMarker`.
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

//! Settings of the simulated machine, read once from the environment, as the README lists them.

use std::path::PathBuf;

use crate::behaviour::{Behaviour, number};

/// A kind of GPU, with the properties that the driver reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    /// The target's name as compilers spell it.
    pub(crate) target: &'static str,
    /// `major * 10000 + minor * 100 + stepping`
    pub(crate) version: u32,
    /// Older thunks look here first and at the version only when they do not know the device.
    pub(crate) device_id: u32,
    pub(crate) marketing_name: &'static str,
    /// The graphics driver's name for the generation.
    pub(crate) family: u32,
    pub(crate) compute_units: u32,
    pub(crate) simds_per_compute_unit: u32,
    pub(crate) waves_per_simd: u32,
    pub(crate) wavefront: u32,
    pub(crate) shader_arrays: u32,
    pub(crate) arrays_per_engine: u32,
    pub(crate) compute_units_per_array: u32,
    /// Compute dies that act as one GPU.
    pub(crate) dies: u32,
    /// Error correction on its memories, which is part of the name of the instruction set.
    pub(crate) error_correction: bool,
    pub(crate) memory_bytes: u64,
}

const GCN: Model = Model {
    target: "gfx90a",
    version: 90_010,
    device_id: 0x740c,
    marketing_name: "Simulated MI250X",
    family: 141,
    compute_units: 110,
    simds_per_compute_unit: 4,
    waves_per_simd: 8,
    wavefront: 64,
    shader_arrays: 8,
    arrays_per_engine: 1,
    compute_units_per_array: 14,
    dies: 1,
    error_correction: true,
    memory_bytes: 64 << 30,
};

const RDNA: Model = Model {
    target: "gfx1100",
    version: 110_000,
    device_id: 0x744c,
    marketing_name: "Simulated RX 7900 XTX",
    family: 145,
    compute_units: 96,
    simds_per_compute_unit: 2,
    waves_per_simd: 16,
    wavefront: 32,
    shader_arrays: 12,
    arrays_per_engine: 2,
    compute_units_per_array: 8,
    dies: 1,
    error_correction: false,
    memory_bytes: 24 << 30,
};

/// Every kind that can be chosen; the first is the default.
pub(crate) const MODELS: [Model; 8] = [
    GCN,
    Model {
        target: "gfx906",
        version: 90_006,
        device_id: 0x66a1,
        marketing_name: "Simulated MI50",
        compute_units: 60,
        waves_per_simd: 10,
        shader_arrays: 4,
        compute_units_per_array: 15,
        memory_bytes: 32 << 30,
        ..GCN
    },
    Model {
        target: "gfx908",
        version: 90_008,
        device_id: 0x738c,
        marketing_name: "Simulated MI100",
        compute_units: 120,
        waves_per_simd: 10,
        compute_units_per_array: 15,
        memory_bytes: 32 << 30,
        ..GCN
    },
    Model {
        target: "gfx942",
        version: 90_402,
        device_id: 0x74a1,
        marketing_name: "Simulated MI300X",
        compute_units: 304,
        shader_arrays: 32,
        compute_units_per_array: 10,
        dies: 8,
        memory_bytes: 192 << 30,
        ..GCN
    },
    Model {
        target: "gfx950",
        version: 90_500,
        device_id: 0x75a0,
        marketing_name: "Simulated MI350X",
        compute_units: 256,
        shader_arrays: 32,
        compute_units_per_array: 9,
        dies: 8,
        memory_bytes: 288 << 30,
        ..GCN
    },
    Model {
        target: "gfx1030",
        version: 100_300,
        device_id: 0x73bf,
        marketing_name: "Simulated RX 6900 XT",
        family: 143,
        compute_units: 80,
        shader_arrays: 8,
        compute_units_per_array: 10,
        memory_bytes: 16 << 30,
        ..RDNA
    },
    RDNA,
    Model {
        target: "gfx1201",
        version: 120_001,
        device_id: 0x7550,
        marketing_name: "Simulated RX 9070 XT",
        family: 152,
        compute_units: 64,
        shader_arrays: 8,
        memory_bytes: 16 << 30,
        ..RDNA
    },
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// From 1 to 64.
    pub(crate) gpus: u32,
    pub(crate) model: Model,
    pub(crate) behaviour: Behaviour,
    /// Limit on the events of a process; the driver's is 4096.
    pub(crate) events: u32,
    /// Path of the log.
    pub(crate) log: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the values of `KFD_SIM_*`; settings that are absent have their defaults.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let target = variable("KFD_SIM_TARGET").unwrap_or_else(|| MODELS[0].target.to_owned());
        let model = MODELS.into_iter().find(|model| model.target == target).ok_or_else(|| {
            let known: Vec<&str> = MODELS.iter().map(|model| model.target).collect();
            format!("KFD_SIM_TARGET={target}: not one of {}", known.join(", "))
        })?;
        Ok(Self {
            gpus: number(&variable, "KFD_SIM_GPUS", 1..=64)?.unwrap_or(1),
            model,
            behaviour: Behaviour::read(&variable)?,
            events: number(&variable, "KFD_SIM_EVENTS", 1..=4096)?.unwrap_or(4096),
            log: variable("KFD_SIM_LOG").filter(|path| !path.is_empty()).map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::Span;

    #[test]
    fn what_is_not_given_has_its_default() {
        let settings = Settings::read(|_| None).unwrap();
        assert_eq!((settings.gpus, settings.model.target), (1, "gfx90a"));
        assert_eq!(settings.behaviour.kernel.others, Span::Fixed(10_000));
        assert_eq!(settings.log, None);
    }

    #[test]
    fn a_value_that_makes_no_sense_is_refused_by_name() {
        let too_many = Settings::read(|name| (name == "KFD_SIM_GPUS").then(|| "65".to_owned()));
        assert_eq!(too_many.unwrap_err(), "KFD_SIM_GPUS=65: not a whole number from 1 to 64");
        let unknown = Settings::read(|name| (name == "KFD_SIM_TARGET").then(|| "gfx1".to_owned()));
        assert!(unknown.unwrap_err().starts_with("KFD_SIM_TARGET=gfx1: not one of gfx90a, "));
    }
}

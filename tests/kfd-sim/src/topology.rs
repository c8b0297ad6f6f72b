//! The machine as sysfs shows it: node 0 is the CPU, the others are GPUs, every two of them linked.

use std::fmt::Write;

use crate::settings::Settings;

/// Folders of the machine's description; the second is a link in sysfs.
const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";
const CLASS: &str = "/sys/class/kfd/kfd/topology";

/// The number of the first render node.
pub(crate) const FIRST_RENDER_MINOR: u32 = 128;

/// Beginnings of the local memory of a work-group and of its scratch. A zero in the high half of the first aborts the runtime.
pub(crate) const LDS_APERTURE: u64 = 1 << 48;
pub(crate) const SCRATCH_APERTURE: u64 = 2 << 48;

/// Bits of `capability`: doorbells of 64 bits, ring sizes that are powers of two, four watch points.
const CAPABILITY: u32 = 0x2288;

/// Bits of `capability`: error correction on device memory and on the chip's own.
const ERROR_CORRECTION: u32 = 0x410_0000;

/// Added to a node's number for the driver's identifier of its GPU.
const FIRST_GPU_ID: u32 = 0x1000;

/// The driver's identifier of the GPU at a node; the CPU has none.
pub(crate) fn gpu_id(node: u32) -> u32 {
    if node == 0 { 0 } else { FIRST_GPU_ID + node }
}

/// The GPU's node, or `None` when this machine has no such GPU.
pub(crate) fn node(settings: &Settings, gpu_id: u32) -> Option<u32> {
    gpu_id.checked_sub(FIRST_GPU_ID).filter(|node| (1..=settings.gpus).contains(node))
}

/// The node whose render node this is.
pub(crate) fn node_of_render_minor(settings: &Settings, minor: u32) -> Option<u32> {
    let node = minor.checked_sub(FIRST_RENDER_MINOR)? + 1;
    (node <= settings.gpus).then_some(node)
}

/// True if the driver answers for this path, even where there is no file.
pub(crate) fn owns(path: &str) -> bool {
    parts(path).is_some()
}

/// The path below the tree's root.
fn parts(path: &str) -> Option<Vec<&str>> {
    let below = path.strip_prefix(ROOT).or_else(|| path.strip_prefix(CLASS))?;
    (below.is_empty() || below.starts_with('/'))
        .then(|| below.split('/').filter(|part| !part.is_empty()).collect())
}

/// Content of a file of the tree.
pub(crate) fn file(settings: &Settings, path: &str) -> Option<String> {
    let parts = parts(path)?;
    match parts[..] {
        ["generation_id"] => Some("1\n".to_owned()),
        ["system_properties"] => Some(lines(&[("platform_oem", 0), ("platform_id", 0), ("platform_rev", 0)])),
        ["nodes", at, ref rest @ ..] => {
            let at = node_number(settings, at)?;
            match *rest {
                ["gpu_id"] => Some(format!("{}\n", gpu_id(at))),
                ["name"] => {
                    Some(if at == 0 { "\n".to_owned() } else { format!("{}\n", settings.model.target) })
                }
                ["properties"] => Some(lines(&properties(settings, at))),
                ["mem_banks", "0", "properties"] => Some(lines(&memory_bank(settings, at))),
                ["caches", level, "properties"] => {
                    let level = level.parse().ok().filter(|level| *level < caches(at))?;
                    Some(lines(&cache(settings, at, level)) + "sibling_map 1\n")
                }
                ["io_links", link, "properties"] => {
                    let other = (0..=settings.gpus).filter(|other| *other != at).nth(link.parse().ok()?)?;
                    Some(lines(&link_properties(at, other)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Names of the entries of a folder of the tree.
pub(crate) fn folder(settings: &Settings, path: &str) -> Option<Vec<String>> {
    let parts = parts(path)?;
    let numbers = |count: u32| Some((0..count).map(|number| number.to_string()).collect());
    match parts[..] {
        [] => Some(["generation_id", "system_properties", "nodes"].map(str::to_owned).to_vec()),
        ["nodes"] => numbers(settings.gpus + 1),
        ["nodes", at, ref rest @ ..] => {
            let at = node_number(settings, at)?;
            match *rest {
                [] => Some(
                    ["gpu_id", "name", "properties", "mem_banks", "caches", "io_links"]
                        .map(str::to_owned)
                        .to_vec(),
                ),
                ["mem_banks"] => numbers(1),
                ["caches"] => numbers(caches(at)),
                ["io_links"] => numbers(settings.gpus),
                _ => None,
            }
        }
        _ => None,
    }
}

fn node_number(settings: &Settings, text: &str) -> Option<u32> {
    text.parse().ok().filter(|node| *node <= settings.gpus)
}

fn lines(properties: &[(&str, u64)]) -> String {
    properties.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name} {value}");
        text
    })
}

fn caches(node: u32) -> u32 {
    if node == 0 { 1 } else { 2 }
}

fn properties(settings: &Settings, node: u32) -> Vec<(&'static str, u64)> {
    let links = u64::from(settings.gpus);
    if node == 0 {
        return vec![
            ("cpu_cores_count", std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)),
            ("simd_count", 0),
            ("mem_banks_count", 1),
            ("caches_count", caches(node).into()),
            ("io_links_count", links),
            ("p2p_links_count", 0),
            ("cpu_core_id_base", 0),
            ("simd_id_base", 0),
            ("max_engine_clk_ccompute", 3000),
        ];
    }
    let model = &settings.model;
    let capability = CAPABILITY | if model.error_correction { ERROR_CORRECTION } else { 0 };
    vec![
        ("cpu_cores_count", 0),
        ("simd_count", (model.compute_units * model.simds_per_compute_unit).into()),
        ("mem_banks_count", 1),
        ("caches_count", caches(node).into()),
        ("io_links_count", links),
        ("p2p_links_count", 0),
        ("cpu_core_id_base", 0),
        ("simd_id_base", u64::from(0x8000_0000 + node * 0x1000)),
        ("max_waves_per_simd", model.waves_per_simd.into()),
        ("lds_size_in_kb", 64),
        ("gds_size_in_kb", 0),
        ("num_gws", 64),
        ("wave_front_size", model.wavefront.into()),
        ("array_count", model.shader_arrays.into()),
        ("simd_arrays_per_engine", model.arrays_per_engine.into()),
        ("cu_per_simd_array", model.compute_units_per_array.into()),
        ("simd_per_cu", model.simds_per_compute_unit.into()),
        ("max_slots_scratch_cu", 32),
        ("gfx_target_version", model.version.into()),
        ("vendor_id", 0x1002),
        ("device_id", model.device_id.into()),
        ("location_id", u64::from(node) << 8),
        ("domain", 0),
        ("drm_render_minor", u64::from(FIRST_RENDER_MINOR + node - 1)),
        ("hive_id", 0),
        ("num_sdma_engines", 2),
        ("num_sdma_xgmi_engines", 0),
        ("num_sdma_queues_per_engine", 8),
        ("num_cp_queues", 24),
        ("max_engine_clk_fcompute", 1700),
        ("max_engine_clk_ccompute", 3000),
        ("local_mem_size", 0),
        ("fw_version", 68),
        ("capability", capability.into()),
        ("debug_prop", 0),
        ("sdma_fw_version", 8),
        ("unique_id", 0x5157_0000_0000_0000 + u64::from(node)),
        ("num_xcc", model.dies.into()),
    ]
}

fn memory_bank(settings: &Settings, node: u32) -> Vec<(&'static str, u64)> {
    // 0 is the system's memory, 1 the part of the GPU's that the host can access: all of it.
    let (heap, size, width, clock) =
        if node == 0 { (0, 128 << 30, 64, 2400) } else { (1, settings.model.memory_bytes, 4096, 1600) };
    vec![("heap_type", heap), ("size_in_bytes", size), ("flags", 0), ("width", width), ("mem_clk_max", clock)]
}

fn cache(settings: &Settings, node: u32, level: u32) -> Vec<(&'static str, u64)> {
    let kilobytes: u64 = if level == 0 { 16 } else { 8 << 10 };
    // The bits are: 1 for data, 4 of a CPU, 8 of a compute unit.
    let (processor, kind) =
        if node == 0 { (0, 1 | 4) } else { (0x8000_0000 + u64::from(node) * 0x1000, 1 | 8) };
    vec![
        ("processor_id_low", processor),
        ("level", u64::from(level) + 1),
        ("size", kilobytes),
        ("cache_line_size", if settings.model.wavefront == 32 { 128 } else { 64 }),
        ("cache_lines_per_tag", 1),
        ("association", 16),
        ("latency", 0),
        ("type", kind),
    ]
}

fn link_properties(from: u32, to: u32) -> Vec<(&'static str, u64)> {
    // 2 is PCIe; a link between GPUs passes the CPU and weighs twice.
    let weight = if from == 0 || to == 0 { 20 } else { 40 };
    vec![
        ("type", 2),
        ("version_major", 0),
        ("version_minor", 0),
        ("node_from", from.into()),
        ("node_to", to.into()),
        ("weight", weight),
        ("min_latency", 0),
        ("max_latency", 0),
        ("min_bandwidth", 0),
        ("max_bandwidth", 0),
        ("recommended_transfer_size", 0),
        ("flags", 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(gpus: &str) -> Settings {
        Settings::read(|name| (name == "KFD_SIM_GPUS").then(|| gpus.to_owned())).unwrap()
    }

    fn number(text: &str, name: &str) -> u64 {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        line.split(' ').next_back().unwrap().parse().unwrap()
    }

    #[test]
    fn a_machine_of_two_gpus_has_three_nodes() {
        let nodes = folder(&machine("2"), &format!("{ROOT}/nodes")).unwrap();
        assert_eq!(nodes, ["0", "1", "2"]);
        assert_eq!(file(&machine("2"), &format!("{ROOT}/nodes/2/gpu_id")).unwrap(), "4098\n");
        assert_eq!(file(&machine("2"), &format!("{ROOT}/nodes/3/gpu_id")), None);
    }

    #[test]
    fn every_count_in_a_node_is_the_number_of_files_beside_it() {
        let machine = machine("8");
        for node in 0..=8 {
            let at = format!("{ROOT}/nodes/{node}");
            let properties = file(&machine, &format!("{at}/properties")).unwrap();
            for (count, place) in
                [("mem_banks_count", "mem_banks"), ("caches_count", "caches"), ("io_links_count", "io_links")]
            {
                let entries = folder(&machine, &format!("{at}/{place}")).unwrap();
                assert_eq!(number(&properties, count), entries.len() as u64, "{place} of node {node}");
                for entry in entries {
                    assert!(file(&machine, &format!("{at}/{place}/{entry}/properties")).is_some());
                }
            }
        }
    }

    #[test]
    fn a_node_is_linked_to_every_other_and_not_to_itself() {
        let machine = machine("3");
        let ends: Vec<u64> = (0..3)
            .map(|link| file(&machine, &format!("{ROOT}/nodes/2/io_links/{link}/properties")).unwrap())
            .map(|text| number(&text, "node_to"))
            .collect();
        assert_eq!(ends, [0, 1, 3]);
    }

    #[test]
    fn a_gpu_is_found_by_its_identifier_and_by_its_render_node() {
        let machine = machine("2");
        assert_eq!(node(&machine, gpu_id(2)), Some(2));
        assert_eq!(node(&machine, gpu_id(3)), None);
        assert_eq!(node_of_render_minor(&machine, 129), Some(2));
        assert_eq!(node_of_render_minor(&machine, 130), None);
    }
}

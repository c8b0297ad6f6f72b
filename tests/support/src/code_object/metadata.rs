//! The note that HIP reads: a MessagePack map of the kernels of the code object.

use super::{Kernel, Target};

/// The note of type 32 (NT_AMDGPU_METADATA) of vendor `AMDGPU`.
pub(super) fn note(target: Target, kernels: &[Kernel]) -> Vec<u8> {
    let mut map = vec![0x83];
    text(&mut map, b"amdhsa.version");
    map.extend_from_slice(&[0x92, 1, 1]);
    text(&mut map, b"amdhsa.target");
    text(&mut map, format!("amdgcn-amd-amdhsa--{}", target.name).as_bytes());
    text(&mut map, b"amdhsa.kernels");
    map.push(0xdd);
    map.extend_from_slice(&(kernels.len() as u32).to_be_bytes());
    for kernel in kernels {
        map.push(0x80 | 11);
        text(&mut map, b".name");
        text(&mut map, &kernel.name);
        text(&mut map, b".symbol");
        text(&mut map, &[&kernel.name[..], b".kd"].concat());
        text(&mut map, b".args");
        map.push(0x90);
        let wavefront = if target.name.starts_with("gfx9") { 64 } else { 32 };
        for (key, value) in [
            (".kernarg_segment_size", kernel.kernarg),
            (".kernarg_segment_align", 8),
            (".group_segment_fixed_size", kernel.lds),
            (".private_segment_fixed_size", kernel.scratch),
            (".wavefront_size", wavefront),
            (".sgpr_count", 16),
            (".vgpr_count", 8),
            (".max_flat_workgroup_size", 1024),
        ] {
            text(&mut map, key.as_bytes());
            map.push(0xce);
            map.extend_from_slice(&value.to_be_bytes());
        }
    }

    let mut note = Vec::with_capacity(map.len() + 20);
    [7, map.len() as u32, 32].iter().for_each(|word: &u32| note.extend_from_slice(&word.to_le_bytes()));
    note.extend_from_slice(b"AMDGPU\0\0");
    note.extend_from_slice(&map);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

fn text(map: &mut Vec<u8>, text: &[u8]) {
    map.push(0xdb);
    map.extend_from_slice(&(text.len() as u32).to_be_bytes());
    map.extend_from_slice(text);
}

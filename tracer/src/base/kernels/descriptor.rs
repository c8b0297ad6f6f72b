//! Reads the resources that a kernel uses from its descriptor, the 64 bytes that packets point to.
//!
//! The layout and the granularity of register counts are those of "User Guide for AMDGPU Backend" of LLVM, section "Kernel
//! Descriptor" (tables of compute_pgm_rsrc1 and rsrc3 of each generation). `amd_kernel_code_t`, its predecessor, is that of
//! amd_hsa_kernel_code.h. Counts are those of allocated registers, because the descriptor has no others; rocprofv3 counts in the
//! same way.

use super::elf::{Form, u32_at, u64_at};

/// Bytes that [`Resources::read`] needs.
#[must_use]
pub const fn size_of_form(form: Form) -> usize {
    match form {
        Form::Descriptor => 64,
        Form::KernelCode => 256,
    }
}

/// Resources of a kernel. `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resources {
    pub kernarg: Option<u32>,
    /// Bytes of static LDS of a work-group.
    pub lds: Option<u32>,
    /// Bytes of scratch memory of a work-item.
    pub scratch: Option<u32>,
    /// Scalar registers of a wave.
    pub sgprs: Option<u32>,
    /// Vector registers of a work-item, without accumulation registers.
    pub vgprs: Option<u32>,
    /// Accumulation registers of a work-item.
    pub agprs: Option<u32>,
}

/// Processors whose descriptors count registers in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// gfx6 to gfx8 allocate SGPRs by 8 and VGPRs by 4.
    Early,
    /// gfx9 allocates SGPRs by 16.
    Gfx9,
    /// gfx908 has as many accumulation registers as VGPRs.
    Gfx908,
    /// gfx90a, gfx942 and gfx950 have one file of VGPRs and AGPRs by 8; AGPRs begin at an offset.
    Gfx90a,
    /// gfx10 to gfx12 always have 128 SGPRs, and VGPRs by 8 in waves of 32 and by 4 in waves of 64.
    Gfx10,
    /// gfx125x has twice as many VGPRs.
    Gfx125,
}

impl Generation {
    /// Decides by the low byte of the ELF header's flags (EF_AMDGPU_MACH); `None` for a processor that is not listed.
    #[must_use]
    pub const fn from_flags(flags: u32) -> Option<Self> {
        Some(match flags & 0xff {
            0x20..=0x26 | 0x28..=0x2b | 0x3a..=0x3c => Self::Early,
            0x2c..=0x2f | 0x31 | 0x32 | 0x51 => Self::Gfx9,
            0x30 => Self::Gfx908,
            // 0x5f is gfx9-4-generic, which runs on gfx942 and gfx950.
            0x3f | 0x40 | 0x4b | 0x4c | 0x4f | 0x5f => Self::Gfx90a,
            0x33..=0x39
            | 0x3d
            | 0x3e
            | 0x41..=0x48
            | 0x4a
            | 0x4e
            | 0x52..=0x55
            | 0x57..=0x59
            | 0x5c..=0x5e
            | 0x62 => Self::Gfx10,
            0x49 | 0x5a | 0x5b => Self::Gfx125,
            _ => return None,
        })
    }
}

impl Resources {
    /// Reads the bytes at the kernel's address. With fewer bytes than the form has, everything is unknown.
    #[must_use]
    pub fn read(bytes: &[u8], form: Form, generation: Option<Generation>) -> Self {
        if bytes.len() < size_of_form(form) {
            return Self::default();
        }
        match form {
            Form::Descriptor => Self::of_descriptor(bytes, generation),
            Form::KernelCode => Self::of_kernel_code(bytes),
        }
    }

    fn of_descriptor(bytes: &[u8], generation: Option<Generation>) -> Self {
        let word = |at| u32_at(bytes, at).unwrap_or_default();
        let (rsrc3, rsrc1) = (word(44), word(48));
        let waves_of_32 = word(56) & (1 << 10) != 0;
        let mut resources =
            Self { lds: Some(word(0)), scratch: Some(word(4)), kernarg: Some(word(8)), ..Self::default() };
        let Some(generation) = generation else { return resources };
        let vgprs = |granule| ((rsrc1 & 0x3f) + 1) * granule;
        let sgpr_field = (rsrc1 >> 6) & 0xf;
        let by_wave = if waves_of_32 { 2 } else { 1 };
        let (sgprs, vgprs, agprs) = match generation {
            Generation::Early => ((sgpr_field + 1) * 8, vgprs(4), None),
            Generation::Gfx9 => ((sgpr_field / 2 + 1) * 16, vgprs(4), None),
            Generation::Gfx908 => ((sgpr_field / 2 + 1) * 16, vgprs(4), Some(vgprs(4))),
            Generation::Gfx90a => {
                let offset = ((rsrc3 & 0x3f) + 1) * 4;
                ((sgpr_field / 2 + 1) * 16, offset, Some(vgprs(8).saturating_sub(offset)))
            }
            Generation::Gfx10 => (128, vgprs(4 * by_wave), None),
            Generation::Gfx125 => (128, vgprs(8 * by_wave), None),
        };
        (resources.sgprs, resources.vgprs, resources.agprs) = (Some(sgprs), Some(vgprs), agprs);
        resources
    }

    fn of_kernel_code(bytes: &[u8]) -> Self {
        let registers = u32_at(bytes, 84);
        Self {
            scratch: u32_at(bytes, 60),
            lds: u32_at(bytes, 64),
            kernarg: u64_at(bytes, 72).and_then(|size| u32::try_from(size).ok()),
            sgprs: registers.map(|counts| counts & 0xffff),
            vgprs: registers.map(|counts| counts >> 16),
            agprs: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GFX90A: u32 = 0x53f;
    const GFX1100: u32 = 0x041;

    fn descriptor(rsrc1: u32, rsrc3: u32, properties: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..12].copy_from_slice(&[0, 4, 0, 0, 16, 0, 0, 0, 72, 0, 0, 0]);
        bytes[44..48].copy_from_slice(&rsrc3.to_le_bytes());
        bytes[48..52].copy_from_slice(&rsrc1.to_le_bytes());
        bytes[56..58].copy_from_slice(&properties.to_le_bytes());
        bytes
    }

    fn registers(flags: u32, rsrc1: u32, rsrc3: u32, properties: u16) -> [Option<u32>; 3] {
        let bytes = descriptor(rsrc1, rsrc3, properties);
        let resources = Resources::read(&bytes, Form::Descriptor, Generation::from_flags(flags));
        [resources.sgprs, resources.vgprs, resources.agprs]
    }

    #[test]
    fn sizes_are_in_bytes() {
        let resources = Resources::read(&descriptor(0, 0, 0), Form::Descriptor, None);
        assert_eq!(
            resources,
            Resources { lds: Some(1024), scratch: Some(16), kernarg: Some(72), ..Resources::default() }
        );
    }

    #[test]
    fn gfx90a_splits_its_vector_registers_at_the_offset_of_the_accumulation_registers() {
        // 32 blocks of 8 are 256 registers; the offset of 31 + 1 blocks of 4 gives the first 128 to the VGPRs.
        assert_eq!(registers(GFX90A, 31 | (6 << 6), 31, 0), [Some(64), Some(128), Some(128)]);
        // One block of 8 that begins with 8 VGPRs has no room for AGPRs.
        assert_eq!(registers(GFX90A, 0, 1, 0), [Some(16), Some(8), Some(0)]);
        // An invalid offset points beyond the registers.
        assert_eq!(registers(GFX90A, 0, 63, 0), [Some(16), Some(256), Some(0)]);
    }

    #[test]
    fn waves_of_32_count_vector_registers_in_blocks_of_8() {
        assert_eq!(registers(GFX1100, 2, 0, 1 << 10), [Some(128), Some(24), None]);
        assert_eq!(registers(GFX1100, 2, 0, 0), [Some(128), Some(12), None]);
        assert_eq!(registers(0x49, 2, 0, 1 << 10), [Some(128), Some(48), None]);
    }

    #[test]
    fn earlier_processors_have_no_accumulation_registers_or_as_many_as_vector_registers() {
        assert_eq!(registers(0x28, 1 | (2 << 6), 0, 0), [Some(24), Some(8), None]);
        assert_eq!(registers(0x2f, 1 | (2 << 6), 0, 0), [Some(32), Some(8), None]);
        assert_eq!(registers(0x30, 1 | (2 << 6), 0, 0), [Some(32), Some(8), Some(8)]);
    }

    #[test]
    fn registers_of_an_unknown_processor_are_unknown() {
        assert_eq!(registers(0xff, 0xffff_ffff, 0, 0), [None; 3]);
    }

    #[test]
    fn what_came_before_descriptors_names_counts_directly() {
        let mut bytes = vec![0; 256];
        bytes[60] = 32;
        bytes[64] = 128;
        bytes[72] = 24;
        bytes[84] = 40;
        bytes[86] = 20;
        let resources = Resources::read(&bytes, Form::KernelCode, None);
        assert_eq!((resources.scratch, resources.lds, resources.kernarg), (Some(32), Some(128), Some(24)));
        assert_eq!((resources.sgprs, resources.vgprs, resources.agprs), (Some(40), Some(20), None));
    }

    #[test]
    fn too_few_bytes_say_nothing() {
        assert_eq!(Resources::read(&[0; 63], Form::Descriptor, None), Resources::default());
        assert_eq!(Resources::read(&[], Form::KernelCode, None), Resources::default());
    }
}

//! The kernels with which the runtimes themselves copy and fill, and the layout of their arguments.
//!
//! HIP compiles its own from source text in libamdhip64; they are known by name. ROCr's are bare code without a name, one per
//! page, made from the sources in its `amd_blit_kernel.cpp`; they are known by the place and the length of their code.

use crate::movement::{Extent, Movement, Pattern, Region};

/// A kernel of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blit {
    /// Kernel of HIP for any bytes; since ROCm 6.4 with other arguments.
    CopyBuffer,
    /// Kernel of HIP in units of 4 or 16 bytes.
    CopyBufferAligned,
    /// Kernel of HIP for rows and slices in bytes.
    CopyBufferRect,
    /// Kernel of HIP for rows and slices in units of 4 or 16 bytes.
    CopyBufferRectAligned,
    /// Kernel of HIP; since ROCm 6.4 with other arguments.
    FillBuffer,
    /// Kernel of HIP for rows.
    FillBuffer2D,
    /// Kernel of ROCr in four parts by the alignment of addresses.
    RuntimeCopyAligned,
    /// Kernel of ROCr in two parts.
    RuntimeCopyMisaligned,
    /// Kernel of ROCr in words of 32 bits.
    RuntimeFill,
}

/// Words of 64 bits in the longest list of arguments.
pub(crate) const ARGUMENTS: usize = 16;

/// Offset of the code of ROCr's kernels behind their kernel object.
pub(crate) const RUNTIME_CODE: u64 = 256;

impl Blit {
    /// Finds a kernel of HIP.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name.strip_prefix("__amd_rocclr_")? {
            "copyBuffer" => Some(Self::CopyBuffer),
            "copyBufferAligned" => Some(Self::CopyBufferAligned),
            "copyBufferRect" => Some(Self::CopyBufferRect),
            "copyBufferRectAligned" => Some(Self::CopyBufferRectAligned),
            "fillBufferAligned" => Some(Self::FillBuffer),
            "fillBufferAligned2D" => Some(Self::FillBuffer2D),
            _ => None,
        }
    }

    /// Finds a kernel of ROCr at the beginning of a page: `page` is the kernel object and the bytes behind it.
    pub(crate) fn from_page(page: &[u8]) -> Option<Self> {
        let entry = page.get(16..24)?.try_into().ok().map(u64::from_le_bytes)?;
        if entry != RUNTIME_CODE {
            return None;
        }
        let code = page.get(RUNTIME_CODE as usize..)?;
        let words = code.chunks_exact(4).rposition(|word| word != [0; 4])? + 1;
        // From gfx7 to gfx10 the lengths are 118 to 125, 99 to 104 and 45 to 48 words.
        match words {
            115..=200 => Some(Self::RuntimeCopyAligned),
            90..115 => Some(Self::RuntimeCopyMisaligned),
            30..90 => Some(Self::RuntimeFill),
            _ => None,
        }
    }

    /// Words of 64 bits that the arguments take.
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::CopyBuffer | Self::CopyBufferAligned | Self::RuntimeCopyMisaligned => 6,
            Self::FillBuffer => 8,
            Self::FillBuffer2D | Self::RuntimeCopyAligned => 10,
            Self::CopyBufferRect | Self::CopyBufferRectAligned => ARGUMENTS,
            Self::RuntimeFill => 4,
        }
    }

    /// The movement that these arguments describe; `None` when they are not as in any known version.
    pub(crate) fn movement(self, arguments: &[u64; ARGUMENTS]) -> Option<Movement> {
        let a = arguments;
        match self {
            Self::CopyBuffer if ends_within(a) => Some(Movement::copy(a[0], a[1], a[2])),
            Self::CopyBuffer => {
                // With 8 in the last argument the unit is a byte. Otherwise the units are words, and the last one has this number of
                // bytes.
                let last = u64::from(low(a[5]));
                let bytes = if last == 8 { a[4] } else { a[4].checked_sub(1)? * 4 + last };
                Some(Movement::copy(a[0] + a[2], a[1] + a[3], bytes))
            }
            Self::CopyBufferAligned => {
                let unit = if low(a[5]) == 16 { 16 } else { 4 };
                Some(Movement::copy(a[0] + a[2] * unit, a[1] + a[3] * unit, a[4] * unit))
            }
            Self::CopyBufferRect => Some(rect(a, 1)),
            Self::CopyBufferRectAligned => Some(rect(a, if low(a[15]) == 16 { 16 } else { 4 })),
            Self::FillBuffer => fill(a),
            Self::FillBuffer2D => {
                let (at, unit) = chosen(a)?;
                let count = u64::from(low(a[5]));
                Some(Movement::Fill {
                    to: Region { at: at + a[6] * unit, row_pitch: a[9] * unit, slice_pitch: 0 },
                    // A row begins with whole patterns, one for each thread at its own unit.
                    extent: Extent { bytes: (a[7] + count.checked_sub(1)?) * unit, rows: a[8], slices: 1 },
                    pattern: Pattern::At(a[4], count * unit),
                })
            }
            Self::RuntimeCopyAligned => Some(Movement::copy(a[0], a[1], a[8].checked_sub(a[0])?)),
            Self::RuntimeCopyMisaligned => Some(Movement::copy(a[0], a[1], a[4].checked_sub(a[0])?)),
            Self::RuntimeFill => Some(Movement::Fill {
                to: Region::linear(a[0]),
                extent: Extent::linear(a[2].checked_sub(a[0])?),
                pattern: Pattern::Word(low(a[3])),
            }),
        }
    }
}

fn low(word: u64) -> u32 {
    word as u32
}

/// True if a copy has the arguments of ROCm 6.4 and later: source, target, bytes, two counts and the address behind the last
/// whole unit of the target. In older versions the fifth argument is a count, which is smaller than any address.
fn ends_within(a: &[u64; ARGUMENTS]) -> bool {
    (a[1]..=a[1].saturating_add(a[2])).contains(&a[4])
}

/// The target and the unit, where the target is given as four pointers, one for each unit, only one of which is not null.
fn chosen(a: &[u64; ARGUMENTS]) -> Option<(u64, u64)> {
    let mut given = [1, 2, 4, 8].into_iter().zip(&a[..4]).filter(|(_, pointer)| **pointer != 0);
    let (unit, at) = given.next()?;
    given.next().is_none().then_some((*at, unit))
}

fn fill(a: &[u64; ARGUMENTS]) -> Option<Movement> {
    if let Some((at, unit)) = chosen(a) {
        let bytes = u64::from(low(a[5])) * unit;
        return Some(Movement::Fill {
            to: Region::linear(at + a[6] * unit),
            extent: Extent::linear(a[7] * bytes),
            pattern: Pattern::At(a[4], bytes),
        });
    }
    // Since ROCm 6.4 the arguments are target, pattern, units of a pattern and bytes of a unit in one word, and end.
    let (count, unit) = (u64::from(low(a[2])), a[2] >> 32);
    Some(Movement::Fill {
        to: Region::linear(a[0]),
        extent: Extent::linear(a[3].checked_sub(a[0])?),
        pattern: Pattern::At(a[1], count * unit),
    })
}

/// The arguments are source and target, then for each the pitches of rows and slices and the offset, then the extent.
fn rect(a: &[u64; ARGUMENTS], unit: u64) -> Movement {
    let region = |at: u64, rect: &[u64]| Region {
        at: at + rect[2] * unit,
        row_pitch: rect[0] * unit,
        slice_pitch: rect[1] * unit,
    };
    Movement::Copy {
        from: region(a[0], &a[4..8]),
        to: region(a[1], &a[8..12]),
        extent: Extent { bytes: a[12] * unit, rows: a[13], slices: a[14] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movement(blit: Blit, first: &[u64]) -> Option<Movement> {
        let mut arguments = [0; ARGUMENTS];
        arguments[..first.len()].copy_from_slice(first);
        blit.movement(&arguments)
    }

    const FROM: u64 = 0x7000_0000_0000;
    const TO: u64 = 0x7000_0010_0000;

    #[test]
    fn a_copy_of_rocm_5_counts_words_and_the_bytes_of_the_last() {
        let copy = movement(Blit::CopyBuffer, &[FROM, TO, 16, 32, 3, 1]);
        assert_eq!(copy, Some(Movement::copy(FROM + 16, TO + 32, 9)));
        let copy = movement(Blit::CopyBuffer, &[FROM, TO, 0, 0, 7, 8]);
        assert_eq!(copy, Some(Movement::copy(FROM, TO, 7)));
    }

    #[test]
    fn a_copy_since_rocm_6_4_says_its_bytes_and_its_end() {
        // Of these 35 bytes, 3 are behind the last whole unit of 16.
        let copy = movement(Blit::CopyBuffer, &[FROM, TO, 35, 3 | 16 << 32, TO + 32, 1024]);
        assert_eq!(copy, Some(Movement::copy(FROM, TO, 35)));
    }

    #[test]
    fn an_aligned_copy_counts_units() {
        let copy = movement(Blit::CopyBufferAligned, &[FROM, TO, 1, 2, 3, 16]);
        assert_eq!(copy, Some(Movement::copy(FROM + 16, TO + 32, 48)));
        let copy = movement(Blit::CopyBufferAligned, &[FROM, TO, 1, 2, 3, 4]);
        assert_eq!(copy, Some(Movement::copy(FROM + 4, TO + 8, 12)));
    }

    #[test]
    fn a_fill_of_rocm_5_has_a_pointer_for_each_unit() {
        let fill = movement(Blit::FillBuffer, &[0, 0, TO, 0, FROM, 2, 5, 10]);
        let expected = Movement::Fill {
            to: Region::linear(TO + 20),
            extent: Extent::linear(80),
            pattern: Pattern::At(FROM, 8),
        };
        assert_eq!(fill, Some(expected));
    }

    #[test]
    fn a_fill_since_rocm_6_4_has_one_pointer_and_an_end() {
        let fill = movement(Blit::FillBuffer, &[TO, FROM, 1 | 16 << 32, TO + 64, 1024]);
        let expected = Movement::Fill {
            to: Region::linear(TO),
            extent: Extent::linear(64),
            pattern: Pattern::At(FROM, 16),
        };
        assert_eq!(fill, Some(expected));
    }

    #[test]
    fn the_runtimes_copy_goes_from_its_first_part_to_its_last() {
        let copy = movement(Blit::RuntimeCopyMisaligned, &[FROM, TO, 0, 0, FROM + 99, TO + 99]);
        assert_eq!(copy, Some(Movement::copy(FROM, TO, 99)));
        let arguments = [FROM, TO, FROM, TO, FROM, TO, FROM, TO, FROM + 7, TO + 7];
        assert_eq!(movement(Blit::RuntimeCopyAligned, &arguments), Some(Movement::copy(FROM, TO, 7)));
    }

    #[test]
    fn arguments_that_no_version_has_move_nothing() {
        assert_eq!(movement(Blit::FillBuffer2D, &[TO, TO, 0, 0]), None);
        assert_eq!(movement(Blit::RuntimeFill, &[TO, TO, TO - 4]), None);
        assert_eq!(movement(Blit::CopyBuffer, &[FROM, TO, 0, 0, 0, 4]), None);
    }

    #[test]
    fn a_page_is_known_by_the_length_of_its_code() {
        let page = |words: usize| {
            let mut page = vec![0; 4096];
            page[16..24].copy_from_slice(&RUNTIME_CODE.to_le_bytes());
            page[256..256 + words * 4].fill(1);
            page
        };
        assert_eq!(Blit::from_page(&page(124)), Some(Blit::RuntimeCopyAligned));
        assert_eq!(Blit::from_page(&page(103)), Some(Blit::RuntimeCopyMisaligned));
        assert_eq!(Blit::from_page(&page(47)), Some(Blit::RuntimeFill));
        assert_eq!(Blit::from_page(&page(900)), None);
        assert_eq!(Blit::from_page(&[0; 4096]), None);
    }
}

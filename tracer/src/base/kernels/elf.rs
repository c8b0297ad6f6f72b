//! Reads the symbol table of a code object in memory: an ELF image that a loader has laid out by addresses, without section
//! headers. Every read is checked, so that any bytes give symbols or [`Damage`].
//!
//! Numbers are from the ELF specification (gABI) and, for those of AMD, from "User Guide for AMDGPU Backend" of
//! LLVM: sections "ELF Code Object" and "Code Object V2".

use std::ops::Range;

/// The reason why no symbols can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// There is no ELF header, or one of another machine or word size.
    #[error("this is no code object for an AMD GPU")]
    Foreign,
    /// A header points outside of the image.
    #[error("the headers of this code object point outside of it")]
    Outside,
    /// The dynamic section, which names the symbol table, is missing or incomplete.
    #[error("no symbols of this code object are loaded")]
    NoSymbols,
}

const OBJECT: u8 = 1;
/// AMD's STT_AMDGPU_HSA_KERNEL: a kernel of code object version 2.
const KERNEL_V2: u8 = 10;

const MACHINE_AMDGPU: u16 = 224;
const PROGRAM_HEADER: usize = 56;
const SYMBOL: usize = 24;
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// Positions of the symbols in a loaded code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The address of the first byte in terms of the symbols.
    first: u64,
    /// Flags of the ELF header, which name the processor.
    pub flags: u32,
    symbols: Range<usize>,
    strings: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    first: u64,
    symbols: &'a [u8],
    strings: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Name without `.kd`.
    pub name: &'a [u8],
    pub form: Form,
}

/// The structure that the address of a kernel points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The 64 bytes of a kernel descriptor, since code object version 3.
    Descriptor,
    /// The 256 bytes of an `amd_kernel_code_t`, in older versions.
    KernelCode,
}

/// Symbols that may be kernels: offset from the image's first byte, and number. Sorted by both.
pub type Index = Vec<(u64, u32)>;

impl Layout {
    /// Reads the headers.
    pub fn read(bytes: &[u8]) -> Result<Self, Damage> {
        let header = bytes.get(..64).ok_or(Damage::Foreign)?;
        // The code object has 64 bits and is little endian.
        let magic = header.starts_with(b"\x7fELF\x02\x01");
        if !magic || u16_at(header, 18) != Some(MACHINE_AMDGPU) {
            return Err(Damage::Foreign);
        }
        let flags = u32_at(header, 48).ok_or(Damage::Foreign)?;
        let headers_at = u64_at(header, 32).ok_or(Damage::Foreign)?;
        let count = usize::from(u16_at(header, 56).ok_or(Damage::Foreign)?);
        let headers = part(bytes, headers_at, (count * PROGRAM_HEADER) as u64).ok_or(Damage::Outside)?;
        let headers = || headers.chunks_exact(PROGRAM_HEADER);
        let of_kind = |kind| headers().find(move |header| u32_at(header, 0) == Some(kind));
        let first = of_kind(LOAD).and_then(|header| u64_at(header, 16)).ok_or(Damage::Outside)?;
        let dynamic = of_kind(DYNAMIC).ok_or(Damage::NoSymbols)?;
        let (at, size) = u64_at(dynamic, 16).zip(u64_at(dynamic, 40)).ok_or(Damage::Outside)?;
        let dynamic = at.checked_sub(first).and_then(|at| part(bytes, at, size)).ok_or(Damage::Outside)?;
        let (symbols, strings) = tables(bytes, first, dynamic)?;
        Ok(Self { first, flags, symbols, strings })
    }

    /// The symbols in `bytes`, whose layout this is.
    #[must_use]
    pub fn image<'a>(&self, bytes: &'a [u8]) -> Option<Image<'a>> {
        let symbols = bytes.get(self.symbols.clone())?;
        Some(Image { first: self.first, symbols, strings: bytes.get(self.strings.clone())? })
    }
}

impl<'a> Image<'a> {
    /// Finds the kernel at this offset from the image's first byte, by looking at every symbol.
    #[must_use]
    pub fn find(&self, offset: u64) -> Option<Symbol<'a>> {
        let address = self.first.checked_add(offset)?;
        self.candidates().filter(|&(at, _)| at == address).find_map(|(_, number)| self.kernel(number))
    }

    /// Every symbol that may be a kernel, for [`Image::find_in`].
    #[must_use]
    pub fn index(&self) -> Index {
        let mut index: Index = self
            .candidates()
            .filter_map(|(address, number)| Some((address.checked_sub(self.first)?, number)))
            .collect();
        index.sort_unstable();
        index
    }

    /// Finds a kernel as [`Image::find`] does, with the index of this image.
    #[must_use]
    pub fn find_in(&self, index: &Index, offset: u64) -> Option<Symbol<'a>> {
        let from = index.partition_point(|&(at, _)| at < offset);
        index[from..].iter().take_while(|&&(at, _)| at == offset).find_map(|&(_, number)| self.kernel(number))
    }

    /// Defined symbols of the two types, by address and number. Does not read their names.
    fn candidates(&self) -> impl Iterator<Item = (u64, u32)> + 'a {
        self.symbols.chunks_exact(SYMBOL).zip(0..).filter_map(|(symbol, number)| {
            let defined = u16_at(symbol, 6)? != 0;
            (defined && matches!(symbol[4] & 15, OBJECT | KERNEL_V2)).then_some((u64_at(symbol, 8)?, number))
        })
    }

    fn kernel(&self, number: u32) -> Option<Symbol<'a>> {
        let symbol = self.symbols.get(number as usize * SYMBOL..)?;
        let name = self.strings.get(u32_at(symbol, 0)? as usize..)?;
        let name = &name[..name.iter().position(|&byte| byte == 0)?];
        match symbol.get(4)? & 15 {
            KERNEL_V2 => Some(Symbol { name, form: Form::KernelCode }),
            _ => name.strip_suffix(b".kd").map(|name| Symbol { name, form: Form::Descriptor }),
        }
    }
}

/// Ranges of the symbols and their strings, which the dynamic section points to.
fn tables(bytes: &[u8], first: u64, dynamic: &[u8]) -> Result<(Range<usize>, Range<usize>), Damage> {
    let entry = |tag: u64| {
        let entries = dynamic.chunks_exact(16).map(|entry| (u64_at(entry, 0), u64_at(entry, 8)));
        entries.take_while(|&(tag, _)| tag != Some(0)).find(|&(found, _)| found == Some(tag))?.1
    };
    let offset = |address: u64| address.checked_sub(first).ok_or(Damage::Outside);
    let (Some(symbols), Some(strings), Some(size)) = (entry(6), entry(5), entry(10)) else {
        return Err(Damage::NoSymbols);
    };
    // Only hash tables have the number of symbols.
    let count = match (entry(4), entry(0x6fff_fef5)) {
        (Some(hash), _) => offset(hash).ok().and_then(|at| u32_at(part(bytes, at, 8)?, 4)),
        (None, Some(hash)) => offset(hash).ok().and_then(|at| gnu_hash_count(bytes, at)),
        (None, None) => return Err(Damage::NoSymbols),
    };
    let size_of_symbols = u64::from(count.ok_or(Damage::Outside)?) * SYMBOL as u64;
    let inside = |at, size| range(bytes, at, size).ok_or(Damage::Outside);
    Ok((inside(offset(symbols)?, size_of_symbols)?, inside(offset(strings)?, size)?))
}

/// Computes the number of symbols from a GNU hash table: one more than the end of the chain that begins last.
fn gnu_hash_count(bytes: &[u8], at: u64) -> Option<u32> {
    let header = part(bytes, at, 16)?;
    let (buckets, least, words) = (u32_at(header, 0)?, u32_at(header, 4)?, u32_at(header, 8)?);
    let buckets_at = at.checked_add(16)?.checked_add(u64::from(words) * 8)?;
    let size = u64::from(buckets) * 4;
    let heads = part(bytes, buckets_at, size)?.chunks_exact(4).filter_map(|head| u32_at(head, 0));
    let Some(last) = heads.max().filter(|&last| last >= least) else { return Some(least) };
    let chain = buckets_at.checked_add(size)?.checked_add(u64::from(last - least) * 4)?;
    let rest = bytes.get(usize::try_from(chain).ok()?..)?;
    let length = rest.chunks_exact(4).position(|link| link[0] & 1 == 1)?;
    last.checked_add(u32::try_from(length).ok()?)?.checked_add(1)
}

fn range(bytes: &[u8], at: u64, size: u64) -> Option<Range<usize>> {
    let end = usize::try_from(at.checked_add(size)?).ok().filter(|&end| end <= bytes.len())?;
    Some(usize::try_from(at).ok()?..end)
}

fn part(bytes: &[u8], at: u64, size: u64) -> Option<&[u8]> {
    bytes.get(range(bytes, at, size)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use support::code_object::{Kernel, Symbols, Target, code_object, loaded, many};

    use super::*;

    fn memory(kernels: &[Kernel], symbols: Symbols) -> Vec<u8> {
        loaded(&code_object(Target::named("gfx90a").unwrap(), kernels, symbols))
    }

    fn image(memory: &[u8]) -> Image<'_> {
        Layout::read(memory).unwrap().image(memory).unwrap()
    }

    /// Offset and name of every kernel, checked in both ways of finding it.
    fn kernels(memory: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let image = image(memory);
        let index = image.index();
        let found = index.iter().map(|&(offset, _)| {
            assert_eq!(image.find(offset), image.find_in(&index, offset));
            (offset, image.find(offset).unwrap().name.to_vec())
        });
        found.collect()
    }

    fn names(memory: &[u8]) -> Vec<Vec<u8>> {
        kernels(memory).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn every_kernel_is_found_at_its_descriptor_whatever_hash_table_there_is() {
        let written = many(300);
        for symbols in [Symbols::Both, Symbols::GnuHash] {
            let memory = memory(&written, symbols);
            let found = kernels(&memory);
            assert!(found.iter().map(|(_, name)| name).eq(written.iter().map(|kernel| &kernel.name)));
            assert_eq!(found[1].0, found[0].0 + 64, "descriptors of 64 bytes, one after the other");
            let image = image(&memory);
            assert_eq!(Layout::read(&memory).unwrap().flags & 0xff, 0x3f, "gfx90a");
            assert_eq!(image.find(found[7].0).unwrap().form, Form::Descriptor);
            assert_eq!(image.find(found[7].0 + 1), None, "the middle of a kernel is no kernel");
        }
    }

    #[test]
    fn names_are_whatever_bytes_there_are() {
        let written: [&[u8]; 4] = [b"", b"a.kd", "ein Kern".as_bytes(), b"\xff\xfe\x01"];
        let kernels: Vec<Kernel> = written.iter().map(|&name| Kernel::named(name)).collect();
        assert_eq!(names(&memory(&kernels, Symbols::Both)), written);
    }

    #[test]
    fn a_code_object_without_kernels_has_none() {
        assert!(names(&memory(&[], Symbols::Both)).is_empty());
        assert!(names(&memory(&[], Symbols::GnuHash)).is_empty());
    }

    #[test]
    fn symbols_that_were_not_loaded_are_said_to_be_missing() {
        let memory = memory(&many(3), Symbols::SectionOnly);
        assert_eq!(Layout::read(&memory).unwrap_err(), Damage::NoSymbols);
    }

    #[test]
    fn the_symbol_of_an_old_kernel_is_its_name() {
        let mut memory = memory(&[Kernel::named("old")], Symbols::Both);
        let symbols = Layout::read(&memory).unwrap().symbols.start;
        // This is the type of symbol 1, which is `old` without `.kd`.
        memory[symbols + SYMBOL + 4] = 0x10 | KERNEL_V2;
        let image = image(&memory);
        let code = u64_at(image.symbols, SYMBOL + 8).unwrap();
        assert_eq!(image.find(code), Some(Symbol { name: b"old", form: Form::KernelCode }));
    }

    #[test]
    fn what_is_no_code_object_is_refused() {
        for bytes in [&b""[..], b"\x7fELF", &[0; 4096], b"\x7fELF\x01\x01"] {
            assert_eq!(Layout::read(bytes).unwrap_err(), Damage::Foreign);
        }
        let mut memory = memory(&many(1), Symbols::Both);
        memory[18] = 62;
        assert_eq!(Layout::read(&memory).unwrap_err(), Damage::Foreign, "x86-64");
    }

    fn survives(memory: &[u8]) {
        let Ok(layout) = Layout::read(memory) else { return };
        // With a layout of other bytes any result is right that is no panic.
        let _ = layout.image(&memory[..memory.len() / 2]).map(|image| image.index());
        let image = layout.image(memory).unwrap();
        let index = image.index();
        for &(offset, _) in &index {
            assert_eq!(image.find(offset), image.find_in(&index, offset));
        }
        let _ = (image.find(0), image.find(u64::MAX));
    }

    proptest! {
        #[test]
        fn a_damaged_image_gives_symbols_or_an_error(
            gnu in any::<bool>(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            length in any::<prop::sample::Index>(),
        ) {
            let symbols = if gnu { Symbols::GnuHash } else { Symbols::Both };
            let mut memory = memory(&many(2), symbols);
            // Headers, hash table and dynamic section are a small part of the image, so they are damaged more often.
            let dynamic = memory.len() - 96..memory.len();
            let spots: Vec<usize> = (0..64 + 5 * 56).chain(dynamic).collect();
            for (at, (place, byte)) in damage.into_iter().enumerate() {
                let place = if at % 2 == 0 { spots[place.index(spots.len())] } else { place.index(memory.len()) };
                memory[place] = byte;
            }
            survives(&memory);
            let length = length.index(memory.len());
            survives(&memory[..length]);
        }

        #[test]
        fn words_of_any_size_in_headers_give_symbols_or_an_error(
            gnu in any::<bool>(),
            words in prop::collection::vec((0_usize..70, prop_oneof![any::<u64>(), 0_u64..9000, Just(u64::MAX)]), 1..4),
        ) {
            let symbols = if gnu { Symbols::GnuHash } else { Symbols::Both };
            let mut memory = memory(&many(2), symbols);
            let length = memory.len();
            for (place, value) in words {
                let place = if place < 50 { 24 + place * 8 } else { length - 96 + (place - 50) % 12 * 8 };
                memory[place..place + 8].copy_from_slice(&value.to_le_bytes());
            }
            survives(&memory);
        }
    }
}

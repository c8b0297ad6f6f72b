//! Code objects without a compiler: ELF images that the real loader of ROCr takes, with any number of kernels of
//! any name. On a simulated GPU nothing runs their instructions; each kernel is one `s_endpgm`.
//!
//! Shaped as lld shapes them: one segment of headers, note, `.dynsym`, `.hash`, `.dynstr` and the descriptors, one
//! of code, one of `.dynamic`, each on a page of its own, then `.symtab`. The format is that of the user guide of
//! LLVM's AMDGPU back end, "Code Object V4".

mod metadata;

/// A processor. The low bits of the ELF header's flags name it, the others say "any XNACK, any ECC".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The value of `-mcpu`.
    pub name: &'static str,
    pub flags: u32,
}

/// Processors that the simulator can be.
pub const TARGETS: [Target; 4] = [
    Target { name: "gfx90a", flags: 0x53f },
    Target { name: "gfx942", flags: 0x54c },
    Target { name: "gfx950", flags: 0x54f },
    Target { name: "gfx1100", flags: 0x041 },
];

impl Target {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }
}

/// A kernel: its symbol without `.kd`, and what its descriptor says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The name as a compiler mangles it.
    pub name: Vec<u8>,
    /// Static LDS of a work-group, bytes.
    pub lds: u32,
    /// Scratch of a work-item, bytes.
    pub scratch: u32,
    /// Size of the arguments, bytes.
    pub kernarg: u32,
    /// COMPUTE_PGM_RSRC1: register counts in its low ten bits.
    pub rsrc1: u32,
    /// COMPUTE_PGM_RSRC3: the offset of the accumulation registers on gfx90a and later.
    pub rsrc3: u32,
    /// KERNEL_CODE_PROPERTIES of the descriptor.
    pub properties: u16,
}

impl Kernel {
    /// A kernel that needs nothing.
    pub fn named(name: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// The symbol tables of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// `.symtab` and, in the loaded part, `.dynsym` with `.hash`: what compilers make.
    Both,
    /// `.gnu.hash` in the place of `.hash`, as newer linkers do.
    GnuHash,
    /// `.symtab` alone: enough for ROCr's loader, but nothing of it is loaded.
    SectionOnly,
}

const PAGE: u64 = 0x1000;
const DESCRIPTOR: u64 = 64;
const S_ENDPGM: u32 = 0xbf81_0000;

/// `count` kernels with long distinct names of the kind that template libraries have.
#[must_use]
pub fn many(count: usize) -> Vec<Kernel> {
    (0..count)
        .map(|at| Kernel {
            kernarg: 64,
            lds: (at as u32 % 8) * 1024,
            rsrc1: 0x87,
            ..Kernel::named(format!("_ZN9workloads10elementwiseILi{at}EfNS_7functor3addIfEEEEvPT0_PKS4_S7_i"))
        })
        .collect()
}

#[must_use]
pub fn code_object(target: Target, kernels: &[Kernel], symbols: Symbols) -> Vec<u8> {
    let mut strings = vec![0];
    let mut names = Vec::with_capacity(kernels.len());
    for kernel in kernels {
        let code = strings.len() as u32;
        strings.extend_from_slice(&kernel.name);
        strings.push(0);
        let descriptor = strings.len() as u32;
        strings.extend_from_slice(&kernel.name);
        strings.extend_from_slice(b".kd\0");
        names.push((code, descriptor));
    }
    let dynamic_symbols = if symbols == Symbols::SectionOnly { 0 } else { 1 + 2 * kernels.len() as u64 };
    let (hash_kind, hash) = hash_table(symbols, dynamic_symbols as u32);
    let rodata_section = if dynamic_symbols > 0 { 5 } else { 2 };
    let note = metadata::note(target, kernels);

    let mut at = 64 + 5 * 56;
    let mut place = |size: u64, align: u64| {
        let start = at_multiple(at, align);
        at = start + size;
        start
    };
    let note_at = place(note.len() as u64, 4);
    let dynsym_at = place(24 * dynamic_symbols, 8);
    let hash_at = place(4 * hash.len() as u64, 8);
    let dynstr_at = place(if dynamic_symbols == 0 { 0 } else { strings.len() as u64 }, 1);
    let rodata_at = place(DESCRIPTOR * kernels.len() as u64, DESCRIPTOR);
    let read_only_end = place(0, 1);
    let text_at = place(4, PAGE);
    let dynamic_at = place(6 * 16, PAGE);
    let loaded_end = place(0, 1);
    // As lld does, a segment is a page further in memory than in the file for each one before it.
    let (text, dynamic) = (text_at + PAGE, dynamic_at + 2 * PAGE);

    let mut image = Image::default();
    image.header(target.flags);
    image.program(1, 4, 0, 0, read_only_end, PAGE);
    image.program(1, 5, text_at, text, 4, PAGE);
    image.program(1, 6, dynamic_at, dynamic, loaded_end - dynamic_at, PAGE);
    image.program(2, 6, dynamic_at, dynamic, loaded_end - dynamic_at, 8);
    image.program(4, 4, note_at, note_at, note.len() as u64, 4);
    image.pad_to(note_at);
    image.bytes.extend_from_slice(&note);
    image.pad_to(dynsym_at);
    if dynamic_symbols > 0 {
        image.symbols(&names, rodata_section, text, rodata_at);
        image.pad_to(hash_at);
        image.u32s(&hash);
        image.pad_to(dynstr_at);
        image.bytes.extend_from_slice(&strings);
    }
    image.pad_to(rodata_at);
    for (number, kernel) in kernels.iter().enumerate() {
        image.descriptor(kernel, text - (rodata_at + DESCRIPTOR * number as u64));
    }
    image.pad_to(text_at);
    image.u32s(&[S_ENDPGM]);
    image.pad_to(dynamic_at);
    if dynamic_symbols > 0 {
        for (tag, value) in
            [(6, dynsym_at), (11, 24), (5, dynstr_at), (10, strings.len() as u64), (hash_kind.0, hash_at)]
        {
            image.u64s(&[tag, value]);
        }
    }
    image.pad_to(loaded_end);

    let symtab_at = image.pad_to(at_multiple(loaded_end, 8));
    image.symbols(&names, rodata_section, text, rodata_at);
    let strtab_at = image.bytes.len() as u64;
    image.bytes.extend_from_slice(&strings);
    let string_bytes = strings.len() as u64;
    let mut sections = Sections::default();
    sections.add(b".note", 7, 2, note_at, note_at, note.len() as u64, [0, 0]);
    if dynamic_symbols > 0 {
        sections.add(b".dynsym", 11, 2, dynsym_at, dynsym_at, 24 * dynamic_symbols, [4, 1]);
        sections.add(b".hash", hash_kind.1, 2, hash_at, hash_at, 4 * hash.len() as u64, [2, 0]);
        sections.add(b".dynstr", 3, 2, dynstr_at, dynstr_at, string_bytes, [0, 0]);
    }
    sections.add(b".rodata", 1, 2, rodata_at, rodata_at, DESCRIPTOR * kernels.len() as u64, [0, 0]);
    sections.add(b".text", 1, 6, text_at, text, 4, [0, 0]);
    sections.add(
        b".dynamic",
        6,
        3,
        dynamic_at,
        dynamic,
        loaded_end - dynamic_at,
        [if dynamic_symbols > 0 { 4 } else { 0 }, 0],
    );
    let strtab = sections.next() + 1;
    sections.add(b".symtab", 2, 0, symtab_at, 0, 24 * (1 + 2 * names.len() as u64), [strtab, 1]);
    sections.add(b".strtab", 3, 0, strtab_at, 0, string_bytes, [0, 0]);
    sections.finish(image)
}

/// The tag and the section type of a hash table, and its words: enough to count the symbols by, not to find them.
fn hash_table(symbols: Symbols, count: u32) -> ((u64, u32), Vec<u32>) {
    let links = count.saturating_sub(1) as usize;
    match symbols {
        Symbols::SectionOnly => ((0, 0), Vec::new()),
        // One bucket, as many links as symbols.
        Symbols::Both => ((4, 5), [&[1, count, 0][..], &vec![0; count as usize]].concat()),
        // One bucket and one word of Bloom filter; the chain of symbol 1 ends with the last symbol.
        Symbols::GnuHash => {
            let mut chain = vec![0; links];
            chain.last_mut().into_iter().for_each(|last| *last = 1);
            ((0x6fff_fef5, 0x6fff_fff6), [&[1, 1, 1, 0, 0, 0, u32::from(links > 0)][..], &chain].concat())
        }
    }
}

/// The image as a loader lays it out in memory: its segments at their addresses, from the first one on.
#[must_use]
pub fn loaded(image: &[u8]) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| image[at + byte])) as usize;
    let count = usize::from(image[56]);
    let mut memory = Vec::new();
    for header in (0..count).map(|number| 64 + 56 * number).filter(|&header| image[header] == 1) {
        let (offset, address, size) = (word(header + 8), word(header + 16), word(header + 32));
        memory.resize(memory.len().max(address + size), 0);
        memory[address..address + size].copy_from_slice(&image[offset..offset + size]);
    }
    memory
}

fn at_multiple(at: u64, align: u64) -> u64 {
    at.div_ceil(align) * align
}

/// The image so far, little endian.
#[derive(Default)]
struct Image {
    bytes: Vec<u8>,
}

impl Image {
    fn u16s(&mut self, values: &[u16]) {
        values.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    fn u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    fn u64s(&mut self, values: &[u64]) {
        values.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    fn pad_to(&mut self, at: u64) -> u64 {
        self.bytes.resize(at as usize, 0);
        at
    }

    /// Shared object for the AMD GPU, HSA's ABI, code object version 4.
    fn header(&mut self, flags: u32) {
        self.bytes.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, 2, 0, 0, 0, 0, 0, 0, 0]);
        self.u16s(&[3, 224]);
        self.u32s(&[1]);
        // Entry, program headers, section headers (known at the end).
        self.u64s(&[0, 64, 0]);
        self.u32s(&[flags]);
        self.u16s(&[64, 56, 5, 64, 0, 0]);
    }

    fn program(&mut self, kind: u32, flags: u32, offset: u64, address: u64, size: u64, align: u64) {
        self.u32s(&[kind, flags]);
        self.u64s(&[offset, address, address, size, size, align]);
    }

    fn symbol(&mut self, name: u32, info: u8, section: u16, value: u64, size: u64) {
        self.u32s(&[name]);
        // Protected, as compilers make kernels.
        self.bytes.extend_from_slice(&[info, if info == 0 { 0 } else { 3 }]);
        self.u16s(&[section]);
        self.u64s(&[value, size]);
    }

    /// The code and the descriptor of each kernel, both global.
    fn symbols(&mut self, names: &[(u32, u32)], rodata_section: u16, text: u64, rodata: u64) {
        self.symbol(0, 0, 0, 0, 0);
        for (number, &(code, descriptor)) in names.iter().enumerate() {
            self.symbol(code, 0x12, rodata_section + 1, text, 4);
            self.symbol(descriptor, 0x11, rodata_section, rodata + DESCRIPTOR * number as u64, DESCRIPTOR);
        }
    }

    fn descriptor(&mut self, kernel: &Kernel, entry: u64) {
        self.u32s(&[kernel.lds, kernel.scratch, kernel.kernarg, 0]);
        self.u64s(&[entry]);
        self.bytes.extend_from_slice(&[0; 20]);
        self.u32s(&[kernel.rsrc3, kernel.rsrc1, 0]);
        self.u16s(&[kernel.properties]);
        self.bytes.extend_from_slice(&[0; 6]);
    }
}

/// The section headers and their names.
struct Sections {
    names: Vec<u8>,
    headers: Image,
}

impl Default for Sections {
    fn default() -> Self {
        Self { names: vec![0], headers: Image { bytes: vec![0; 64] } }
    }
}

impl Sections {
    /// The index of the section that is added next.
    fn next(&self) -> u32 {
        (self.headers.bytes.len() / 64) as u32
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a section header")]
    fn add(&mut self, name: &[u8], kind: u32, flags: u64, at: u64, address: u64, size: u64, links: [u32; 2]) {
        let headers = &mut self.headers;
        headers.u32s(&[self.names.len() as u32, kind]);
        headers.u64s(&[flags, address, at, size]);
        headers.u32s(&links);
        let align = match kind {
            1 => 64,
            7 => 4,
            _ => 8,
        };
        headers.u64s(&[align, if matches!(kind, 2 | 11) { 24 } else { 0 }]);
        self.names.extend_from_slice(name);
        self.names.push(0);
    }

    fn finish(mut self, mut image: Image) -> Vec<u8> {
        let size = self.names.len() as u64 + b".shstrtab\0".len() as u64;
        self.add(b".shstrtab", 3, 0, image.bytes.len() as u64, 0, size, [0, 0]);
        image.bytes.extend_from_slice(&self.names);
        let headers_at = image.pad_to(at_multiple(image.bytes.len() as u64, 8));
        image.bytes.extend_from_slice(&self.headers.bytes);
        let count = (self.headers.bytes.len() / 64) as u16;
        image.bytes[40..48].copy_from_slice(&headers_at.to_le_bytes());
        image.bytes[60..62].copy_from_slice(&count.to_le_bytes());
        image.bytes[62..64].copy_from_slice(&(count - 1).to_le_bytes());
        image.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_kernels_as_asked_have_distinct_names() {
        let kernels = many(1000);
        let distinct: std::collections::HashSet<_> = kernels.iter().map(|kernel| &kernel.name).collect();
        assert_eq!(distinct.len(), 1000);
    }

    #[test]
    fn headers_are_where_the_first_header_says() {
        let target = Target::named("gfx90a").unwrap();
        for symbols in [Symbols::Both, Symbols::GnuHash, Symbols::SectionOnly] {
            let image = code_object(target, &many(3), symbols);
            let headers = u64::from_le_bytes(image[40..48].try_into().unwrap()) as usize;
            let count = u16::from_le_bytes(image[60..62].try_into().unwrap());
            assert_eq!(headers + 64 * usize::from(count), image.len());
            assert_eq!(&image[..4], b"\x7fELF");
        }
    }
}

//! Reads the names of kernels from the memory that they were loaded to: the runtime's loader puts a whole code object there, with
//! the table of its dynamic symbols, in which a kernel object is called `NAME.kd`.

/// Reads memory of a GPU by address; `None` where there is none.
pub(crate) type Read<'a> = &'a dyn Fn(u64, usize) -> Option<Vec<u8>>;

/// Code objects begin at a page.
const PAGE: u64 = 4096;

/// Bytes of the structures of 64-bit ELF.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SYMBOL: u64 = 24;

/// Types of a program header, and of entries of the dynamic section.
const DYNAMIC: u64 = 2;
const HASH: u64 = 4;
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;

/// Larger than the number of symbols in any code object.
const MOST_SYMBOLS: u64 = 1 << 20;
const LONGEST_NAME: usize = 1 << 16;

/// The name, without `.kd`, of the kernel object at an address of an allocation that begins at `first`.
pub(crate) fn name(object: u64, first: u64, read: Read<'_>) -> Option<String> {
    let mut page = object & !(PAGE - 1);
    while page >= first {
        if let Some(name) = name_in(object, page, read) {
            return Some(name);
        }
        page = page.checked_sub(PAGE)?;
    }
    None
}

/// The name in the code object that begins at `base`, if one does.
fn name_in(object: u64, base: u64, read: Read<'_>) -> Option<String> {
    let header = read(base, HEADER)?;
    // These are the magic number, 64 bits and little endian.
    if header.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (programs, count) = (number(&header, 32, 8)?, number(&header, 56, 2)?);
    let programs = read(base.wrapping_add(programs), count as usize * PROGRAM_HEADER)?;
    let dynamic = programs
        .chunks_exact(PROGRAM_HEADER)
        .find(|program| number(program, 0, 4) == Some(DYNAMIC))
        .and_then(|program| Some((number(program, 16, 8)?, number(program, 40, 8)?)))?;
    let dynamic = read(base.wrapping_add(dynamic.0), dynamic.1 as usize)?;
    let entry = |kind| {
        let mut entries = dynamic.chunks_exact(16);
        entries.find(|entry| number(entry, 0, 8) == Some(kind)).and_then(|entry| number(entry, 8, 8))
    };
    let (symbols, strings) = (entry(SYMBOLS)?, entry(STRINGS)?);
    // The second number of a hash table is that of all symbols.
    let count = number(&read(base.wrapping_add(entry(HASH)?), 8)?, 4, 4)?.min(MOST_SYMBOLS);
    let table = read(base.wrapping_add(symbols), (count * SYMBOL) as usize)?;
    let named = table
        .chunks_exact(SYMBOL as usize)
        .filter(|symbol| number(symbol, 8, 8) == Some(object - base))
        .filter_map(|symbol| text(base.wrapping_add(strings).wrapping_add(number(symbol, 0, 4)?), read));
    named.filter_map(|name| name.strip_suffix(".kd").map(str::to_owned)).next()
}

fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A string that ends with a zero.
fn text(at: u64, read: Read<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST_NAME {
        // Few bytes are read at a time, because the memory may end behind the name.
        let next = at.wrapping_add(bytes.len() as u64);
        let part = read(next, 16).or_else(|| read(next, 1))?;
        let end = part.iter().position(|byte| *byte == 0);
        bytes.extend_from_slice(&part[..end.unwrap_or(part.len())]);
        if end.is_some() {
            return String::from_utf8(bytes).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x10_0000;

    /// A loaded code object with two kernel objects: `add.kd` at 0x400 and `add` itself at 0x1800.
    fn memory() -> Vec<u8> {
        let mut memory = vec![0; 0x2000];
        let mut put = |at: usize, bytes: &[u8]| memory[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01");
        put(32, &64_u64.to_le_bytes());
        put(56, &1_u16.to_le_bytes());
        put(64, &2_u32.to_le_bytes());
        put(80, &0x100_u64.to_le_bytes());
        put(104, &48_u64.to_le_bytes());
        for (at, (kind, place)) in [(HASH, 0x180_u64), (STRINGS, 0x1a0), (SYMBOLS, 0x200)].iter().enumerate()
        {
            put(0x100 + at * 16, &kind.to_le_bytes());
            put(0x108 + at * 16, &place.to_le_bytes());
        }
        put(0x184, &3_u32.to_le_bytes());
        put(0x1a0, b"\0add.kd\0add\0");
        for (at, (name, value)) in [(1_u32, 0x400_u64), (8, 0x1800)].iter().enumerate() {
            put(0x218 + at * 24, &name.to_le_bytes());
            put(0x220 + at * 24, &value.to_le_bytes());
        }
        memory
    }

    fn name_at(object: u64, first: u64, memory: &[u8]) -> Option<String> {
        name(object, first, &|at, count| {
            let start = at.checked_sub(BASE)? as usize;
            memory.get(start..start + count).map(<[u8]>::to_vec)
        })
    }

    #[test]
    fn a_kernel_object_has_the_name_of_its_symbol() {
        assert_eq!(name_at(BASE + 0x400, BASE, &memory()).as_deref(), Some("add"));
    }

    #[test]
    fn a_code_object_in_the_middle_of_an_allocation_is_found() {
        assert_eq!(name_at(BASE + 0x400, BASE - 0x3000, &memory()).as_deref(), Some("add"));
    }

    #[test]
    fn what_is_no_kernel_object_has_no_name() {
        for object in [BASE + 0x1800, BASE + 0x440, BASE - 0x1000, 64] {
            assert_eq!(name_at(object, BASE.min(object), &memory()), None, "{object:#x}");
        }
    }

    #[test]
    fn a_damaged_code_object_gives_a_name_or_none_and_one_cut_off_none() {
        for at in 0..0x260 {
            let mut memory = memory();
            memory[at] ^= 0xff;
            let name = name_at(BASE + 0x400, BASE, &memory);
            assert!(name.is_none_or(|name| name.len() < memory.len()), "{at:#x}");
        }
        // The symbol ends at 0x230.
        for end in 0..0x230 {
            assert_eq!(name_at(BASE + 0x400, BASE, &memory()[..end]), None, "{end:#x}");
        }
    }
}

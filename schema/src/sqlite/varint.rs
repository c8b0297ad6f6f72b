//! Integers of variable length (file format, "B-tree Pages").

#[inline(always)]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut value = u64::from(first & 0x7f);
    for _ in 0..7 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some(value);
        }
    }
    let last = *bytes.get(*at)?;
    *at += 1;
    Some(value << 8 | u64::from(last))
}

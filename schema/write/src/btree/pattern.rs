//! Records of integers that differ from one another in a few of their columns only.
//!
//! Most rows of a recording are equal to the row before but for three numbers. Such a record is copied and
//! its numbers are put where it will lie, which costs a fifth of making it. Nothing is loaded again there: what is stored
//! in parts and loaded as a whole right after makes the processor wait.

/// The bytes that a pattern has room for: a dispatch takes 40 to 60 as a tracer records it.
pub(crate) const ROOM: usize = 64;

/// A record in which `N` integers may be replaced by others that are stored in as many bytes.
#[derive(Debug, Clone)]
pub(crate) struct Pattern<const N: usize> {
    /// The record lies at the end, so that it can be copied as a whole with room before it.
    bytes: [u8; ROOM],
    length: usize,
    holes: [Hole; N],
}

/// Where a number goes. It is written as a word that ends where the number does.
#[derive(Debug, Clone, Copy, Default)]
struct Hole {
    /// The least number that goes there, and how many more do.
    least: i64,
    more: u64,
    /// Where the word begins.
    at: usize,
    /// The bits of the number in it.
    mask: u64,
    /// The rest of it, before the number.
    before: u64,
}

impl<const N: usize> Pattern<N> {
    /// The pattern of a record that [`Record::integers`](super::Record::integers) made, in which these columns vary,
    /// given in ascending order without the id. A column that is NULL or 0 is one that only 0 goes to, and is what it is in
    /// all of its records. `None` where a number is negative, or the record is too long.
    pub(crate) fn of(record: &[u8], columns: [usize; N]) -> Option<Self> {
        const { assert!(ROOM.is_power_of_two() && ROOM <= 0x80, "places wrap, and a length has one byte") };
        let mut bytes = [0; ROOM];
        // Its length has one byte on a page.
        let start = ROOM.checked_sub(record.len()).filter(|_| record.len() < 0x80)?;
        bytes[start..].copy_from_slice(record);
        let (&header, _) = record.split_first()?;
        let serials = record.get(2..usize::from(header))?;
        let mut holes = [Hole::default(); N];
        for (hole, column) in holes.iter_mut().zip(columns) {
            // A record omits the NULL columns at the end of its row.
            let before = serials.get(..column).unwrap_or(serials);
            let serial = serials.get(column).copied().unwrap_or_default();
            let width = self::width(serial)?;
            let body = before.iter().map(|&serial| self::width(serial)).sum::<Option<usize>>()?;
            let end = start + usize::from(header) + body + width;
            let at = end.checked_sub(8)?;
            let mask = u64::MAX.checked_shr(64 - 8 * width as u32).unwrap_or(0);
            let word = u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
            let (least, most) = bounds(serial)?;
            if word & mask > most as u64 {
                return None;
            }
            *hole = Hole { least, more: most.abs_diff(least), at, mask, before: word & !mask };
        }
        Some(Self { bytes, length: record.len(), holes })
    }

    /// True if these numbers take as many bytes as those of the pattern.
    #[inline]
    pub(crate) fn fits(&self, numbers: &[i64; N]) -> bool {
        self.holes
            .iter()
            .zip(numbers)
            .all(|(hole, &number)| number.wrapping_sub(hole.least) as u64 <= hole.more)
    }

    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Writes the record of these numbers, which must fit, to the end of `place`; what comes before it there is
    /// overwritten with anything.
    #[inline]
    pub(crate) fn write(&self, numbers: &[i64; N], place: &mut [u8; ROOM]) {
        *place = self.bytes;
        // The last first: the word of a number may begin within the number before it.
        for (hole, &number) in self.holes.iter().zip(numbers).rev() {
            let word = hole.before | (number as u64 & hole.mask);
            let at = hole.at & (ROOM - 1);
            if let Some(place) = place[at..].first_chunk_mut() {
                *place = word.to_be_bytes();
            }
        }
    }
}

/// The least and the greatest of the numbers from 0 on that are stored with this serial type, or that NULL stands for; none
/// for another type than an integer's.
fn bounds(serial: u8) -> Option<(i64, i64)> {
    let greatest = |width: usize| i64::MAX >> (64 - 8 * width);
    match serial {
        0 | 8 => Some((0, 0)),
        9 => Some((1, 1)),
        1 => Some((2, greatest(1))),
        2..=6 => Some((greatest(width(serial - 1)?) + 1, greatest(width(serial)?))),
        _ => None,
    }
}

/// How many bytes a value of an integer's serial type has; none for another one's.
fn width(serial: u8) -> Option<usize> {
    Some(match serial {
        0 | 8 | 9 => 0,
        1..=4 => usize::from(serial),
        5 => 6,
        6 => 8,
        _ => return None,
    })
}

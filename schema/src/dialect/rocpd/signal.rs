use crate::table::{Shape, axes};

/// Reads rocm-trace-lite's `completionSignal`: `hwq=0x7f1200 wg=256,1,1 grid=1024,1,1`, any part of which
/// may be missing. The grid counts work-items; the result is the shape and the hardware queue.
pub(super) fn parse(text: &str) -> (Option<Shape>, Option<u64>) {
    let mut queue = None;
    let mut workgroup = None;
    let mut items = None;
    for word in text.split_ascii_whitespace() {
        match word.split_once('=') {
            Some(("hwq", value)) => {
                let digits = value.strip_prefix("0x").unwrap_or(value);
                queue = u64::from_str_radix(digits, 16).ok();
            }
            Some(("wg", value)) => workgroup = axes(value),
            Some(("grid", value)) => items = axes(value),
            _ => {}
        }
    }
    let known = workgroup.is_some() || items.is_some();
    (known.then(|| Shape::of_items(workgroup, items)), queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_counts_work_items() {
        let (shape, queue) = parse("hwq=0x7f12ab wg=256,2,1 grid=1000,4,1");
        let shape = shape.unwrap_or_default();
        assert_eq!(queue, Some(0x7f_12ab));
        assert_eq!(shape.workgroup, Some([256, 2, 1]));
        assert_eq!(shape.items, Some([1000, 4, 1]));
        assert_eq!(shape.groups, Some([4, 2, 1]));
    }

    #[test]
    fn a_part_that_is_missing_or_malformed_is_unknown() {
        assert_eq!(parse(""), (None, None));
        assert_eq!(parse("0x7f00"), (None, None));
        assert_eq!(parse("wg=1,2 grid=1,2,3,4 hwq=zz"), (None, None));
        let (shape, queue) = parse("wg=64,1,1");
        assert_eq!(shape.and_then(|shape| shape.workgroup), Some([64, 1, 1]));
        assert_eq!((shape.and_then(|shape| shape.groups), queue), (None, None));
    }
}

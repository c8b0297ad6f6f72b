//! A trace of everything that is hard to draw, from a seed.

use std::path::Path;

use rtl_write::{Call, NativeWriter, Op, OpKind, StringId};

/// Random numbers: the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as i64 % limit
    }
}

/// Names that break what is not careful.
pub(crate) fn names() -> Vec<String> {
    let long = "long ".repeat(13_108);
    let names =
        ["\"quoted\"", "back\\slash", "tab\tline\nbell\u{7}", "emoji 🚀 ключ", "</script>", "gemm", &long];
    names.map(str::to_owned).to_vec()
}

/// Kernels and copies of three GPUs that overlap in every way or take no time; calls whose ends are later than those of
/// their callers by a little, with several ops each, some of them earlier than their call; ranges that nest, ranges that do
/// not, and as many markers as all else together, many at one moment.
pub(crate) fn write(seed: u64, path: &Path) {
    let mut random = Random(seed);
    let mut writer = NativeWriter::create(path).unwrap();
    for (tag, value) in [("schema_version", "rtl-1"), ("pid", "77")] {
        writer.push_metadata(tag, value).unwrap();
    }
    let names: Vec<StringId> = names().iter().map(|name| writer.intern(name).unwrap()).collect();
    let base = 5_000_000_000_000_000;
    for number in 1..=300 {
        // The last is long: a few times are enough.
        let last = names.len() - 1;
        let name = names[if number % 100 == 0 { last } else { random.below(last as i64) as usize }];
        let start = base + random.below(3_000);
        let op = Op {
            gpu: Some([0, 5, 11][random.below(3) as usize]),
            queue: Some(random.below(2)),
            start,
            end: Some(start + random.below(4) * random.below(40)),
            description: Some(name),
            correlation: 1 + random.below(number),
            ..Op::default()
        };
        writer.push_op(&op).unwrap();
        let copy = Op {
            start: op.start + 7,
            end: op.end.map(|end| end + 7),
            description: Some(StringId::EMPTY),
            kind: OpKind::CopyHostToDevice,
            bytes: Some(4_096),
            ..op
        };
        if random.below(4) == 0 {
            writer.push_op(&copy).unwrap();
        }
        let called = base + random.below(3_000);
        let duration = random.below(4) * random.below(100);
        let tid = Some(77 + random.below(2));
        let call = Call {
            tid,
            start: called,
            duration: Some(duration),
            name: Some(name),
            correlation: number,
            ..Call::default()
        };
        writer.push_call(&call).unwrap();
        // It ends with the outer one, or after it.
        let duration = Some(duration - 1 + random.below(3));
        let inner = Call { start: called + 1, duration, correlation: 0, ..call };
        writer.push_call(&inner).unwrap();
        let (kind, number) = (OpKind::UserMarker, 1_000 + number);
        let range = Op { gpu: Some(-1), queue: Some(0), kind, range: number, tid, correlation: 0, ..op };
        writer.push_op(&Op { sequence: Some(random.below(2)), ..range }).unwrap();
        for _ in 0..4 {
            let at = base + random.below(20) * 150;
            writer.push_op(&Op { start: at, end: Some(at), sequence: None, ..range }).unwrap();
        }
    }
    writer.finish().unwrap();
}

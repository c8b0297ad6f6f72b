//! Messages `XSpace`, as the profiler of XLA writes them, or nearly.

use super::Choices;

const PLANES: [&str; 8] = [
    "/device:GPU:0",
    "/device:GPU:1",
    "/device:TPU:0",
    "/device:GPU:99999999999999999999",
    "/host:CPU",
    "/host:metadata",
    "Task Environment",
    "/host:CUPTI",
];

const LINES: [&str; 6] = ["Stream #24(Compute)", "Stream #x", "XLA Ops", "python", "", "XLA Modules"];

const NAMES: [&str; 9] = [
    "gemm_fusion",
    "MemcpyH2D",
    "Memset",
    "MemcpyP2P",
    "$threading.py:1 run",
    "ThunkExecutor::Execute",
    "train",
    "",
    "\u{202e}\0<b>",
];

const STATISTICS: [&str; 9] = [
    "correlation_id",
    "step_num",
    "kernel_details",
    "memcpy_details",
    "memset_details",
    "Memset_details",
    "process_id",
    "gpu_device_name",
    "other",
];

const DETAILS: [&str; 9] = [
    "regs:168 static_shared:0 dynamic_shared:213188 grid:2,66,1 block:384,1,1 occ_pct:18.75",
    "regs:-1 static_shared:4294967295 dynamic_shared:1 grid:4294967295,4294967295,4294967295 block:4294967295,2,2",
    "grid:1,1 block:",
    "kind_src:pinned kind_dst:device size:4 dest:0 async:1",
    "kind:device num_bytes:18446744073709551616 async:1",
    "size:-1 num_bytes:4",
    "9223372036854775807",
    "-",
    "",
];

/// Writes messages of planes.
struct Planes<'a>(Choices<'a>);

impl Planes<'_> {
    fn whole(&mut self) -> u64 {
        match self.0.below(16) {
            0 => u64::MAX,
            1 => i64::MAX.cast_unsigned(),
            2 => i64::MIN.cast_unsigned(),
            3 => 1 << 40,
            4 => 1_700_000_000_000_000_000 + u64::from(self.0.byte()),
            _ => u64::from(self.0.below(8)),
        }
    }

    /// The field of a message, which seldom is of another type than it should be.
    fn field(&mut self, to: &mut Vec<u8>, number: u64, value: Field<'_>) {
        let kind = match self.0.below(64) {
            0 => self.0.below(8),
            _ => u8::from(matches!(value, Field::Bytes(_))) * 2,
        };
        varint(to, number << 3 | u64::from(kind));
        match value {
            Field::Whole(value) => varint(to, value),
            Field::Bytes(bytes) => {
                varint(to, bytes.len() as u64);
                to.extend(bytes);
            }
        }
    }

    fn message(&mut self, of: impl FnOnce(&mut Self, &mut Vec<u8>)) -> Vec<u8> {
        let mut message = Vec::new();
        of(self, &mut message);
        if self.0.below(64) == 0 {
            let end = usize::from(self.0.byte()) * message.len() / 256;
            message.truncate(end);
        }
        message
    }

    /// A statistic with its value.
    fn statistic(&mut self) -> Vec<u8> {
        self.message(|planes, to| {
            let number = u64::from(planes.0.below(10));
            planes.field(to, 1, Field::Whole(number));
            match planes.0.below(4) {
                0 => {
                    let value = planes.whole();
                    let number = planes.0.of(&[3, 4]);
                    planes.field(to, number, Field::Whole(value));
                }
                1 => {
                    let value = u64::from(planes.0.below(16));
                    planes.field(to, 7, Field::Whole(value));
                }
                _ => {
                    let text = planes.0.of(&DETAILS);
                    planes.field(to, 5, Field::Bytes(text.as_bytes()));
                }
            }
        })
    }

    fn event(&mut self) -> Vec<u8> {
        self.message(|planes, to| {
            for number in [1, 2, 3] {
                if planes.0.below(8) > 0 {
                    let value = if number == 1 { u64::from(planes.0.below(10)) } else { planes.whole() };
                    planes.field(to, number, Field::Whole(value));
                }
            }
            for _ in 0..planes.0.below(4) {
                let statistic = planes.statistic();
                planes.field(to, 4, Field::Bytes(&statistic));
            }
            if planes.0.below(16) == 0 {
                planes.field(to, 5, Field::Whole(1));
            }
        })
    }

    fn line(&mut self) -> Vec<u8> {
        self.message(|planes, to| {
            let (number, name, base) = (planes.whole(), planes.0.of(&LINES), planes.whole());
            planes.field(to, 1, Field::Whole(number));
            planes.field(to, 2, Field::Bytes(name.as_bytes()));
            planes.field(to, 3, Field::Whole(base));
            for _ in 0..planes.0.below(5) {
                let event = planes.event();
                planes.field(to, 4, Field::Bytes(&event));
            }
        })
    }

    /// A table of names by number; some of them repeat or are missing.
    fn names(&mut self, to: &mut Vec<u8>, number: u64, names: &[&str]) {
        for (key, name) in (0..).zip(names) {
            if self.0.below(8) == 0 {
                continue;
            }
            let entry = self.message(|planes, to| {
                let named = planes.message(|planes, to| planes.field(to, 2, Field::Bytes(name.as_bytes())));
                planes.field(to, 1, Field::Whole(key));
                planes.field(to, 2, Field::Bytes(&named));
            });
            self.field(to, number, Field::Bytes(&entry));
        }
    }

    fn plane(&mut self) -> Vec<u8> {
        self.message(|planes, to| {
            let name = planes.0.of(&PLANES);
            planes.field(to, 2, Field::Bytes(name.as_bytes()));
            let lines: Vec<_> = (0..planes.0.below(4)).map(|_| planes.line()).collect();
            // Names may come before the lines or behind them.
            let is_late = planes.0.below(2) == 0;
            if !is_late {
                planes.names(to, 4, &NAMES);
            }
            for line in &lines {
                planes.field(to, 3, Field::Bytes(line));
            }
            if is_late {
                planes.names(to, 4, &NAMES);
            }
            planes.names(to, 5, &STATISTICS);
            for _ in 0..planes.0.below(3) {
                let statistic = planes.statistic();
                planes.field(to, 6, Field::Bytes(&statistic));
            }
        })
    }
}

#[derive(Clone, Copy)]
enum Field<'a> {
    Whole(u64),
    Bytes(&'a [u8]),
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// The message that the bytes choose.
pub fn xplane(bytes: &[u8]) -> Vec<u8> {
    let mut planes = Planes(Choices(bytes));
    planes.message(|planes, to| {
        for _ in 0..=planes.0.below(3) {
            let plane = planes.plane();
            planes.field(to, 1, Field::Bytes(&plane));
        }
        if planes.0.below(4) == 0 {
            planes.field(to, 4, Field::Bytes(b"host"));
        }
    })
}

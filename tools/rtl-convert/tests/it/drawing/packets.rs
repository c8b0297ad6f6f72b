//! A reader of Perfetto's packets as their description says they are to be read: slower and less forgiving than Perfetto.

use std::collections::HashMap;

use super::Slice;

/// The fields of a message: numbers, or the bytes of everything else.
#[derive(Debug, Default)]
struct Fields(Vec<(u64, Field)>);

#[derive(Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Fields {
    fn read(mut bytes: &[u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let field = match tag & 7 {
                0 => Field::Number(varint(&mut bytes)),
                1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    Field::Bytes(take(&mut bytes, length).to_vec())
                }
                wire => panic!("wire type {wire}"),
            };
            fields.push((tag >> 3, field));
        }
        Self(fields)
    }

    fn number(&self, wanted: u64) -> Option<u64> {
        self.0.iter().find_map(|(field, content)| match content {
            Field::Number(number) if *field == wanted => Some(*number),
            _ => None,
        })
    }

    fn messages(&self, wanted: u64) -> impl Iterator<Item = Self> + '_ {
        self.0.iter().filter_map(move |(field, content)| match content {
            Field::Bytes(bytes) if *field == wanted => Some(Self::read(bytes)),
            _ => None,
        })
    }

    fn text(&self, wanted: u64) -> Option<String> {
        self.0.iter().find_map(|(field, content)| match content {
            Field::Bytes(bytes) if *field == wanted => Some(String::from_utf8(bytes.clone()).unwrap()),
            _ => None,
        })
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

/// The slices of a file, in order, with their absolute starts, and the number of counter samples.
pub(crate) fn slices(file: &[u8]) -> (Vec<Slice>, usize) {
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut tracks: HashMap<u64, String> = HashMap::new();
    let mut pids: HashMap<u64, String> = HashMap::new();
    let mut open: HashMap<u64, Vec<(String, u64)>> = HashMap::new();
    let (mut slices, mut samples, mut now) = (Vec::new(), 0, 0);
    for packet in Fields::read(file).messages(1) {
        assert_eq!(packet.number(10), Some(1), "every packet belongs to the sequence");
        for clock in packet.messages(6).flat_map(|snapshot| snapshot.messages(1).collect::<Vec<_>>()) {
            now = clock.number(2).unwrap();
        }
        for entry in packet.messages(12).flat_map(|interned| interned.messages(2).collect::<Vec<_>>()) {
            let known = names.insert(entry.number(1).unwrap(), entry.text(2).unwrap());
            assert_eq!(known, None, "a name is interned once");
        }
        for track in packet.messages(60) {
            let name = describe(&track, &tracks, &mut pids);
            assert_eq!(tracks.insert(track.number(1).unwrap(), name), None, "a track is described once");
        }
        let Some(event) = packet.messages(11).next() else { continue };
        let (track, kind) = (event.number(11).unwrap(), event.number(9).unwrap());
        if kind == 4 {
            assert_eq!(packet.number(58), Some(6), "samples have times of their own");
            samples += 1;
            continue;
        }
        now += packet.number(8).unwrap();
        let stack = open.entry(track).or_default();
        if kind == 2 {
            let (name, start) = stack.pop().expect("what ends has begun");
            slices.push((tracks[&track].clone(), name, start, now - start));
            continue;
        }
        let name = names[&event.number(10).unwrap()].clone();
        match kind {
            1 => stack.push((name, now)),
            _ => slices.push((tracks[&track].clone(), name, now, 0)),
        }
        assert!(stack.len() < 2 || !tracks[&track].contains("Queue"), "ops are not nested");
    }
    assert!(open.values().all(Vec::is_empty), "what began has ended");
    slices.sort();
    (slices, samples)
}

/// The path of a track: its group and its name.
fn describe(track: &Fields, tracks: &HashMap<u64, String>, pids: &mut HashMap<u64, String>) -> String {
    if let Some(process) = track.messages(3).next() {
        let name = process.text(6).unwrap();
        pids.insert(process.number(1).unwrap(), name.clone());
        return name;
    }
    if let Some(thread) = track.messages(4).next() {
        let tid = thread.number(2).unwrap();
        let name = thread.text(5).map_or(String::new(), |name| format!(" ({name})"));
        return format!("{} / Thread {tid}{name}", pids[&thread.number(1).unwrap()]);
    }
    let name = track.text(2).unwrap();
    match track.number(5).map(|parent| tracks[&parent].as_str()) {
        None | Some("GPUs") => name,
        // A lane of a thread is a child of the thread, and called as it is.
        Some(parent) if parent.ends_with(&format!(" / {name}")) => parent.to_owned(),
        Some(parent) => format!("{parent} / {name}"),
    }
}

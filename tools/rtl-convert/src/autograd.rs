//! Arrows from operators to their backward operators, as Kineto draws them: from the innermost operator that made a node of
//! the autograd graph to the innermost one that executes it.

use std::collections::VecDeque;

use rtl_schema::ProcessId;
use rustc_hash::FxHashMap;

use crate::event::{Event, Kind};

/// The nodes whose arrows wait for later operators: more than the operators of a step.
const MOST_NODES: usize = 1 << 17;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub track: u32,
    pub lane: usize,
    pub start: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutogradArrow {
    pub from: Place,
    pub to: Place,
}

/// The innermost operators of a node: of nested operators the last one starts last.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    forward: Option<Place>,
    backward: Option<Place>,
}

impl Node {
    fn arrow(self) -> Option<AutogradArrow> {
        Some(AutogradArrow { from: self.forward?, to: self.backward? })
    }
}

/// The nodes of the latest operators.
#[derive(Debug, Default)]
pub struct AutogradArrows {
    nodes: FxHashMap<(ProcessId, i64), Node>,
    order: VecDeque<(ProcessId, i64)>,
}

impl AutogradArrows {
    /// Adds an operator; starts must ascend. The result is the arrow of the oldest node, if it makes room.
    pub fn add(&mut self, event: &Event, process: ProcessId, lane: usize) -> Option<AutogradArrow> {
        let sequence = event.detail.filter(|_| event.kind == Kind::Operator)?;
        let key = (process, sequence);
        let node = self.nodes.entry(key).or_insert_with(|| {
            self.order.push_back(key);
            Node::default()
        });
        let place = Some(Place { track: event.track, lane, start: event.start });
        // The number of the thread of the forward operator.
        if event.range == 0 {
            node.forward = place
        } else {
            node.backward = place
        }
        let oldest = self.order.front().copied().filter(|_| self.order.len() > MOST_NODES)?;
        self.order.pop_front();
        self.nodes.remove(&oldest)?.arrow()
    }

    pub fn finish(&mut self) -> Vec<AutogradArrow> {
        let Self { nodes, order } = std::mem::take(self);
        order.iter().filter_map(|key| nodes.get(key)?.arrow()).collect()
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::NameId;

    use super::*;

    fn operator(start: i64, sequence: i64, forward_thread: i64) -> Event {
        let detail = Some(sequence);
        Event { detail, range: forward_thread, ..Event::bare(Kind::Operator, NameId(0), start) }
    }

    fn starts(arrows: &[AutogradArrow]) -> Vec<(i64, i64)> {
        arrows.iter().map(|arrow| (arrow.from.start, arrow.to.start)).collect()
    }

    #[test]
    fn an_arrow_connects_the_innermost_operators_of_a_node() {
        let mut arrows = AutogradArrows::default();
        for event in [
            operator(1, 7, 0),
            operator(2, 7, 0),
            operator(3, 8, 0),
            operator(10, 7, 1),
            operator(11, 7, 1),
            operator(12, 9, 1),
        ] {
            assert_eq!(arrows.add(&event, ProcessId(0), 0), None);
        }
        assert_eq!(starts(&arrows.finish()), [(2, 11)]);
    }

    #[test]
    fn nodes_of_two_processes_are_different() {
        let mut arrows = AutogradArrows::default();
        arrows.add(&operator(1, 7, 0), ProcessId(0), 0);
        arrows.add(&operator(2, 7, 1), ProcessId(1), 0);
        assert_eq!(arrows.finish(), []);
    }

    #[test]
    fn the_oldest_node_makes_room() {
        let mut arrows = AutogradArrows::default();
        arrows.add(&operator(1, 0, 0), ProcessId(0), 0);
        arrows.add(&operator(2, 0, 1), ProcessId(0), 0);
        let nodes = 1..=MOST_NODES as i64;
        let made: Vec<_> =
            nodes.filter_map(|node| arrows.add(&operator(2 + node, node, 0), ProcessId(0), 0)).collect();
        assert_eq!(starts(&made), [(1, 2)]);
        assert_eq!(arrows.nodes.len(), MOST_NODES);
    }
}

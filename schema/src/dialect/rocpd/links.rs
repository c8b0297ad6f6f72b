//! Reads `rocpd_api_ops`. Links are kept in the order of ops, so that a scan of the ops walks them and needs no map.

use crate::sqlite::Database;
use crate::{Id, Result};

/// `rocpd_api_ops`: which call caused which op, ordered by op; several calls of one op stay in the order
/// of the source.
#[derive(Debug, Default)]
pub(crate) struct Links(Vec<Link>);

/// One row of `rocpd_api_ops`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) op: Id,
    pub(crate) call: Id,
}

impl Links {
    pub(crate) fn read(database: &Database) -> Result<Self> {
        let mut links = Vec::new();
        let mut sorted = true;
        let mut last = Id::MIN;
        database.scan("rocpd_api_ops", &["op_id", "api_id"], |row| {
            if let (Some(op), Some(call)) = (row.int(0), row.int(1)) {
                sorted &= last <= op;
                last = op;
                links.push(Link { op, call });
            }
        })?;
        if !sorted {
            links.sort_by_key(|link| link.op);
        }
        Ok(Self(links))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Follows the links along a scan of the ops, whose ids ascend.
#[derive(Debug, Default)]
pub(crate) struct LinkWalk {
    /// The links this walk has passed: from the first of its first op to the end of its last op.
    begin: Option<usize>,
    next: usize,
    /// Links passed whose op is not in the scan.
    skipped: usize,
    first_skipped: Option<Id>,
}

impl LinkWalk {
    /// The links of `op`; each call must name a higher id than the one before.
    #[inline]
    pub(crate) fn links_of<'a>(&mut self, links: &'a Links, op: Id) -> &'a [Link] {
        let links = &links.0;
        if self.begin.is_none() {
            self.next = links.partition_point(|link| link.op < op);
            self.begin = Some(self.next);
        }
        while let Some(link) = links.get(self.next)
            && link.op < op
        {
            self.skipped += 1;
            self.first_skipped.get_or_insert(link.op);
            self.next += 1;
        }
        let first = self.next;
        while links.get(self.next).is_some_and(|link| link.op == op) {
            self.next += 1;
        }
        &links[first..self.next]
    }
}

/// The number of links to ops that no walk met, and the first such op. The walks cover the ops in order.
pub(crate) fn dangling<'a>(
    links: &Links,
    walks: impl IntoIterator<Item = &'a LinkWalk>,
) -> Option<(u64, Id)> {
    let (mut count, mut first, mut reached) = (0, None, 0);
    for walk in walks {
        let Some(begin) = walk.begin else { continue };
        first = first.or_else(|| (reached < begin).then(|| links.0[reached].op)).or(walk.first_skipped);
        count += begin.saturating_sub(reached) + walk.skipped;
        reached = reached.max(walk.next);
    }
    count += links.0.len() - reached;
    let first = first.or_else(|| links.0.get(reached).map(|link| link.op));
    first.map(|op| (count as u64, op))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(Id, Id)]) -> Links {
        Links(pairs.iter().map(|&(op, call)| Link { op, call }).collect())
    }

    fn calls(found: &[Link]) -> Vec<Id> {
        found.iter().map(|link| link.call).collect()
    }

    #[test]
    fn a_walk_finds_every_link_of_its_ops() {
        let links = links(&[(1, 10), (3, 30), (3, 31), (4, 40)]);
        let mut walk = LinkWalk::default();
        let found = [1, 2, 3, 4, 5].map(|op| calls(walk.links_of(&links, op)));
        assert_eq!(found, [vec![10], vec![], vec![30, 31], vec![40], vec![]]);
        assert_eq!(dangling(&links, [&walk]), None);
    }

    #[test]
    fn links_of_absent_ops_are_counted_before_between_inside_and_after_the_walks() {
        let links = links(&[(1, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (11, 0)]);
        let (mut low, mut high) = (LinkWalk::default(), LinkWalk::default());
        assert_eq!(low.links_of(&links, 5).len() + low.links_of(&links, 7).len(), 2);
        assert_eq!(high.links_of(&links, 9).len(), 1);
        assert_eq!(dangling(&links, [&low, &high]), Some((4, 1)));
    }

    #[test]
    fn without_ops_every_link_dangles() {
        assert_eq!(dangling(&links(&[(4, 1), (5, 1)]), []), Some((2, 4)));
        assert_eq!(dangling(&Links::default(), []), None);
    }
}

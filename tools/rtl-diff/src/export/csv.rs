//! The kernels as RFC 4180. Where a field is about both sides, the baseline's number is first.

use std::io::{self, Write};

use super::{Answer, View, tables};

pub(super) fn render(answer: &Answer<'_>, view: View, out: &mut dyn Write) -> io::Result<()> {
    tables::kernels(answer, view.rows).render(view.layout, out)
}

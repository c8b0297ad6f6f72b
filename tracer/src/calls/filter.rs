//! Which functions of HIP are told of (docs/guide/hip.md, "Which calls"), and what lists of words of the environment say.

/// What starts kernels, in all its forms (`_spt`, `ExC`, `MultiDevice`).
const LAUNCHES: [&str; 5] =
    ["LaunchKernel", "LaunchCooperativeKernel", "LaunchMultiKernel", "LaunchByPtr", "GraphLaunch"];

/// What the environment says of HIP's functions. As RTG has it, launches are told of whatever that is: without its call
/// nobody would know where a kernel comes from. RTG knows six of them by name; here they are all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// RTL_HIP_API_FILTER: parts of names, separated by commas; `all` and `*` are every name. Empty is every name, too.
    pub wanted: String,
    /// RTL_HIP_API_FILTER_OUT: parts of names that are left out again.
    pub unwanted: String,
}

impl Filter {
    /// Whether calls of this function are recorded.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        let mut wanted = words(&self.wanted).peekable();
        let is_wanted = wanted.peek().is_none() || wanted.any(|word| is_meant(word, name));
        let is_unwanted = || words(&self.unwanted).any(|word| is_meant(word, name));
        LAUNCHES.iter().any(|launch| name.contains(launch)) || is_wanted && !is_unwanted()
    }

    /// A line about the words that none of these functions is meant by, if there are any.
    #[must_use]
    pub fn complaint(&self, names: &[String]) -> Option<String> {
        let lists = [("RTL_HIP_API_FILTER", &*self.wanted), ("RTL_HIP_API_FILTER_OUT", &*self.unwanted)];
        complaint("HIP", lists, |word| names.iter().any(|name| is_meant(word, name)))
    }
}

fn is_meant(word: &str, name: &str) -> bool {
    word == "all" || word == "*" || name.contains(word)
}

/// The words of a list, which commas separate.
pub fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// A line about those words of some variables' lists that mean no function of this interface, if there are any.
pub fn complaint<const LISTS: usize>(
    interface: &str,
    lists: [(&str, &str); LISTS],
    is_known: impl Fn(&str) -> bool,
) -> Option<String> {
    let of_list = |(variable, list)| {
        let unknown: Vec<&str> = words(list).filter(|word| !is_known(word)).collect();
        let unknown = unknown.join(" or ");
        (!unknown.is_empty()).then(|| format!("{variable}: no function of {interface} is called {unknown}"))
    };
    let complaints: Vec<String> = lists.into_iter().filter_map(of_list).collect();
    (!complaints.is_empty()).then(|| complaints.join("; "))
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
        assert_eq!(takes("hipmalloc", ""), Vec::<&str>::new(), "case counts");
        assert_eq!(takes("all", "all"), Vec::<&str>::new());
    }

    #[test]
    fn launches_are_taken_whatever_is_said() {
        let filter = Filter { wanted: "hipFree".to_owned(), unwanted: "all,Launch".to_owned() };
        let launches = [
            "hipDrvLaunchKernelEx",
            "hipExtLaunchKernel",
            "hipExtLaunchMultiKernelMultiDevice",
            "hipExtModuleLaunchKernel",
            "hipGraphLaunch",
            "hipGraphLaunch_spt",
            "hipHccModuleLaunchKernel",
            "hipLaunchByPtr",
            "hipLaunchCooperativeKernelMultiDevice",
            "hipLaunchCooperativeKernel_spt",
            "hipLaunchKernel",
            "hipLaunchKernelExC",
            "hipModuleLaunchCooperativeKernel",
            "hipModuleLaunchKernel",
        ];
        assert!(launches.into_iter().all(|name| filter.takes(name)));
        // These enqueue no kernel.
        let others = ["hipLaunchHostFunc", "__hipPushCallConfiguration", "hipGraphAddKernelNode", "hipFree"];
        assert!(!others.into_iter().any(|name| filter.takes(name)));
    }

    #[test]
    fn words_that_mean_nothing_are_one_line() {
        let names = ["hipMalloc".to_owned(), "hipFree".to_owned()];
        let complaint = |wanted: &str, unwanted: &str| {
            Filter { wanted: wanted.to_owned(), unwanted: unwanted.to_owned() }.complaint(&names)
        };
        assert_eq!(complaint("all,*,Malloc", "hip"), None);
        assert_eq!(complaint("", ","), None);
        assert_eq!(
            complaint("malloc,Free", "size,shape").as_deref(),
            Some(
                "RTL_HIP_API_FILTER: no function of HIP is called malloc; \
                 RTL_HIP_API_FILTER_OUT: no function of HIP is called size or shape"
            )
        );
    }
}

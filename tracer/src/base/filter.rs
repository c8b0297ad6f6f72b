//! Selects the functions of an interface whose calls are recorded, by lists of words in the environment (docs/guide/hip.md,
//! "Which calls").

/// Parts of the names of functions that start kernels, in all their forms (`_spt`, `ExC`, `MultiDevice`).
const LAUNCHES: [&str; 5] =
    ["LaunchKernel", "LaunchCooperativeKernel", "LaunchMultiKernel", "LaunchByPtr", "GraphLaunch"];

/// A selection of an interface's functions, as words with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// RTL_HIP_API_FILTER or RTL_HSA_API_FILTER: words for functions to record; empty for all.
    pub wanted: String,
    /// RTL_HIP_API_FILTER_OUT or RTL_HSA_API_FILTER_OUT: words for functions to leave out.
    pub unwanted: String,
}

impl Filter {
    #[must_use]
    pub fn is_set(&self) -> bool {
        words(&self.wanted).chain(words(&self.unwanted)).next().is_some()
    }

    /// Decides on a function. `is_meant` tells if a word means it.
    pub fn takes(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let mut wanted = words(&self.wanted).peekable();
        let is_wanted = wanted.peek().is_none() || wanted.any(&is_meant);
        is_wanted && !words(&self.unwanted).any(is_meant)
    }

    /// A warning about words that mean no function of this interface, if there are any.
    pub fn complaint(&self, interface: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
        let of_list = |(out, list)| {
            let unknown: Vec<&str> = words(list).filter(|word| !is_known(word)).collect();
            let unknown = unknown.join(" or ");
            (!unknown.is_empty()).then(|| {
                format!("RTL_{interface}_API_FILTER{out}: no function of {interface} is called {unknown}")
            })
        };
        let lists = [("", &*self.wanted), ("_OUT", &*self.unwanted)];
        let complaints: Vec<String> = lists.into_iter().filter_map(of_list).collect();
        (!complaints.is_empty()).then(|| complaints.join("; "))
    }
}

/// Decides on a function of HIP. As in RTG, a filter leaves no launch out: without its call nobody would know where a kernel
/// comes from. RTG knows six launches by name; this takes all.
#[must_use]
pub fn takes(filter: &Filter, name: &str) -> bool {
    LAUNCHES.iter().any(|launch| name.contains(launch)) || filter.takes(|word| is_meant(word, name))
}

/// A word means the functions whose names contain it; `all` and `*` mean every function.
#[must_use]
pub fn is_meant(word: &str, name: &str) -> bool {
    word == "all" || word == "*" || name.contains(word)
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(wanted: &str, unwanted: &str) -> Vec<&'static str> {
        let filter = Filter { wanted: wanted.to_owned(), unwanted: unwanted.to_owned() };
        let all = ["hipMalloc", "hipMallocAsync", "hipFree", "hipGetDevice"];
        all.into_iter().filter(|name| super::takes(&filter, name)).collect()
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
        assert!(launches.into_iter().all(|name| super::takes(&filter, name)));
        // These functions enqueue no kernel.
        let others = ["hipLaunchHostFunc", "__hipPushCallConfiguration", "hipGraphAddKernelNode", "hipFree"];
        assert!(!others.into_iter().any(|name| super::takes(&filter, name)));
    }

    #[test]
    fn words_that_mean_nothing_are_one_line() {
        let names = ["hipMalloc", "hipFree"];
        let complaint = |wanted: &str, unwanted: &str| {
            Filter { wanted: wanted.to_owned(), unwanted: unwanted.to_owned() }
                .complaint("HIP", |word| names.iter().any(|name| is_meant(word, name)))
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

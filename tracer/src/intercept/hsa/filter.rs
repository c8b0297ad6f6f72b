//! Selects the functions of HSA to record: none without a filter, and with words to leave out only, all others.

use hsa_sys::table::{FUNCTIONS, Function};

use crate::base::filter::Filter;
use crate::events::calls::sources;

#[must_use]
pub fn takes(filter: &Filter, function: &Function) -> bool {
    filter.is_set() && filter.takes(|word| is_meant(word, function))
}

/// A warning about words that mean no function, if there are any.
#[must_use]
pub fn complaint(filter: &Filter) -> Option<String> {
    filter.complaint("HSA", |word| FUNCTIONS.iter().any(|function| is_meant(word, function)))
}

/// `core` and `ext` mean the functions of a table, `all` and `*` those of both; any other word is a part of names.
fn is_meant(word: &str, function: &Function) -> bool {
    match word {
        "all" | "*" => true,
        "core" | "ext" => word == sources::table(function.table),
        part => function.name.contains(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions that a filter takes.
    fn taken(wanted: &str, unwanted: &str) -> Vec<&'static str> {
        let filter = Filter { wanted: wanted.to_owned(), unwanted: unwanted.to_owned() };
        FUNCTIONS.iter().filter(|function| takes(&filter, function)).map(|function| function.name).collect()
    }

    #[test]
    fn nothing_said_is_nothing() {
        assert!(!Filter::default().is_set());
        assert_eq!(taken("", ""), Vec::<&str>::new());
        assert_eq!(taken(" , ", ","), Vec::<&str>::new());
    }

    #[test]
    fn words_for_tables_are_all_of_their_functions() {
        let (core, extension) = (taken("core", ""), taken("ext", ""));
        assert_eq!((core.len(), extension.len()), (125, 91));
        assert!(core.iter().all(|name| !name.starts_with("hsa_amd_")));
        assert!(extension.iter().all(|name| name.starts_with("hsa_amd_")));
        assert_eq!(taken("all", ""), [core, extension].concat());
        assert_eq!(taken("*", ""), taken("core,ext", ""));
    }

    #[test]
    fn any_other_word_is_a_part_of_names() {
        assert_eq!(taken("memory_copy", ""), ["hsa_memory_copy", "hsa_amd_memory_copy_engine_status"]);
        assert_eq!(taken("queue_destroy, agent_get_info", ""), ["hsa_agent_get_info", "hsa_queue_destroy"]);
        assert_eq!(taken("HSA_QUEUE", ""), Vec::<&str>::new());
        // This longer word is none for a table, although functions of it have `ext` in their names.
        assert!(taken("extension", "").contains(&"hsa_system_get_extension_table"));
    }

    #[test]
    fn what_is_left_out_wins() {
        assert_eq!(taken("queue_destroy,agent_get_info", "queue"), ["hsa_agent_get_info"]);
        assert_eq!(taken("all", "ext"), taken("core", ""));
        assert_eq!(taken("all", "*"), Vec::<&str>::new());
    }

    #[test]
    fn where_only_something_is_left_out_everything_else_is_asked_for() {
        assert_eq!(taken("", "core"), taken("ext", ""));
        assert_eq!(taken("", "signal"), taken("all", "signal"));
    }

    #[test]
    fn words_that_mean_nothing_are_one_line() {
        let filter = Filter { wanted: "core,colour,hsa_init".to_owned(), unwanted: "hue,shape,".to_owned() };
        assert_eq!(
            complaint(&filter).as_deref(),
            Some(
                "RTL_HSA_API_FILTER: no function of HSA is called colour; \
                 RTL_HSA_API_FILTER_OUT: no function of HSA is called hue or shape"
            )
        );
        assert_eq!(complaint(&Filter { wanted: "all".to_owned(), unwanted: String::new() }), None);
    }
}

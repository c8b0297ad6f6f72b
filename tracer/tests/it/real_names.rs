//! Checks on symbols of kernels that ran on real GPUs that all of them are named in full, and no two alike.

use std::collections::HashMap;

use rtl::base::kernels::names::Names;
use rtl_schema::{Select, Trace};

/// A kernel of vLLM whose mangled name is malformed as the compiler wrote it: no demangler knows it.
const MALFORMED: &str = "scaled_act_and_mul_kernel";

#[test]
fn every_symbol_of_the_real_traces_has_a_full_name_of_its_own() -> Result<(), Box<dyn std::error::Error>> {
    let Some(shared) = support::shared() else { return Ok(()) };
    let mut symbols = std::collections::BTreeSet::new();
    for trace in ["rocprofv3-gfx950.json.gz", "rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd"] {
        let tables = Trace::open(shared.join("traces/real").join(trace))?.read(&Select::everything())?;
        let texts = tables.strings.iter().map(|(_, text)| rtl_schema::identity(text).to_owned());
        symbols.extend(texts.filter(|text| text.starts_with("_Z")));
    }
    let mut names = Names::default();
    let mut owners = HashMap::new();
    for symbol in &symbols {
        let name = names.name(symbol);
        assert!(name != *symbol || symbol.contains(MALFORMED), "{symbol}");
        assert_eq!(*owners.entry(name).or_insert(symbol), symbol);
    }
    println!("{} mangled names", symbols.len());
    assert!(symbols.len() > 1000);
    Ok(())
}

//! Short names, compared with the truncated names that rocprofv3 wrote.

use std::collections::BTreeMap;
use std::fs::File;

use flate2::read::GzDecoder;
use serde_json::Value;

/// Names that rocprofv3's rule loses and [`rtl_schema::shorten`] keeps are none of these.
#[test]
fn a_short_name_is_the_truncated_name_of_rocprofv3() {
    let Some(shared) = support::shared() else { return };
    let file = File::open(shared.join("traces/real/rocprofv3-gfx950.json.gz")).unwrap();
    let trace: Value = serde_json::from_reader(std::io::BufReader::new(GzDecoder::new(file))).unwrap();
    let symbols = trace["rocprofiler-sdk-tool"][0]["kernel_symbols"].as_array().unwrap();
    let text = |symbol: &Value, key: &str| symbol[key].as_str().unwrap().to_owned();
    let names: BTreeMap<String, String> = symbols
        .iter()
        .map(|symbol| (text(symbol, "formatted_kernel_name"), text(symbol, "truncated_kernel_name")))
        .collect();
    assert!(names.len() > 9_000);
    for (full, truncated) in names {
        assert_eq!(rtl_schema::shorten(&full), rtl_schema::identity(&truncated), "{full}");
    }
}

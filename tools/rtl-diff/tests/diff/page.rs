//! The page of a comparison.

use serde_json::Value;

use crate::Folder;

#[test]
fn a_page_has_the_figures_of_the_report_and_a_waterfall_that_balances() {
    let folder = Folder::new();
    let name = "<img src=x onerror=alert(1)>";
    folder.trace("a.db", 1, &[("gemm", 40, 100_000), (name, 40, 20_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 120_000), (name, 20, 20_000), ("new", 4, 9_000)]);
    folder.answer(0, "a.db b.db -o page.html -o report.json");
    let page = folder.path("page.html");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(!html.contains("<img") && html.contains("&lt;img src=x"));
    let report: Value = serde_json::from_slice(&std::fs::read(folder.path("report.json")).unwrap()).unwrap();
    assert!(html.contains(&html_escaped(report["headline"].as_str().unwrap())));
    let Some(seen) = support::browser::examine(&page) else { return };
    assert_eq!(
        (seen["requests"].to_string(), seen["errors"].to_string()),
        ("[]".to_owned(), "[]".to_owned())
    );
    assert_eq!(seen["axe"], Value::Array(Vec::new()));
    let embedded: Value = serde_json::from_str(seen["comparison"].as_str().unwrap()).unwrap();
    assert_eq!(embedded, report);
    let rows = seen["tables"]["changes-table"].as_array().unwrap();
    assert_eq!(rows.len(), report["kernels"].as_array().unwrap().len());
    for (row, kernel) in rows.iter().zip(report["kernels"].as_array().unwrap()) {
        for field in ["name", "status"] {
            assert_eq!(row[field]["value"], kernel[field]);
        }
        for field in ["ratio", "ci_low", "ci_high", "change_ns", "share"] {
            let value = row[field]["value"].as_str().unwrap();
            let value: Value =
                if value.is_empty() { Value::Null } else { serde_json::from_str(value).unwrap() };
            assert_eq!(value, kernel[field], "{field}");
        }
    }
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

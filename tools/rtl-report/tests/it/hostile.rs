//! Names from a trace are text, whatever they contain.

use crate::page;

/// Names that would do something as markup, script, a link, an attribute, or by the order of the text.
const NAMES: [&str; 7] = [
    "<script>window.hostile = 1</script>",
    "</title></style></script><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "javascript:alert(1)",
    "</td></tr></table><iframe src=https://example.org>",
    "safe\u{202e}gnp.exe\u{2066}",
    "${alert(1)} {{constructor}} <!-- --> ]]>",
];

#[test]
fn names_of_kernels_are_inert() {
    let folder = tempfile::tempdir().unwrap();
    let rows = NAMES.iter().enumerate().map(|(at, name)| {
        let (start, name) = (at * 1_000, name.replace('\'', "''"));
        format!(
            "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {start}, {}, '{name}');\n",
            start + 900
        )
    });
    let trace = support::database(&rows.collect::<String>(), support::Layout::Native).unwrap();
    let path = page(folder.path(), &[trace.to_path_buf()]);
    let html = std::fs::read_to_string(&path).unwrap();
    assert!(!html.contains('\u{202e}') && !html.contains("<img") && !html.contains("<iframe"));
    assert!(html.contains("&lt;script&gt;window.hostile"));
    let Some(seen) = support::browser::visit(&path) else { return };
    assert_eq!(
        (seen["requests"].to_string(), seen["errors"].to_string()),
        ("[]".to_owned(), "[]".to_owned())
    );
    assert_eq!(seen["scripts"], 1, "the page's own");
    let texts = |key: &str| -> Vec<String> {
        seen[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    assert!(texts("attributes").iter().all(|name| !name.starts_with("on")));
    assert!(
        ["img", "iframe", "object", "embed"]
            .iter()
            .all(|name| !texts("elements").contains(&(*name).to_owned()))
    );
    let shown = seen["tables"]["kernels"].to_string();
    assert!(shown.contains("window.hostile = 1") && shown.contains("u{202e}gnp.exe"), "{shown}");
}

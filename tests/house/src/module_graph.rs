//! The imports between the files of one crate. A name that a module re-exports leads to the file that defines it, so a
//! facade adds no edge. Imports of tests do not count. The text is read as rustfmt leaves it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// The path of a module from the root of its crate, which is the empty path.
pub(crate) type Module = Vec<String>;

/// Which module of a crate imports from which.
pub(crate) struct ModuleGraph {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

/// One file of a crate.
struct Source {
    /// Paths that the file names, and those that it only re-exports.
    imports: Vec<Vec<String>>,
    /// The re-exported or imported path behind each name.
    names: BTreeMap<String, Vec<String>>,
    definitions: BTreeSet<String>,
}

static USE: LazyLock<Regex> = LazyLock::new(|| regex(r"(pub(?:\([\w\s]+\))?\s+)?\buse\s+([^;]+);"));
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:struct|enum|trait|fn|type|const|static|union|macro_rules!)\s+(?:mut\s+)?(\w+)")
});
static PATH: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[^\w:])([a-z_]\w*(?:::\w+)+)"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

impl ModuleGraph {
    /// From the files of a crate, by their paths below `src/`.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let sources: BTreeMap<Module, Source> =
            files.into_iter().map(|(path, text)| (module_of(path), Source::new(text))).collect();
        let edges = sources.iter().map(|(module, source)| {
            let targets = source.imports.iter().filter_map(|path| resolve(&sources, module, path, 0));
            (module.clone(), targets.filter(|target| target != module).collect())
        });
        Self { edges: edges.collect() }
    }

    /// Every import, in order.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (&Module, &Module)> {
        self.edges.iter().flat_map(|(module, targets)| targets.iter().map(move |target| (module, target)))
    }

    /// Every set of modules that reach each other, the largest first, with the edges inside it.
    pub(crate) fn cycles(&self) -> Vec<BTreeMap<&Module, Vec<&Module>>> {
        let reachable: BTreeMap<&Module, BTreeSet<&Module>> =
            self.edges.keys().map(|module| (module, self.reachable(module))).collect();
        let mut cycles = BTreeSet::new();
        for (module, targets) in &reachable {
            let cycle: BTreeSet<&Module> =
                targets.iter().copied().filter(|target| reachable[target].contains(module)).collect();
            if cycle.len() > 1 {
                cycles.insert(cycle);
            }
        }
        let inside = |cycle: &BTreeSet<&'_ Module>, module| {
            self.edges[module].iter().filter(|target| cycle.contains(target)).collect()
        };
        let mut cycles: Vec<BTreeMap<_, Vec<_>>> = cycles
            .into_iter()
            .map(|cycle| cycle.iter().map(|&module| (module, inside(&cycle, module))).collect())
            .collect();
        cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
        cycles
    }

    fn reachable(&self, from: &Module) -> BTreeSet<&Module> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Module> = self.edges[from].iter().collect();
        while let Some(module) = open.pop() {
            if reached.insert(module) {
                open.extend(&self.edges[module]);
            }
        }
        reached
    }
}

impl Source {
    fn new(text: &str) -> Self {
        let text = without_tests(text);
        let mut imports = Vec::new();
        let mut names = BTreeMap::new();
        for found in USE.captures_iter(&text) {
            for (path, name) in flatten(&[], &found[2]) {
                if found.get(1).is_none() {
                    imports.push(path.clone());
                }
                names.insert(name, path);
            }
        }
        let body = USE.replace_all(&text, "");
        for found in PATH.captures_iter(&body) {
            imports.push(found[1].split("::").map(str::to_owned).collect());
        }
        let definitions = DEFINITION.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        Self { imports, names, definitions }
    }
}

fn module_of(path: &str) -> Module {
    let mut module: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        module.pop();
    }
    module
}

/// The text without comments and without items that only tests see.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line.split("//").next().unwrap_or_default());
            kept.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        let ends_at_once = item.next().is_none_or(|first| first.ends_with(';'));
        if !ends_at_once {
            let ends = [format!("{indent}}}"), format!("{indent}}};")];
            lines.by_ref().find(|line| ends.iter().any(|end| line == end));
        }
    }
    kept
}

/// The paths of a `use` tree, each with the name that it brings into scope.
fn flatten(prefix: &[String], tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((head, rest)) = tree.split_once('{') {
        let prefix = [prefix, &segments(head)].concat();
        let rest = rest.strip_suffix('}').unwrap_or(rest);
        return split_list(rest).into_iter().flat_map(|part| flatten(&prefix, part)).collect();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = [prefix, &segments(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The parts between commas that are in no braces.
fn split_list(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The module that defines what the path names, seen from a module. `None` for other crates.
fn resolve(
    sources: &BTreeMap<Module, Source>,
    module: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    // Names that lead to each other in a circle are no Rust, but the text alone does not say so.
    if depth > 20 {
        return None;
    }
    let mut at = module.clone();
    let mut path = path;
    let child = |module: &Module, name: &String| {
        let child = [module.as_slice(), std::slice::from_ref(name)].concat();
        sources.contains_key(&child).then_some(child)
    };
    match path.first()?.as_str() {
        "crate" => (at, path) = (Module::new(), &path[1..]),
        "self" => path = &path[1..],
        "super" => {
            while path.first().is_some_and(|part| part == "super") {
                at.pop();
                path = &path[1..];
            }
        }
        _ if child(module, &path[0]).is_some() => {}
        name => {
            let target = sources[module].names.get(name).filter(|target| target[..] != path[..1])?;
            return resolve(sources, module, &[target, &path[1..]].concat(), depth + 1);
        }
    }
    while let Some(name) = path.first() {
        if let Some(child) = child(&at, name) {
            (at, path) = (child, &path[1..]);
            continue;
        }
        let source = sources.get(&at)?;
        return match source.names.get(name) {
            Some(target) if !source.definitions.contains(name) => {
                resolve(sources, &at, &[target, &path[1..]].concat(), depth + 1)
            }
            _ => Some(at),
        };
    }
    sources.contains_key(&at).then_some(at)
}

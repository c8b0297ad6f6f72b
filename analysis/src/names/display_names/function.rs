//! Names of C++ functions without namespaces, return type, parameters and arguments that all instances share.

use rtl_schema::signature::{Part, parts};

/// Longer forms lose arguments.
const MAX_LENGTH: usize = 112;

/// Template arguments nest no deeper in a display name.
const MAX_DEPTH: usize = 8;

/// Templates whose arguments follow from the others of a kernel, with the beginning of their own arguments.
const IMPLIED: [(&str, &str); 7] = [
    ("array", "<char*"),
    ("Array", "<char*"),
    ("TrivialOffsetCalculator", ""),
    ("OffsetCalculator", ""),
    ("LoadWithoutCast", ""),
    ("StoreWithoutCast", ""),
    ("default_config", ""),
];

/// Functions of PyTorch that only wrap the operator of a kernel, their first template argument.
const WRAPPERS: [&str; 2] = ["gpu_kernel_impl", "gpu_kernel_impl_nocast"];

/// `ns::f<a::B<4ul>, std::array<char*, 2> >(int)` becomes `f<B<4>>`. A lambda becomes the function around it with the
/// types of its parameters.
pub(super) fn display_name(name: &str) -> String {
    let forms = (0..=MAX_DEPTH).map(|level| Form { level }.function(name));
    let fits = |form: &String| form.chars().count() <= MAX_LENGTH;
    let mut form = String::new();
    for candidate in forms {
        form = candidate;
        if fits(&form) {
            break;
        }
    }
    match head_size(name) {
        Some(size) => format!("{form} head {size}"),
        None => form,
    }
}

/// The head size of an attention kernel of CK Tile: the last number of its tile.
fn head_size(name: &str) -> Option<&str> {
    let (_, shape) = name.split_once("TileFmhaShape<")?;
    let (_, sizes) = shape.split_once("sequence<")?;
    let (sizes, _) = sizes.split_once('>')?;
    let sizes: Vec<&str> = sizes.split(',').map(str::trim).collect();
    sizes.get(5).copied()
}

/// How much of the arguments is left out.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// 0 keeps all arguments; 1 the first three of each list; from 2 on also fewer levels of nesting.
    level: usize,
}

impl Form {
    fn depth(self) -> usize {
        MAX_DEPTH.saturating_sub(self.level.saturating_sub(1))
    }

    fn function(self, name: &str) -> String {
        let Function { name, arguments, .. } = Function::of(name);
        format!("{name}{}", self.list(arguments, 0))
    }

    /// Template arguments or parameters with their brackets.
    fn list(self, text: &str, depth: usize) -> String {
        let inner = brackets_removed(text);
        if inner.is_empty() {
            return text.to_owned();
        }
        let close = if text.starts_with('<') { ">" } else { ")" };
        let open = &text[..1];
        if depth >= self.depth() && !inner.trim().is_empty() {
            return format!("{open}…{close}");
        }
        let arguments = arguments(inner).into_iter().filter(|argument| !is_implied(argument));
        let kept = self.kept(arguments.map(|argument| self.argument(argument, depth + 1)).collect());
        if kept.is_empty() && open == "<" {
            String::new()
        } else {
            format!("{open}{}{close}", kept.join(", "))
        }
    }

    /// The arguments to show: of a long list the first ones and the first numbers in a row, the tile.
    fn kept(self, mut all: Vec<String>) -> Vec<String> {
        let is_number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_type = |text: &String| !is_number(text) && !matches!(text.as_str(), "true" | "false");
        if self.level > 0 {
            all.dedup_by(|next, before| next == before && is_type(next));
        }
        if self.level == 0 || all.len() <= 4 {
            return all;
        }
        let first = 3_usize.saturating_sub(self.level / 2).max(1);
        let tile = all.windows(3).position(|three| three.iter().all(is_number)).unwrap_or(all.len());
        let tile_end = tile + all[tile..].iter().take(4).take_while(|text| is_number(text)).count();
        let mut kept: Vec<String> = Vec::new();
        for (position, argument) in all.into_iter().enumerate() {
            match position < first.min(tile) || (tile..tile_end).contains(&position) {
                true => kept.push(argument),
                false if kept.last().is_some_and(|last| last == "…") => {}
                false => kept.push("…".to_owned()),
            }
        }
        kept
    }

    /// A type or a value without namespaces.
    fn argument(self, text: &str, depth: usize) -> String {
        let text = text.trim();
        if let Some(lambda) = self.lambda(text, depth) {
            return lambda;
        }
        let mut form = String::with_capacity(text.len());
        let mut in_namespace = false;
        for part in parts(text) {
            let piece = &text[part.range()];
            match part {
                Part::Group(b'<' | b'(', _) => form.push_str(&self.list(piece, depth)),
                Part::Text(_) if in_namespace => {
                    push_without_namespaces(&mut form, piece.strip_prefix("::").unwrap_or(piece));
                }
                Part::Text(_) => push_without_namespaces(&mut form, piece),
                Part::Atom(_) if piece == "(anonymous namespace)" => {}
                _ => form.push_str(piece),
            }
            in_namespace = piece == "(anonymous namespace)";
        }
        match form.trim_end_matches(['u', 'l', 'L', 'U']) {
            number if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                number.to_owned()
            }
            _ => form,
        }
    }

    /// Turns `f<X>(...)::{lambda()#1}::operator()() const::{lambda(float)#2}` into `f<X>(float)`.
    fn lambda(self, text: &str, depth: usize) -> Option<String> {
        let parts = parts(text);
        let is_lambda =
            |part: &&Part| matches!(part, Part::Atom(range) if text[range.clone()].starts_with('{'));
        let first = parts.iter().find(is_lambda)?.range();
        let last = &text[parts.iter().rfind(is_lambda)?.range()];
        let around = text[..first.start].trim_end_matches(':');
        let function = match Function::of(around) {
            Function { name: "operator()", class, .. } => self.argument(class, depth),
            Function { name, arguments, .. } if WRAPPERS.contains(&name) => {
                let operator = self::arguments(brackets_removed(arguments));
                return Some(
                    operator.first().map_or(name.to_owned(), |operator| self.argument(operator, depth)),
                );
            }
            Function { name, arguments, .. } => format!("{name}{}", self.list(arguments, depth)),
        };
        let parameters = last.find('(').zip(last.rfind(')')).and_then(|(open, close)| last.get(open..=close));
        let parameters = parameters.filter(|text| *text != "()").map(|text| self.list(text, depth));
        Some(format!("{function}{}", parameters.unwrap_or_default()))
    }
}

struct Function<'a> {
    /// Class or namespaces of the function.
    class: &'a str,
    name: &'a str,
    /// Template arguments with their brackets.
    arguments: &'a str,
}

impl<'a> Function<'a> {
    fn of(signature: &'a str) -> Self {
        let name = rtl_schema::shorten(signature);
        let start = name.as_ptr() as usize - signature.as_ptr() as usize;
        let rest = &signature[start + name.len()..];
        let arguments = match parts(rest).first() {
            Some(Part::Group(b'<', range)) => &rest[range.clone()],
            _ => "",
        };
        Self { class: signature[..start].trim_end_matches(':'), name, arguments }
    }
}

/// Returns whether an argument follows from the others.
fn is_implied(argument: &str) -> bool {
    let Function { name, arguments, .. } = Function::of(argument.trim());
    IMPLIED.iter().any(|(implied, begin)| name == *implied && arguments.starts_with(begin))
}

/// A list without its brackets; empty where the closing one is missing.
fn brackets_removed(list: &str) -> &str {
    list.get(1..list.len().saturating_sub(1)).unwrap_or_default()
}

fn arguments(inner: &str) -> Vec<&str> {
    let mut start = 0;
    let mut arguments = Vec::new();
    for part in parts(inner) {
        let Part::Text(range) = part else { continue };
        for (comma, _) in inner[range.clone()].match_indices(',') {
            arguments.push(&inner[start..range.start + comma]);
            start = range.start + comma + 1;
        }
    }
    if !inner[start..].trim().is_empty() {
        arguments.push(&inner[start..]);
    }
    arguments
}

/// `at::native::A const` without `at::native::`.
fn push_without_namespaces(form: &mut String, text: &str) {
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 {
            form.push(' ');
        }
        match word.rfind("::") {
            // What follows template arguments belongs to them: `A<int>::type`.
            Some(0) if !form.ends_with(' ') => form.push_str(word),
            Some(at) => form.push_str(&word[at + 2..]),
            None => form.push_str(word),
        }
    }
}

//! XML as the readers see it: a tree of elements that know their place, with numbers read and what is
//! not known collected.

use roxmltree::{Document, Node, ParsingOptions};

use super::context::{Context, Place};

/// The most nodes of a file, and the deepest nesting.
const MOST_NODES: u32 = 4_000_000;
const DEEPEST: usize = 200;

/// An element, and everything below it.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// Its name, without a namespace.
    pub(crate) name: String,
    /// Its start tag.
    pub(crate) place: Place,
    /// In the order of the file.
    pub(crate) attributes: Vec<Attribute>,
    /// In the order of the file.
    pub(crate) children: Vec<Element>,
    /// The text directly in it, trimmed.
    pub(crate) text: String,
}

/// An attribute of an element.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// Its name, without a namespace.
    pub(crate) name: String,
    /// Its value as it is written, entities resolved.
    pub(crate) value: String,
    /// Where the value is.
    pub(crate) place: Place,
}

/// Reads the text of a source as XML; `None` if it is none, which is reported.
pub(crate) fn parse(source: usize, context: &mut Context) -> Option<Element> {
    // What ends a string in C ends some files too.
    let mut text = without_misplaced_declaration(context.text(source).trim_end_matches('\0'));
    // Old robot files use prefixes that they do not declare; nothing here looks at them. Every try
    // takes one prefix out, letter for letter, so that places stay.
    for _ in 0..32 {
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let error = match Document::parse_with_options(&text, options) {
            Ok(document) => return convert(&document, source, context),
            Err(error) => error,
        };
        match &error {
            roxmltree::Error::UnknownNamespace(prefix, _) if !prefix.is_empty() => {
                let flat = text.replace(&format!("{prefix}:"), &format!("{prefix}_"));
                if flat == text {
                    report_syntax(&error, &text, source, context);
                    return None;
                }
                text = flat;
            }
            _ => {
                report_syntax(&error, &text, source, context);
                return None;
            }
        }
    }
    let place = Place { source, span: 0..0 };
    context.error(
        &place,
        "the file uses too many prefixes that it does not declare",
        "declare them: xmlns:…",
    );
    None
}

/// The text with a declaration that is not at its very beginning blanked out: other tools take it.
fn without_misplaced_declaration(text: &str) -> String {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let start = match text.find("<?xml ") {
        Some(at) if text[..at].trim_start_matches('\u{feff}').is_empty() => return text.to_string(),
        Some(at) if begin.starts_with("<?xml ") || begin.starts_with("<!--") => at,
        _ => return text.to_string(),
    };
    let Some(length) = text[start..].find("?>") else { return text.to_string() };
    let blank: String =
        text[start..start + length + 2].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
    format!("{}{blank}{}", &text[..start], &text[start + length + 2..])
}

fn report_syntax(error: &roxmltree::Error, text: &str, source: usize, context: &mut Context) {
    let at = error.pos();
    let line_start = text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum();
    let line = text[line_start..].lines().next().unwrap_or("");
    let start =
        line_start + line.chars().take(at.col.saturating_sub(1) as usize).map(char::len_utf8).sum::<usize>();
    let place = Place { source, span: start..start + 1 };
    let help = match error {
        roxmltree::Error::DtdDetected => "remove the <!DOCTYPE …>: entities are not expanded",
        roxmltree::Error::NodesLimitReached => "the file has too many elements",
        roxmltree::Error::DuplicatedAttribute(..) => "give it only once",
        _ => "not valid XML",
    };
    let message = error.to_string().replacen(&format!(" at {at}"), "", 1);
    context.error(&place, format!("cannot read the file: {message}"), help);
}

fn convert(document: &Document<'_>, source: usize, context: &mut Context) -> Option<Element> {
    let root = document.root_element();
    for node in root.descendants().filter(Node::is_element) {
        if node.ancestors().take(DEEPEST + 1).count() > DEEPEST {
            let place = start_tag(&node, source, document.input_text());
            context.error(&place, format!("elements are nested more than {DEEPEST} deep"), "nest them less");
            return None;
        }
    }
    Some(element(&root, source, document.input_text()))
}

fn start_tag(node: &Node<'_, '_>, source: usize, text: &str) -> Place {
    let range = node.range();
    let end = text[range.clone()].find('>').map_or(range.end, |length| range.start + length + 1);
    Place { source, span: range.start..end }
}

/// Recursion as deep as the nesting, which was checked.
fn element(node: &Node<'_, '_>, source: usize, text: &str) -> Element {
    let attributes = (node.attributes())
        .map(|attribute| Attribute {
            name: attribute.name().to_string(),
            value: attribute.value().to_string(),
            place: Place { source, span: attribute.range_value() },
        })
        .collect();
    let words: String = node.children().filter(Node::is_text).filter_map(|node| node.text()).collect();
    Element {
        name: node.tag_name().name().to_string(),
        place: start_tag(node, source, text),
        attributes,
        children: (node.children())
            .filter(Node::is_element)
            .map(|child| element(&child, source, text))
            .collect(),
        text: words.trim().to_string(),
    }
}

impl Element {
    /// An attribute, if it is there.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The value of an attribute as it is written.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.attribute(name).map(|attribute| attribute.value.as_str())
    }

    /// Where an attribute's value is, else the element.
    pub(crate) fn place_of(&self, name: &str) -> &Place {
        self.attribute(name).map_or(&self.place, |attribute| &attribute.place)
    }

    /// The first child of a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children of a name.
    pub(crate) fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Element> + 'e {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// What messages call it: its name attribute, if it has one.
    pub(crate) fn what(&self) -> String {
        match self.value("name") {
            Some(name) => format!("{} `{name}`", self.name),
            None => format!("<{}>", self.name),
        }
    }

    /// An attribute that must be there; reported if it is not.
    pub(crate) fn required(&self, name: &str, context: &mut Context) -> Option<&str> {
        if self.attribute(name).is_none() {
            let message = format!("{}: the attribute `{name}` is missing", self.what());
            context.error(&self.place, message, format!("add {name}=\"…\""));
        }
        self.value(name)
    }

    /// One finite number; absent, or wrong and reported, is `None`.
    pub(crate) fn number(&self, name: &str, context: &mut Context) -> Option<f64> {
        self.vector::<1>(name, context).map(|[x]| x)
    }

    /// Exactly N finite numbers.
    pub(crate) fn vector<const N: usize>(&self, name: &str, context: &mut Context) -> Option<[f64; N]> {
        let attribute = self.attribute(name)?;
        let numbers = numbers(&attribute.value, &attribute.place, &self.what(), name, context)?;
        exactly(numbers, &attribute.place, &self.what(), name, context)
    }

    /// Any number of finite numbers.
    pub(crate) fn numbers(&self, name: &str, context: &mut Context) -> Option<Vec<f64>> {
        let attribute = self.attribute(name)?;
        numbers(&attribute.value, &attribute.place, &self.what(), name, context)
    }

    /// The element's text as exactly N finite numbers (SDF).
    pub(crate) fn text_vector<const N: usize>(&self, context: &mut Context) -> Option<[f64; N]> {
        let numbers = numbers(&self.text, &self.place, &format!("<{}>", self.name), "text", context)?;
        exactly(numbers, &self.place, &format!("<{}>", self.name), "text", context)
    }

    /// One number that may be infinite, as limits are.
    pub(crate) fn bound(&self, name: &str, context: &mut Context) -> Option<f64> {
        let attribute = self.attribute(name)?;
        match attribute.value.trim().parse::<f64>() {
            Ok(x) if !x.is_nan() => Some(x),
            _ => {
                not_a_number(&attribute.value, &attribute.place, &self.what(), name, context);
                None
            }
        }
    }

    /// `true` or `false`, or 1 or 0.
    pub(crate) fn flag(&self, name: &str, context: &mut Context) -> Option<bool> {
        let attribute = self.attribute(name)?;
        match attribute.value.trim() {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            other => {
                let message = format!("{}: `{name}` is `{other}`", self.what());
                context.error(&attribute.place, message, "true or false");
                None
            }
        }
    }

    /// Warns of every child that is not known here, once per kind.
    pub(crate) fn check_children(&self, known: &[&str], context: &mut Context) {
        for child in self.children.iter().filter(|child| !known.contains(&child.name.as_str())) {
            context.warning_of(format!("<{}> in <{}>", child.name, self.name), &child.place, || {
                format!("<{}> in <{}> is unknown and was left out", child.name, self.name)
            });
        }
    }

    /// Warns of every attribute that is not known here, once per kind.
    pub(crate) fn check_attributes(&self, known: &[&str], context: &mut Context) {
        for attribute in self.attributes.iter().filter(|a| !known.contains(&a.name.as_str())) {
            context.warning_of(format!("{} of <{}>", attribute.name, self.name), &attribute.place, || {
                format!("the attribute `{}` of <{}> is unknown and was left out", attribute.name, self.name)
            });
        }
    }

    /// Replaces every `<include file="…"/>` by what that file has below its root (MJCF). What cannot be
    /// included is reported.
    pub(crate) fn splice_includes(&mut self, context: &mut Context) {
        self.splice(1, context);
    }

    /// Files that each nest as deep as they may must not do so together: what walks the tree recurses.
    fn splice(&mut self, depth: usize, context: &mut Context) {
        if depth > DEEPEST {
            let message = format!("elements are nested more than {DEEPEST} deep");
            context.error(&self.place, message, "nest them less");
            self.children.clear();
            return;
        }
        let mut spliced = Vec::with_capacity(self.children.len());
        for mut child in std::mem::take(&mut self.children) {
            if child.name != "include" {
                child.splice(depth + 1, context);
                spliced.push(child);
                continue;
            }
            let Some(file) = child.required("file", context).map(str::to_string) else { continue };
            let Some(source) = context.include(&file, child.place_of("file")) else { continue };
            let Some(mut included) = parse(source, context) else { continue };
            included.splice(depth, context);
            spliced.append(&mut included.children);
        }
        self.children = spliced;
    }
}

fn numbers(text: &str, place: &Place, what: &str, name: &str, context: &mut Context) -> Option<Vec<f64>> {
    let mut list = Vec::new();
    for word in text.split_whitespace() {
        match word.parse::<f64>() {
            Ok(x) if x.is_finite() => list.push(x),
            _ => {
                not_a_number(word, place, what, name, context);
                return None;
            }
        }
    }
    Some(list)
}

fn not_a_number(word: &str, place: &Place, what: &str, name: &str, context: &mut Context) {
    let word: String = word.chars().take(40).collect();
    context.error(
        place,
        format!("{what}: `{word}` in `{name}` is not a finite number"),
        "numbers such as 0.5",
    );
}

fn exactly<const N: usize>(
    numbers: Vec<f64>,
    place: &Place,
    what: &str,
    name: &str,
    context: &mut Context,
) -> Option<[f64; N]> {
    let count = numbers.len();
    let found = <[f64; N]>::try_from(numbers).ok();
    if found.is_none() {
        let plural = if N == 1 { "number" } else { "numbers" };
        context.error(
            place,
            format!("{what}: `{name}` has {count} numbers, but takes {N}"),
            format!("give {N} {plural}"),
        );
    }
    found
}

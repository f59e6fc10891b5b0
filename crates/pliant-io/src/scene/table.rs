//! One table of the file, read key by key: each answer is absent, there, or wrong and reported.

use std::ops::Range;

use pliant_core::closest;
use pliant_core::mechanism::PerFreedom;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::Section;
use super::report::{Optional, Report, Reported};

/// A value with its place in the file.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// A table of the file and what to call it.
#[derive(Clone)]
pub(super) struct Table<'t> {
    /// The word of its header.
    kind: &'static str,
    /// Its position among its kind, from 1.
    number: usize,
    /// What a shape belongs to.
    owner: Option<String>,
    entries: &'t DeTable<'t>,
    /// Where its header is.
    header: Range<usize>,
}

/// The keys under which a field of the mechanism may stand in the file.
fn keys_of(field: &str) -> &[&str] {
    match field {
        "rotation" => &["rotation", "rpy", "axis"],
        "stiffness" => &["stiffness", "compliance"],
        _ => &[],
    }
}

impl<'t> Table<'t> {
    pub(super) fn new(
        kind: &'static str,
        number: usize,
        entries: &'t DeTable<'t>,
        header: Range<usize>,
    ) -> Table<'t> {
        Table { kind, number, owner: None, entries, header }
    }

    /// What its messages start with; those of the file itself need no name.
    fn prefix(&self) -> String {
        if self.kind == "file" { String::new() } else { format!("{}: ", self.what()) }
    }

    /// What messages call it.
    pub(super) fn what(&self) -> String {
        let Table { kind, number, .. } = self;
        if let Some(owner) = &self.owner {
            return format!("{kind} {number} of {owner}");
        }
        match (*kind, self.value("name").and_then(|name| name.get_ref().as_str())) {
            ("mechanism" | "world", _) => format!("the {kind}"),
            (_, Some(name)) => format!("{kind} `{name}`"),
            (_, None) => format!("{kind} {number}"),
        }
    }

    pub(super) fn value(&self, key: &str) -> Option<&'t Value<'t>> {
        self.entries.get(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether a field of the mechanism stands in the file, under any of its keys.
    pub(super) fn has_field(&self, field: &str) -> bool {
        self.has(field) || keys_of(field).iter().any(|key| self.has(key))
    }

    /// Where a field of the mechanism stands in the file: its value, else the element's name, else
    /// its header.
    pub(super) fn place(&self, field: &str) -> Range<usize> {
        (self.value(field))
            .or_else(|| keys_of(field).iter().find_map(|key| self.value(key)))
            .or_else(|| self.value("name"))
            .map_or(self.header.clone(), Spanned::span)
    }

    /// Whether nothing was reported on a field before.
    pub(super) fn first(&self, field: &'static str, report: &mut Report) -> bool {
        report.first(self.header.start, field)
    }

    /// Reports an error of a field, at some text of the file.
    pub(super) fn error(
        &self,
        field: &'static str,
        span: Range<usize>,
        message: String,
        help: impl Into<String>,
        report: &mut Report,
    ) -> Reported {
        if self.first(field, report) {
            report.add(span, format!("{}{message}", self.prefix()), help.into());
        }
        Reported
    }

    /// Reports every key that is in none of the sections.
    pub(super) fn check_keys(&self, sections: &[&Section], report: &mut Report) {
        let known = || sections.iter().flat_map(|section| section.keys()).copied();
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if known().any(|key| key == name) {
                continue;
            }
            let help = match closest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known().collect::<Vec<_>>().join(", ")),
            };
            report.add(key.span(), format!("{}unknown key `{name}`", self.prefix()), help);
        }
    }

    /// A value that must be there.
    pub(super) fn required<T>(
        &self,
        key: &'static str,
        help: &str,
        value: Optional<T>,
        report: &mut Report,
    ) -> Result<T, Reported> {
        value?.ok_or_else(|| {
            let place = self.place(key);
            self.error(key, place, format!("`{key}` is missing"), help, report)
        })
    }

    /// Reports a kind that there is none of.
    pub(super) fn unknown_kind(&self, kind: &str, kinds: &[&str], report: &mut Report) -> Reported {
        let help = match closest(kind, kinds.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", kinds.join(", ")),
        };
        let message = format!("there is no {} of kind `{kind}`", self.kind);
        self.error("kind", self.place("kind"), message, help, report)
    }

    pub(super) fn text(&self, key: &'static str, report: &mut Report) -> Optional<&'t str> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(text)),
            _ => Err(self.wrong(key, value, "a string", "write it in quotes", report)),
        }
    }

    pub(super) fn flag(&self, key: &'static str, report: &mut Report) -> Optional<bool> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong(key, value, "true or false", "write true or false, without quotes", report)),
        }
    }

    /// A number, or a list of one.
    pub(super) fn number(&self, key: &'static str, report: &mut Report) -> Optional<f64> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Array(list) if list.len() == 1 => self.float(key, &list[0], report).map(Some),
            _ => self.float(key, value, report).map(Some),
        }
    }

    /// A list of exactly N numbers.
    pub(super) fn vector<const N: usize>(
        &self,
        key: &'static str,
        report: &mut Report,
    ) -> Optional<[f64; N]> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let numbers = self.floats(key, value, report)?;
        match <[f64; N]>::try_from(numbers) {
            Ok(vector) => Ok(Some(vector)),
            Err(numbers) => {
                let message = format!("`{key}` has {}, but takes {N}", entries(numbers.len()));
                Err(self.error(key, value.span(), message, format!("give {N} numbers"), report))
            }
        }
    }

    /// A list of numbers of any length.
    pub(super) fn numbers(&self, key: &'static str, report: &mut Report) -> Optional<Vec<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        self.floats(key, value, report).map(Some)
    }

    /// A list of lists of numbers; a number in place of an inner list is a list of one.
    pub(super) fn rows(&self, key: &'static str, report: &mut Report) -> Optional<Vec<Vec<f64>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let rows = self.list(key, value, "a list", report)?.iter().map(|row| match row.get_ref() {
            DeValue::Array(_) => self.floats(key, row, report),
            _ => self.float(key, row, report).map(|x| vec![x]),
        });
        rows.collect::<Result<_, _>>().map(Some)
    }

    /// One number for every freedom, or a list with one each; a list of one counts as the number.
    pub(super) fn per_freedom(&self, key: &'static str, report: &mut Report) -> Optional<PerFreedom<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let values = match value.get_ref() {
            DeValue::Array(_) => self.floats(key, value, report)?,
            _ => vec![self.float(key, value, report)?],
        };
        Ok(Some(all_or_each(values)))
    }

    /// One pair for every freedom, or a list with one pair each.
    pub(super) fn pairs(&self, key: &'static str, report: &mut Report) -> Optional<PerFreedom<(f64, f64)>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let list = self.list(key, value, "a pair [lower, upper]", report)?;
        let nested = list.first().is_none_or(|first| first.get_ref().is_array());
        let lists: Vec<_> = if nested { list.iter().collect() } else { vec![value] };
        let mut pairs = Vec::with_capacity(lists.len());
        for pair in lists {
            let numbers = self.floats(key, pair, report)?;
            let [lower, upper] = numbers[..] else {
                let message =
                    format!("`{key}` takes pairs of numbers, but here has {}", entries(numbers.len()));
                let help = "[lower, upper], or a list of such pairs, one per freedom";
                return Err(self.error(key, pair.span(), message, help, report));
            };
            pairs.push((lower, upper));
        }
        Ok(Some(all_or_each(pairs)))
    }

    /// The tables under a key, each written `[[key]]`. Entries that are none are reported and left out.
    pub(super) fn tables(
        &self,
        key: &'static str,
        owner: Option<String>,
        report: &mut Report,
    ) -> Result<Vec<Table<'t>>, Reported> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let path = match self.kind {
            "file" => format!("[[{key}]]"),
            kind => format!("[[{kind}.{key}]]"),
        };
        let help = format!("write {path} and its keys below it");
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.wrong(key, value, "a list of tables", &help, report));
        };
        let mut tables = Vec::with_capacity(list.len());
        let mut outcome = Ok(());
        for (i, entry) in list.iter().enumerate() {
            match entry.get_ref() {
                DeValue::Table(entries) => tables
                    .push(Table { owner: owner.clone(), ..Table::new(key, i + 1, entries, entry.span()) }),
                _ => outcome = Err(self.wrong(key, entry, "a list of tables", &help, report)),
            }
        }
        outcome.map(|()| tables)
    }

    /// The one table under a key, written `[key]`.
    pub(super) fn table(&self, key: &'static str, report: &mut Report) -> Optional<Table<'t>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Some(Table::new(key, 1, entries, value.span()))),
            _ => {
                let help = format!("write [{key}] and its keys below it");
                Err(self.wrong(key, value, "a table", &help, report))
            }
        }
    }

    fn floats(
        &self,
        key: &'static str,
        value: &Value<'_>,
        report: &mut Report,
    ) -> Result<Vec<f64>, Reported> {
        let list = self.list(key, value, "a list of numbers", report)?;
        list.iter().map(|entry| self.float(key, entry, report)).collect()
    }

    fn list<'v>(
        &self,
        key: &'static str,
        value: &'v Value<'_>,
        expected: &str,
        report: &mut Report,
    ) -> Result<&'v [Value<'v>], Reported> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wrong(key, value, expected, "write it in brackets, with commas between", report)),
        }
    }

    /// A float, or an integer taken as one.
    pub(super) fn float(
        &self,
        key: &'static str,
        value: &Value<'_>,
        report: &mut Report,
    ) -> Result<f64, Reported> {
        let (number, written) = match value.get_ref() {
            DeValue::Float(float) => (float.as_str().parse().ok(), float.as_str()),
            DeValue::Integer(integer) if integer.radix() == 10 => {
                (integer.as_str().parse().ok(), integer.as_str())
            }
            DeValue::Integer(integer) => {
                let exact = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
                (exact.map(|x| x as f64), integer.as_str())
            }
            DeValue::String(_) => {
                return Err(self.wrong(key, value, "a number", "write it without quotes", report));
            }
            _ => return Err(self.wrong(key, value, "a number", "a number such as 0.5", report)),
        };
        match number {
            Some(x) if f64::is_finite(x) || written.contains("inf") || written.contains("nan") => Ok(x),
            _ => {
                let message = format!("`{key}` is too large a number");
                Err(self.error(key, value.span(), message, "at most about 1.8e308", report))
            }
        }
    }

    /// Reports a value of the wrong type.
    pub(super) fn wrong(
        &self,
        key: &'static str,
        value: &Value<'_>,
        expected: &str,
        help: &str,
        report: &mut Report,
    ) -> Reported {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let whole = self.value(key).is_some_and(|whole| whole.span() == value.span());
        let part = if whole { "" } else { "an entry of " };
        let message = format!("{part}`{key}` must be {expected}, not {found}");
        self.error(key, value.span(), message, help, report)
    }
}

fn all_or_each<T: Copy>(values: Vec<T>) -> PerFreedom<T> {
    match values[..] {
        [value] => PerFreedom::All(value),
        _ => PerFreedom::Each(values),
    }
}

/// A count in words that fit it.
fn entries(count: usize) -> String {
    match count {
        0 => "no entries".into(),
        1 => "1 entry".into(),
        n => format!("{n} entries"),
    }
}

//! Which designs are compared, as an address holds them: whole designs, nothing stored.
//!
//! `a=LINK&b=LINK&baseline=b&show=all`: each link is the query string of a design as the explorer
//! has it, escaped once more. Pins in the browser are kept in the same form.

use super::Page;
use super::parameters::{put, unescape};

/// Maximum number of designs.
pub const MAX_DESIGNS: usize = 4;

/// Maximum number of bytes of a query string that are read.
const MAX_QUERY_BYTES: usize = 65_536;

/// Maximum number of characters of a name that are kept.
const MAX_NAME_LEN: usize = 60;

/// Suffix of a design's letter in the key of its name.
const NAME: &str = ".name";

/// A design that is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its own query string, as the explorer's address has it.
    pub link: String,
    /// Name given by a person; empty for its preset and the differences from it.
    pub name: String,
}

impl Choice {
    /// A design without a name of its own.
    #[must_use]
    pub fn new(link: String) -> Self {
        Self { link, name: String::new() }
    }
}

/// State of the page: designs, baseline and rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The designs, A first.
    pub designs: Vec<Choice>,
    /// The place of the one that the others are measured against.
    pub baseline: usize,
    /// Whether rows in which all designs agree are shown.
    pub all: bool,
}

/// The capital letter of a design's place.
#[must_use]
pub fn letter(place: usize) -> char {
    [b'A', b'B', b'C', b'D'].get(place).map_or('?', |letter| char::from(*letter))
}

/// The key of a design's place.
#[must_use]
pub fn key(place: usize) -> String {
    letter(place).to_ascii_lowercase().to_string()
}

impl Chosen {
    /// Designs by their links, without names; the first one is the baseline.
    #[must_use]
    pub fn of_links<L: Into<String>>(links: impl IntoIterator<Item = L>) -> Self {
        let designs = links.into_iter().map(|link| Choice::new(link.into())).collect();
        Self { designs, ..Self::default() }
    }

    /// The query string, without the question mark; empty without designs.
    #[must_use]
    pub fn query(&self) -> String {
        let mut query = String::new();
        for (place, design) in self.designs.iter().enumerate() {
            let key = key(place);
            put(&mut query, &key, &design.link, b"=,:");
            put(&mut query, &(key + NAME), &design.name, b",:");
        }
        if self.baseline > 0 && self.baseline < self.designs.len() {
            put(&mut query, "baseline", &key(self.baseline), b"");
        }
        if self.all {
            put(&mut query, "show", "all", b"");
        }
        query
    }

    /// The page's address.
    #[must_use]
    pub fn address(&self) -> String {
        match self.query() {
            query if query.is_empty() => Page::Compare.path().to_owned(),
            query => format!("{}?{query}", Page::Compare.path()),
        }
    }

    /// The readable part of a raw query string, and its errors, in sentences.
    ///
    /// Designs aren't opened here: one that can't be is shown as such.
    #[must_use]
    pub fn read(raw: &str) -> (Self, Vec<String>) {
        let raw = raw.strip_prefix('?').unwrap_or(raw);
        if raw.len() > MAX_QUERY_BYTES {
            let wrong =
                format!("The link has {} bytes; at most {MAX_QUERY_BYTES} are read.", raw.len());
            return (Self::default(), vec![wrong]);
        }
        let mut reader = Reader::default();
        for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            reader.take(&unescape(key), &unescape(value));
        }
        reader.finish()
    }

    /// The choice after a design has changed places with the one before it.
    #[must_use]
    pub fn moved_left(&self, place: usize) -> Self {
        let mut moved = self.clone();
        if place > 0 && place < moved.designs.len() {
            moved.designs.swap(place - 1, place);
            moved.baseline = match moved.baseline {
                baseline if baseline == place => place - 1,
                baseline if baseline + 1 == place => place,
                baseline => baseline,
            };
        }
        moved
    }

    /// The choice without a design; without the baseline the first one becomes it.
    #[must_use]
    pub fn without(&self, place: usize) -> Self {
        let mut rest = self.clone();
        if place < rest.designs.len() {
            rest.designs.remove(place);
            rest.baseline = match rest.baseline {
                baseline if baseline == place => 0,
                baseline if baseline > place => baseline - 1,
                baseline => baseline,
            };
        }
        rest
    }

    /// The choice with another baseline.
    #[must_use]
    pub fn against(&self, baseline: usize) -> Self {
        Self { baseline, ..self.clone() }
    }
}

/// Reads a query string pair by pair.
#[derive(Default)]
struct Reader {
    designs: [Option<String>; MAX_DESIGNS],
    names: [String; MAX_DESIGNS],
    baseline: Option<usize>,
    all: bool,
    seen: Vec<String>,
    too_many: bool,
    wrong: Vec<String>,
}

impl Reader {
    fn take(&mut self, key: &str, value: &str) {
        let place = |key: &str| (0..MAX_DESIGNS).find(|place| self::key(*place) == key);
        if self.seen.iter().any(|seen| seen == key) {
            self.wrong.push(format!("“{}” stands in the link more than once.", cut(key)));
            return;
        }
        self.seen.push(key.to_owned());
        match (key, place(key), key.strip_suffix(NAME).and_then(place)) {
            (_, Some(place), _) => {
                self.designs[place] = Some(value.to_owned()).filter(|link| !link.is_empty());
            }
            (_, _, Some(place)) => self.names[place] = named(value),
            ("baseline", ..) => match place(value) {
                Some(place) => self.baseline = Some(place),
                None => self
                    .wrong
                    .push(format!("The baseline is one of a, b, c and d, not “{}”.", cut(value))),
            },
            ("show", ..) if value == "all" => self.all = true,
            ("show", ..) if matches!(value, "" | "differences") => {}
            ("show", ..) => {
                self.wrong.push(format!("“show” is “all” or “differences”, not “{}”.", cut(value)));
            }
            _ if matches!(key.as_bytes(), [b'e'..=b'z']) => self.too_many = true,
            _ => self.wrong.push(format!("There is no “{}” in such a link.", cut(key))),
        }
    }

    fn finish(self) -> (Chosen, Vec<String>) {
        let Self { designs, names, baseline, all, mut wrong, too_many, .. } = self;
        if too_many {
            wrong.push(format!(
                "At most {MAX_DESIGNS} designs are compared; those after D are left out."
            ));
        }
        let mut chosen = Chosen { all, ..Chosen::default() };
        let mut found = baseline.is_none();
        for (place, (link, name)) in designs.into_iter().zip(names).enumerate() {
            let Some(link) = link else { continue };
            if baseline == Some(place) {
                (chosen.baseline, found) = (chosen.designs.len(), true);
            }
            chosen.designs.push(Choice { link, name });
        }
        if let Some(missing) = baseline.filter(|_| !found && !chosen.designs.is_empty()) {
            let letter = letter(missing);
            wrong.push(format!("There is no design {letter} to be the baseline; A is it."));
        }
        (chosen, wrong)
    }
}

/// A name in one line, as long as a bar has room for.
#[must_use]
pub fn named(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_NAME_LEN).collect()
}

/// A text from a link, cut to the length that a message shows.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_says_is_read_again() {
        let link = "v=1&preset=deepseek-v3&transformer.moe_layer_freq=(%5B0%5D*1%2B%5B1%5D*60)";
        let mut chosen =
            Chosen::of_links(["v=1&preset=pangu-ultra-moe-6k", link, "v=1&preset=qwen3-8b"]);
        chosen.designs[1].name = "50 % & more".to_owned();
        (chosen.baseline, chosen.all) = (1, true);
        assert_eq!(Chosen::read(&chosen.query()), (chosen.clone(), vec![]));
        let address = chosen.address();
        assert!(address.starts_with("/compare?a=v=1%26preset=pangu-ultra-moe-6k&b="), "{address}");
        assert!(address.contains("%252B") && !address.contains('+'), "{address}");
        assert_eq!(Chosen::default().address(), "/compare");
    }

    #[test]
    fn what_a_form_sends_is_read_and_empty_fields_are_left_out() {
        let (chosen, wrong) = Chosen::read("a=v%3D1%26preset%3Dqwen3-8b&b=&c=v%3D1&baseline=c");
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!((chosen.designs.len(), chosen.baseline), (2, 1));
        assert_eq!(chosen.designs[0].link, "v=1&preset=qwen3-8b");
    }

    #[test]
    fn what_is_not_understood_is_said_and_the_rest_is_shown() {
        for (query, words) in [
            ("a=v=1&e=v=1", "At most 4 designs"),
            ("a=v=1&baseline=c", "no design C"),
            ("a=v=1&baseline=first", "one of a, b, c and d"),
            ("a=v=1&show=some", "“show”"),
            ("a=v=1&colour=red", "“colour”"),
            ("a=v=1&a=v=1", "more than once"),
        ] {
            let (chosen, wrong) = Chosen::read(query);
            assert_eq!((chosen.designs.len(), wrong.len()), (1, 1), "{query}");
            assert!(wrong[0].contains(words), "{wrong:?}");
        }
        let (chosen, wrong) = Chosen::read(&"a".repeat(MAX_QUERY_BYTES + 1));
        assert!(chosen.designs.is_empty() && wrong.len() == 1);
    }

    #[test]
    fn the_baseline_stays_the_same_design() {
        let mut chosen = Chosen::of_links(["1", "2", "3"]);
        chosen.baseline = 1;
        let baseline = |chosen: &Chosen| chosen.designs[chosen.baseline].link.clone();
        assert_eq!(baseline(&chosen.moved_left(1)), "2");
        assert_eq!(baseline(&chosen.moved_left(2)), "2");
        assert_eq!(baseline(&chosen.without(0)), "2");
        assert_eq!(baseline(&chosen.without(2)), "2");
        assert_eq!(baseline(&chosen.without(1)), "1");
        assert_eq!(baseline(&chosen.against(2)), "3");
        assert_eq!(chosen.moved_left(0), chosen);
    }

    #[test]
    fn a_name_is_a_line() {
        assert_eq!(named("  two \n words "), "two words");
        assert_eq!(named(&"x".repeat(100)).len(), MAX_NAME_LEN);
    }
}

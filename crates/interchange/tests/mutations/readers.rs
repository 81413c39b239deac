//! Every reader of what people send.

use interchange::{Answers, Bundle, Format, read_design, unpacked};
use model::routing::text as loads;

use super::fixtures;

/// A reader, and valid texts for it.
pub(crate) struct Reader {
    /// Name of the format that it reads.
    pub(crate) name: &'static str,
    /// Texts that it reads well.
    pub(crate) fixtures: fn() -> Vec<Vec<u8>>,
    /// Reads, and drops what it made.
    pub(crate) read: fn(&[u8]),
}

const fn reader(name: &'static str, fixtures: fn() -> Vec<Vec<u8>>, read: fn(&[u8])) -> Reader {
    Reader { name, fixtures, read }
}

/// Every reader.
pub(crate) const READERS: [Reader; 16] = [
    reader("config.json", fixtures::models, |bytes| of_format(Format::HuggingFace, bytes)),
    reader("arguments", fixtures::arguments, |bytes| of_format(Format::Megatron, bytes)),
    reader("shell", fixtures::scripts, |bytes| of_format(Format::Mindspeed, bytes)),
    reader("yaml and json", fixtures::yamls, detected),
    reader("toml", fixtures::tomls, detected),
    reader("recipe", fixtures::recipes, detected),
    reader("overrides", fixtures::overrides, detected),
    reader("commands", fixtures::commands, |bytes| of_format(Format::Serving, bytes)),
    reader("design files", fixtures::design_files, |bytes| of_format(Format::Design, bytes)),
    reader("links", fixtures::links, |bytes| drop(model::design::link::decode(&text(bytes)))),
    reader("trainers", fixtures::trainers, files),
    reader("archives", fixtures::archives, archive),
    reader("runs", fixtures::runs, |bytes| drop(validation::runs::read(&text(bytes)))),
    reader("serving runs", fixtures::serving_runs, |bytes| {
        drop(validation::serving::read(&text(bytes)));
    }),
    reader("loads", fixtures::loads, |bytes| drop((loads::read(bytes), loads::read_pairs(bytes)))),
    reader("patterns", fixtures::patterns, |bytes| {
        drop(model::routing::pattern::text::read(bytes, 2));
    }),
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn of_format(format: Format, bytes: &[u8]) {
    drop(read_design(format, &text(bytes)));
}

fn detected(bytes: &[u8]) {
    let text = text(bytes);
    drop(read_design(Format::detect(&text), &text));
}

fn files(bytes: &[u8]) {
    if let Some(Ok(bundle)) = Bundle::of_text(&text(bytes)) {
        drop(bundle.import(None, None, None, &Answers::default()));
    }
}

fn archive(bytes: &[u8]) {
    if let Ok(bundle) = unpacked(bytes) {
        drop(bundle.import(None, None, None, &Answers::default()));
    }
}

//! Names and origin of a design's files.

use model::design::Design;
use model::{MODEL_VERSION, design::link};
use operations::export::Format;
use present::words::name;
use present::words::provenance::Provenance;

use crate::{designs, ground::calendar};

/// Name of a design's file: the design's, a mark of all that differs from the preset, and what it
/// is.
pub(crate) fn file_name(format: Format, design: &Design) -> String {
    let mut name = format!("moescape-{}", name::slug(design));
    if !design.changed().is_empty() {
        let id = designs::id(&link::encode(design), MODEL_VERSION);
        name.push('-');
        name.extend(id.chars().take(6));
    }
    format!("{name}-{}", format.name())
}

/// Provenance of a design that is exported now.
pub(crate) fn provenance(design: &Design) -> Provenance {
    Provenance::of_link(&link::encode(design), calendar::today())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_designs_apart() {
        let name = |query| file_name(Format::Csv, &link::decode(query).unwrap());
        assert_eq!(name("preset=deepseek-v3"), "moescape-deepseek-v3-metrics.csv");
        let (one, other) = (name("preset=deepseek-v3&mbs=2"), name("preset=deepseek-v3&mbs=4"));
        assert!(one != other && one.ends_with("-metrics.csv"), "{one} {other}");
    }
}

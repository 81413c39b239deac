//! The feasible designs of a sweep, one row each, as text: CSV and JSON lines.

use model::file::Tree;
use sweep::{Outcome, Space};

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comma-separated, with a header.
    Csv,
    /// A JSON object in each line.
    JsonLines,
    /// Index and metrics as 64-bit numbers, little-endian: what a Parquet file is made of.
    Binary,
}

impl Format {
    /// What a file of this format begins with.
    pub(crate) fn header(self, space: &Space) -> Vec<u8> {
        match self {
            Self::Csv => {
                let mut names = vec!["index".to_owned()];
                names.extend(sweep::varying(space).map(model::design::KnobId::id));
                let columns = space.spec().columns.iter();
                names.extend(columns.map(|id| id.metric().name.to_owned()));
                format!("{}\n", names.join(",")).into_bytes()
            }
            Self::JsonLines | Self::Binary => vec![],
        }
    }

    /// Adds the row of a feasible design; what isn't feasible has none.
    pub(crate) fn add(self, space: &Space, outcome: &Outcome<'_>, rows: &mut Vec<u8>) {
        let Outcome::Legal { index, values, broken: None, .. } = *outcome else { return };
        match self {
            Self::Csv => {
                let mut cells = vec![index.to_string()];
                let design = space.design(index);
                let knobs = sweep::varying(space).map(|knob| design.get(knob).to_string());
                cells.extend(knobs.map(|text| quoted(&text)));
                cells.extend(values.iter().map(f64::to_string));
                rows.extend_from_slice(cells.join(",").as_bytes());
                rows.push(b'\n');
            }
            Self::JsonLines => {
                let row = Tree::map([
                    ("index", Tree::Unsigned(index)),
                    ("knobs", sweep::knobs(space, index)),
                    ("metrics", metrics(space, values)),
                ]);
                // Every key of a tree is a string, so that nothing can fail.
                rows.extend(serde_json::to_vec(&row).unwrap_or_default());
                rows.push(b'\n');
            }
            Self::Binary => {
                rows.extend_from_slice(&index.to_le_bytes());
                values.iter().for_each(|value| rows.extend_from_slice(&value.to_le_bytes()));
            }
        }
    }
}

fn metrics(space: &Space, values: &[f64]) -> Tree {
    let columns = space.spec().columns.iter().zip(values);
    Tree::map(columns.map(|(id, value)| (id.metric().name, Tree::Real(*value))))
}

/// A cell in quotes where it needs them (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!(quoted("moe_act,mlp"), "\"moe_act,mlp\"");
        assert_eq!(quoted("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("8"), "8");
    }
}

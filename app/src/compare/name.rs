//! What a design is called: its preset, and in words what differs from it.

use model::design::Design;

use crate::format::{self, short_label, spelled};

/// Knobs that are named; further ones are counted.
const MOST_KNOBS: usize = 3;

/// Characters of a value above which only its knob is named.
const LONGEST_VALUE: usize = 16;

/// What differs from the preset: `VPP 1, MBS 4, Method zb_v and 2 more`; `unchanged`.
#[must_use]
pub fn changes(design: &Design) -> String {
    let changed = design.changed();
    let mut words: Vec<String> = changed
        .iter()
        .take(MOST_KNOBS)
        .map(|knob| {
            let value = spelled(&design.get(*knob));
            let is_short = value.chars().count() <= LONGEST_VALUE;
            let value = if is_short { &value } else { "changed" };
            format!("{} {value}", short_label(*knob))
        })
        .collect();
    match changed.len().saturating_sub(MOST_KNOBS) {
        0 if words.is_empty() => return "unchanged".to_owned(),
        0 => {}
        more => words.push(format!("{} more", format::whole(more as u64))),
    }
    format::list(&words)
}

/// Preset and changes in a line.
#[must_use]
pub fn line(design: &Design) -> String {
    format!("{}, {}", design.preset.title, changes(design))
}

#[cfg(test)]
mod tests {
    use model::link;

    use super::*;

    #[test]
    fn a_design_is_called_by_its_preset_and_what_differs() {
        let named = |query: &str| changes(&link::decode(query).expect("a link that decodes"));
        assert_eq!(named(""), "unchanged");
        assert_eq!(named("vpp=1"), "VPP 1");
        assert_eq!(named("vpp=1&mbs=4"), "VPP 1 and MBS 4");
        let many = named("vpp=1&mbs=4&gbs=12288&tp=4&pp=8");
        assert!(many.ends_with(" and 2 more"), "{many}");
        let whole = line(&link::decode("vpp=1").expect("a link that decodes"));
        assert_eq!(whole, "Pangu Ultra MoE on 6,144 NPUs, VPP 1");
    }
}

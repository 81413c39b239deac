//! Layouts beside each other, for people.

use model::design::{Design, link};
use model::search::find::{LayoutFront, LayoutPoint};
use present::format;
use present::page::serving::pools;
use reports::Cores;

use super::super::output::{table, table_below};

/// Layouts of the front that are printed, at most.
const MAX_ROWS: usize = 24;

const HEADER: [&str; 6] = ["layout", "requests", "per device", "per user", "TPOT", "TTFT"];

/// The best within the limits, those that no other beats, and why others can't serve.
pub(super) fn text(design: &Design) -> String {
    let front = LayoutFront::new(design, &Cores::all());
    let tried = format::counted(front.tried as u64, "layout and load", "layouts and loads");
    let mut text = match &front.chosen {
        Some(chosen) => format!(
            "Most tokens within the limits\n{}  link /serving?{}\n",
            table_below(HEADER, "lrrrrr", std::iter::once(row(chosen))),
            link::encode(&chosen.design(design)),
        ),
        None => "No layout is within the limits\n".to_owned(),
    };
    let step = front.best.len().div_ceil(MAX_ROWS).max(1);
    let rows = front.best.iter().rev().step_by(step).map(row);
    text.push_str(&format!(
        "\nLayouts that no other beats, of {tried}; output in tokens/s\n{}",
        table_below(HEADER, "lrrrrr", rows)
    ));
    if !front.skipped.is_empty() {
        let first = &front.skipped[0];
        let skipped = format::counted(front.skipped.len() as u64, "layout", "layouts");
        let rows = [vec![format!("{skipped} can't serve; the first:"), first.reason.clone()]];
        text.push_str(&format!("\n{}", table("ll", &rows)));
    }
    text
}

fn row(it: &LayoutPoint) -> Vec<String> {
    vec![
        pools(it),
        format::whole(it.concurrency),
        format::significant(it.per_device, 4),
        format::significant(it.per_user, 3),
        format::duration(it.tpot).to_string(),
        format::duration(it.ttft).to_string(),
    ]
}

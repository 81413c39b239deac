//! The same design on other accelerators, side by side, and the ranking of strategies on each.

use std::fmt::Write as _;

use model::accelerator::AcceleratorId;
use model::estimate::Estimate;
use model::metric::MetricId;
use model::violation::Nearest;
use model::{MemoryState, Plan};

use super::options::{Options, select};
use crate::insight::bottleneck::bottleneck;
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::transfer::{Column, Keep, Outcome, Ranking, Row, Variant, ranking, rows};
use crate::present::format::{self, short_label, spelled};
use crate::present::html::{design_link, element, escaped};
use crate::present::range::expected;

/// The heading.
pub(super) const TITLE: &str = "This design on other accelerators";

/// A column of numbers: its title and what a cell says.
type Cell = (&'static str, fn(&Plan, &Estimate) -> String);

/// MFU comes first: its cells have bars.
static COLUMNS: [Cell; 8] = [
    ("MFU", |_, it| format::percent(it.metrics.mfu, 1).to_string()),
    ("MFU, range", |plan, it| expected(plan, MetricId::mfu).short(MetricId::mfu, &it.metrics)),
    ("Tokens/s per device", |_, it| {
        format::token_rate(it.metrics.tokens_per_second_per_device).to_string()
    }),
    ("Step time", |_, it| format::duration(it.metrics.step_time).to_string()),
    ("Peak memory", |_, it| {
        let peak = format::memory(it.metrics.memory_peak);
        let limit = format::memory(it.metrics.memory_limit);
        let fits = memory_state::word(it.metrics.memory_state());
        format!("{peak} of {limit}, {fits}")
    }),
    ("Bubble", |_, it| format::percent(it.metrics.bubble_ratio, 1).to_string()),
    ("Exposed communication", |_, it| {
        let share = it.metrics.comm_exposed / it.metrics.step_time;
        format!("{} of the step", format::percent(share, 1))
    }),
    ("Bound by", |_, it| {
        let words = bottleneck(it).verdict;
        words.strip_prefix("Bound by ").unwrap_or(words).to_owned()
    }),
];

const MEMORY: usize = 4;

/// The section.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> String {
    let keep = Keep::named(options.get("keep"));
    let rows = rows(&numbers.plan, keep);
    let mut html = format!(
        "<section class=\"card schedules transfer\" id=\"transfer\" \
         aria-labelledby=\"transfer-title\"><h2 id=\"transfer-title\">{TITLE}</h2>\
         <p class=\"muted\">Model, batch and strategy as they are; nodes, links, memory and peak \
         are each accelerator's own. MFU is against each one's own peak at the same precision. \
         A name opens the design there.</p><div class=\"options\">"
    );
    let items = Keep::ALL.map(|keep| (keep.name().to_owned(), keep.label().to_owned()));
    select(&mut html, ("keep", "What is kept"), keep.name(), items.into_iter());
    html.push_str("</div><div class=\"schedules-table\">");
    table(&mut html, &rows);
    html.push_str("</div>");
    strategies(&mut html, &ranking(&numbers.plan, &rows), &numbers.plan);
    html.push_str("</section>");
    html
}

fn title(accelerator: AcceleratorId) -> &'static str {
    accelerator.row().title
}

fn table(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<table class=\"schedule-table\" role=\"table\">\
         <caption class=\"visually-hidden\">Accelerators compared</caption>\
         <thead role=\"rowgroup\"><tr role=\"row\">",
    );
    for title in ["Accelerator", "Devices"].into_iter().chain(COLUMNS.iter().map(|it| it.0)) {
        let _ = write!(html, "<th scope=\"col\" role=\"columnheader\">{title}</th>");
    }
    html.push_str("</tr></thead><tbody role=\"rowgroup\">");
    let mfu = |row: &Row| match &row.outcome {
        Outcome::Runs(run) => run.1.metrics.mfu,
        Outcome::Refused(..) => 0.0,
    };
    let most = rows.iter().map(mfu).fold(f64::MIN_POSITIVE, f64::max);
    for row in rows {
        let own = if row.is_own { " class=\"own\"" } else { "" };
        let _ = write!(html, "<tr role=\"row\"{own}><th scope=\"row\" role=\"rowheader\">");
        match &row.outcome {
            Outcome::Runs(_) => {
                design_link(html, &row.design, title(row.accelerator));
                let current = if row.is_own { " aria-current=\"true\"" } else { "" };
                let _ = write!(html, " class=\"explain\"{current}>{}</a>", title(row.accelerator));
            }
            Outcome::Refused(..) => html.push_str(title(row.accelerator)),
        }
        if row.is_own {
            html.push_str(" <span class=\"own-mark\">This design</span>");
        }
        html.push_str("</th>");
        match &row.outcome {
            Outcome::Runs(run) => cells(html, row, run, mfu(row) / most),
            Outcome::Refused(message, ways) => refused(html, row, message, ways),
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
}

fn cells(html: &mut String, row: &Row, (plan, estimate): &(Plan, Estimate), share: f64) {
    let devices = format::whole(row.design.cluster.num_devices);
    let _ = write!(html, "<td role=\"cell\" data-label=\"Devices\"><span>{devices}</span></td>");
    for (index, (title, text)) in COLUMNS.iter().enumerate() {
        let state = memory_state::class(estimate.metrics.memory_state());
        let state = if index == MEMORY { state } else { "" };
        let words = escaped(&text(plan, estimate));
        let _ = write!(
            html,
            "<td role=\"cell\" data-label=\"{title}\" class=\"{state}\"><span>{words}</span>"
        );
        if index == 0 {
            let width = (share.clamp(0.0, 1.0) * 100.0).round();
            let _ = write!(
                html,
                "<svg class=\"cell-bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
                 aria-hidden=\"true\"><rect width=\"{width}\" height=\"4\"></rect></svg>"
            );
        }
        html.push_str("</td>");
    }
}

/// Why it can't run there, and the nearest designs that can.
fn refused(html: &mut String, row: &Row, message: &str, ways: &[Nearest]) {
    let (span, message) = (COLUMNS.len() + 1, escaped(message));
    let _ =
        write!(html, "<td role=\"cell\" class=\"refused\" colspan=\"{span}\">Can't run: {message}");
    for way in ways {
        let mut design = row.design.clone();
        if design.set(way.knob, &way.value).is_err() || Plan::new(&design).is_err() {
            continue;
        }
        let change = format!("{} {}", short_label(way.knob), spelled(&way.value));
        html.push(' ');
        design_link(html, &design, &format!("{} with {change}", title(row.accelerator)));
        let _ = write!(html, " class=\"button way\">Use with {}</a>", escaped(&change));
    }
    html.push_str("</td>");
}

/// Does the best strategy transfer? What is best where, then the places of all.
fn strategies(html: &mut String, ranking: &Ranking, plan: &Plan) {
    html.push_str(
        "<h3 id=\"transfer-strategies\">Does the best strategy transfer?</h3>\
         <p class=\"muted\">This design and its neighbours, one step of one knob each. The place \
         of each among those that fit, by tokens per second and device; a place opens the design \
         there.</p>",
    );
    let own = plan.design().cluster.accelerator;
    let home = ranking.columns.iter().find(|column| column.accelerator == own);
    element(html, "p", "", &sentence(ranking, home));
    html.push_str(
        "<div class=\"scroll-x\" role=\"region\" tabindex=\"0\" \
         aria-labelledby=\"transfer-strategies\"><table class=\"place-table\">\
         <caption class=\"visually-hidden\">Places of strategies</caption><thead><tr>\
         <th scope=\"col\">Strategy</th>",
    );
    for column in &ranking.columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", short(column.accelerator));
    }
    html.push_str("</tr></thead><tbody>");
    for (index, variant) in ranking.variants.iter().enumerate() {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escaped(&words(variant)));
        for column in &ranking.columns {
            place(html, column, index, variant);
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
}

fn words(variant: &Variant) -> String {
    variant.change.as_ref().map_or_else(
        || "As it is".to_owned(),
        |(knob, value)| format!("{} {}", short_label(*knob), spelled(value)),
    )
}

/// The name without maker and remarks.
fn short(accelerator: AcceleratorId) -> &'static str {
    let name = title(accelerator);
    let name = name.strip_prefix("NVIDIA ").or_else(|| name.strip_prefix("Ascend "));
    let name = name.unwrap_or(title(accelerator));
    name.split([' ', ',']).next().unwrap_or(name)
}

fn place(html: &mut String, column: &Column, index: usize, variant: &Variant) {
    let Some((design, metrics)) = &column.metrics[index] else {
        html.push_str("<td title=\"Breaks a rule there\"><span class=\"muted\">rule</span></td>");
        return;
    };
    let place = column.place(index);
    let best = if place == Some(1) { " class=\"best\"" } else { "" };
    let mfu = format::percent(metrics.mfu, 1);
    let _ = write!(html, "<td{best}>");
    design_link(html, design, &format!("{} on {}", words(variant), title(column.accelerator)));
    let is_tight = metrics.memory_state() == MemoryState::Tight;
    let unplaced = if is_tight { "tight" } else { "over" };
    let said = place.map_or_else(|| unplaced.to_owned(), |place| place.to_string());
    let fits = memory_state::aside(metrics.memory_state());
    let _ = write!(html, " title=\"MFU {mfu}{fits}\">{said}</a></td>");
}

/// Where the best strategy of the design's own accelerator is the best, too, and what keeping it
/// costs elsewhere.
fn sentence(ranking: &Ranking, home: Option<&Column>) -> String {
    let best = home.and_then(Column::best);
    let (Some(home), Some(best)) = (home, best) else {
        return "Neither this design nor a neighbour fits on its own accelerator.".to_owned();
    };
    let (mut same, mut other, mut none) = (Vec::new(), Vec::new(), Vec::new());
    let others = ranking.columns.iter().filter(|it| it.accelerator != home.accelerator);
    for column in others {
        let name = short(column.accelerator);
        match column.best() {
            None => none.push(name.to_owned()),
            Some(index) if index == best => same.push(name.to_owned()),
            Some(index) => {
                let kept = column.speed(best).zip(column.speed(index));
                let loss = kept.map_or_else(
                    || "the other doesn't fit".to_owned(),
                    |(kept, best)| {
                        format!("keeping it costs {}", format::percent(1.0 - kept / best, 1))
                    },
                );
                other.push(format!("{name} ({}; {loss})", words(&ranking.variants[index])));
            }
        }
    }
    let mut text = format!(
        "On {} the best of {} is: {}.",
        title(home.accelerator),
        format::counted(ranking.variants.len() as u64, "strategy", "strategies"),
        words(&ranking.variants[best]).to_lowercase(),
    );
    for (lead, names) in
        [("It is the best on", same), ("Another one is best on", other), ("None fits on", none)]
    {
        if !names.is_empty() {
            let _ = write!(text, " {lead} {}.", format::list(&names));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(query: &str) -> Numbers {
        let design = model::link::decode(query).expect("a link that decodes");
        Numbers::of(&design).expect("a legal design")
    }

    #[test]
    fn every_accelerator_has_a_row_and_every_cell_its_label() {
        let html = html(&numbers(""), Options("keep=peak"));
        for accelerator in crate::insight::transfer::platforms() {
            assert!(html.contains(&escaped(title(accelerator))), "{}", title(accelerator));
        }
        let table = html.split("</table>").next().unwrap_or_default();
        let cells = table.matches("<td").count();
        assert_eq!(table.matches("data-label").count() + table.matches("colspan").count(), cells);
        assert!(html.contains("<option value=\"peak\" selected=\"\">"), "{html}");
        assert_eq!(html.matches(">This design<").count(), 1);
    }

    #[test]
    fn what_lacks_the_precision_says_so_with_a_way_out() {
        let query = "?cluster.accelerator=h800-sxm-80gb&training.precision=fp8_blockwise";
        let html = html(&numbers(query), Options::default());
        assert!(html.contains("Can't run: ") && html.contains("Use with "), "{html}");
    }
}

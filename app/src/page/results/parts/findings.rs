//! What the whole sweep says: what ruled out the rest, which knobs matter, the best of two knobs.

use std::fmt::Write as _;

use crate::page::results::data::{Data, Dim};
use crate::page::results::heat::Grid;
use crate::page::results::view::View;
use crate::present::format;
use crate::present::html::{element, escaped};

/// What ruled out the rest.
#[must_use]
pub fn reasons(data: &Data) -> String {
    if data.ruled_out.is_empty() {
        let text = if data.counts.done == 0 {
            "Nothing is known so far."
        } else {
            "Nothing: every design keeps everything."
        };
        return format!("<p class=\"muted\">{text}</p>");
    }
    let most = data.ruled_out.iter().map(|(_, designs)| *designs).max().unwrap_or(1).max(1);
    let all: u64 = data.counts.done.max(1);
    let mut html = String::from(
        "<table><thead><tr><th scope=\"col\">Rule or constraint</th><th scope=\"col\">Designs\
         </th><th scope=\"col\">Share</th><td></td></tr></thead><tbody>",
    );
    for (reason, designs) in &data.ruled_out {
        html.push_str("<tr>");
        element(&mut html, "th", "scope=\"row\" class=\"words\"", &format::reason(reason));
        element(&mut html, "td", "", &format::whole(*designs));
        let share = *designs as f64 / all as f64;
        let share = if share < 0.001 {
            "< 0.1 %".to_owned()
        } else {
            format::percent(share, 1).to_string()
        };
        element(&mut html, "td", "", &share);
        html.push_str("<td class=\"bar-cell\">");
        bar_svg(&mut html, *designs as f64 / most as f64);
        html.push_str("</td></tr>");
    }
    html.push_str("</tbody></table>");
    html
}

fn bar_svg(html: &mut String, share: f64) {
    let _ = write!(
        html,
        "<svg class=\"sweep-share\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect width=\"{:.2}\" height=\"8\"/></svg>",
        (share.clamp(0.0, 1.0) * 100.0).max(0.5),
    );
}

/// How far each knob's choice moves the first objective, and what each value gives.
#[must_use]
pub fn importance(data: &Data) -> String {
    let Some(objective) = data.first() else { return String::new() };
    let dim = Dim::Metric(objective.metric);
    let mut axes: Vec<_> = data.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    axes.sort_by(|one, other| {
        other.importance.unwrap_or(-1.0).total_cmp(&one.importance.unwrap_or(-1.0))
    });
    let most = axes.first().and_then(|axis| axis.importance).filter(|most| *most > 0.0);
    let mut html = String::from(
        "<table><thead><tr><th scope=\"col\">Knob</th><th scope=\"col\">Moves the mean by</th>\
         <td></td><th scope=\"col\">Best value</th></tr></thead><tbody>",
    );
    for axis in axes {
        let knob = Dim::Knob(axis.knob);
        html.push_str("<tr>");
        element(&mut html, "th", "scope=\"row\" class=\"words\"", data.label(knob));
        let moves =
            axis.importance.map_or("–".to_owned(), |by| format::percent(by, 1).to_string());
        element(&mut html, "td", "", &moves);
        html.push_str("<td class=\"bar-cell\">");
        if let (Some(by), Some(most)) = (axis.importance, most) {
            bar_svg(&mut html, by / most);
        }
        html.push_str("</td>");
        let best = axis
            .values
            .iter()
            .enumerate()
            .filter_map(|(at, value)| value.best.map(|(best, _)| (at, best)));
        let best = best.reduce(|one, other| {
            let better = if objective.max { other.1 > one.1 } else { other.1 < one.1 };
            if better { other } else { one }
        });
        let text = best.map_or("–".to_owned(), |(at, best)| {
            format!("{} ({})", data.spelled(knob, at as f64), data.spelled(dim, best))
        });
        element(&mut html, "td", "class=\"words\"", &text);
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

/// The heatmap as a table: the best of each cell.
#[must_use]
pub fn heat_table(data: &Data, view: &View) -> String {
    let (Some(objective), Some([level, upright])) = (data.first(), view.heat_knobs(data)) else {
        return "<p class=\"muted\">A heatmap takes two knobs that vary.</p>".to_owned();
    };
    let dim = Dim::Metric(objective.metric);
    let grid = Grid::of(data, [level, upright]);
    if !grid.is_kept {
        let text = "The space is too large to keep these two knobs.";
        return format!("<p class=\"muted\">{text}</p>");
    }
    let mut html = String::from("<table><thead><tr>");
    let corner = format!("{} \\ {}", data.label(Dim::Knob(upright)), data.label(Dim::Knob(level)));
    element(&mut html, "th", "scope=\"col\"", &corner);
    for column in 0..grid.bins[0] {
        element(&mut html, "th", "scope=\"col\"", &grid.label(data, 0, column));
    }
    html.push_str("</tr></thead><tbody>");
    for row in (0..grid.bins[1]).rev() {
        html.push_str("<tr>");
        element(&mut html, "th", "scope=\"row\"", &grid.label(data, 1, row));
        for column in 0..grid.bins[0] {
            html.push_str("<td>");
            match grid.at([column, row]) {
                Some(cell) => {
                    let address = data.design_address(cell.best.1);
                    let attributes = format!("href=\"{}\"", escaped(&address));
                    element(&mut html, "a", &attributes, &data.spelled(dim, cell.best.0));
                }
                None => html.push_str("none"),
            }
            html.push_str("</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

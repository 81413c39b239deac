//! The roofline of the step's operators, and how the time of one of them follows.

use maud::{Markup, html};
use model::answer::roofline::{ExchangePoint, Operator, Roofline, Unit};

use super::Width;
use super::figure::Figure;
use super::options::{Options, select};
use crate::charts::{self, PinnedRoofline, exchange_name, link_words, operator_name};
use crate::format;
use crate::html;
use crate::insight::numbers::Numbers;

/// The heading.
pub(super) const TITLE: &str = "Roofline";

/// The figure: chart, the explanation of one operator, table.
pub(super) fn html(
    numbers: &Numbers,
    beside: Option<&PinnedRoofline<'_>>,
    width: Width,
    options: Options<'_>,
) -> Markup {
    let estimate = &numbers.estimate;
    let roofline = model::roofline(&numbers.plan, &estimate.communication);
    let step = estimate.metrics.step_time.get();
    let usual = roofline.operators.first().map_or_else(String::new, operator_name);
    let names = || {
        let operators = roofline.operators.iter().map(operator_name);
        operators.chain(roofline.exchanges.iter().map(exchange_name))
    };
    let asked = options.get("operator");
    let chosen = names().find(|name| name == asked).unwrap_or(usual);
    Figure {
        id: "roofline",
        title: TITLE,
        caption: &caption(&roofline, step),
        chart: &width.chart(|width| charts::roofline(&roofline, step, &chosen, beside, width)),
        rows: &charts::roofline_table(&roofline, step),
    }
    .html(&explanation(&roofline, step, &chosen, names()))
}

fn caption(roofline: &Roofline, step: f64) -> String {
    let compute = roofline.compute();
    let at_memory = roofline.operators.iter().filter(|operator| {
        let slope = operator.intensity() * roofline.memory.get();
        operator.unit == Unit::Vector || operator.peak.is_some_and(|peak| slope < peak.get())
    });
    let bound: f64 = at_memory.map(|operator| operator.step_seconds().get()).sum();
    format!(
        "{} of the step is compute, {} of that on the vector unit or under the memory roof. Area = \
         share of step time. Click for details. Uneven loads: the mean rank.",
        format::percent(compute.get() / step, 0),
        format::percent(bound / compute.get(), 0),
    )
}

/// The choice of an operator, and how its time follows.
fn explanation(
    roofline: &Roofline,
    step: f64,
    chosen: &str,
    names: impl Iterator<Item = String>,
) -> Markup {
    let operator = roofline.operators.iter().find(|it| operator_name(it) == chosen);
    let exchange = roofline.exchanges.iter().find(|it| exchange_name(it) == chosen);
    let terms = match (operator, exchange) {
        (Some(operator), _) => operator_terms(roofline, operator, step),
        (None, Some(exchange)) => exchange_terms(roofline, exchange, step),
        (None, None) => Markup::default(),
    };
    let names = names.map(|name| (name.clone(), name));
    html! {
        div.operator {
            div.options { (select(("operator", "Operator"), chosen, names)) }
            dl.operator-terms { (terms) }
        }
    }
}

fn term(name: &str, words: &str) -> Markup {
    html! { dt { (name) } dd { (words) } }
}

fn operator_terms(roofline: &Roofline, operator: &Operator, step: f64) -> Markup {
    let seconds = operator.step_seconds();
    let time = format!(
        "{} a call x {} calls = {}, {} of the step",
        format::duration(operator.seconds),
        format::significant(operator.calls, 5),
        format::duration(seconds),
        format::percent(seconds.get() / step, 2),
    );
    let shapes: Vec<String> = operator.products.iter().map(shape).collect();
    let (flops, bytes) = (operator.flops.get(), operator.bytes.get());
    let work = format!("{} operations, {} moved", format::flops(flops), amount(bytes));
    let drawn = format::percent(operator.memory_share(roofline.memory), 0);
    html! {
        (term("Time", &time))
        (term("Formula", operator.formula))
        @if !shapes.is_empty() { (term("Shapes", &shapes.join("; "))) }
        (term("A call", &work))
        @if flops > 0.0 { (reach(roofline, operator)) }
        (term("Memory bandwidth", &format!("{drawn} of {}", rate(roofline.memory.get()))))
        (cite(operator.source))
    }
}

/// Share of its roof that an operator reaches.
fn reach(roofline: &Roofline, operator: &Operator) -> Markup {
    let intensity = format!(
        "{} FLOP/byte; the ridge to the peak is at {}",
        format::significant(operator.intensity(), 3),
        operator.peak.map_or_else(
            || "an unpublished place".to_owned(),
            |peak| format::significant(peak.get() / roofline.memory.get(), 3)
        ),
    );
    let attainable = operator.attainable(roofline.memory);
    let reached = format!(
        "{} of {} TFLOPS attainable, {}",
        tera(operator.achieved().get()),
        tera(attainable.get()),
        format::percent(operator.achieved() / attainable, 0),
    );
    html! { (term("Intensity", &intensity)) (term("Reached", &reached)) }
}

fn exchange_terms(roofline: &Roofline, point: &ExchangePoint, step: f64) -> Markup {
    let row = &point.row;
    let time = format!(
        "{} in a step, hidden or not, {} of it exposed; the step takes {}",
        format::duration(row.time),
        format::duration(row.exposed),
        format::duration(model::ground::units::Seconds::new(step)),
    );
    let sent = format!(
        "{} in a step {}, {} a call at most",
        format::traffic(row.bytes),
        link_words(row.link),
        format::traffic(row.bytes_per_call)
    );
    let intensity = format!(
        "{} operations of the cube a byte sent; compute hides it at the cube's peak from {} on",
        format::significant(point.intensity(), 3),
        format::significant(roofline.cube.get() / point.bandwidth.get(), 3),
    );
    let share = format::percent(point.achieved() / point.attainable(), 0);
    html! {
        (term("Time", &time))
        (term("Sent", &sent))
        (term("Intensity", &intensity))
        (term("Bandwidth", &format!("{share} of {}", rate(point.bandwidth.get()))))
        (cite(model::ground::source::ROOFLINE))
    }
}

fn cite(source: model::ground::source::Source) -> Markup {
    html! {
        dt { "Source" }
        dd { (html::source(source)) }
    }
}

/// `256 x [96, 7,168] x [7,168, 4,096]`.
fn shape(product: &model::answer::roofline::Product) -> String {
    let number = |value: f64| format::significant(value, 6);
    let [m, k, n] = [product.m, product.k, product.n].map(number);
    let count = format::significant(product.count, 4);
    let times = if count == "1" { String::new() } else { format!("{count} x ") };
    format!("{times}[{m}, {k}] x [{k}, {n}]")
}

fn amount(bytes: f64) -> String {
    format::memory(model::ground::units::Bytes::new(bytes)).to_string()
}

fn rate(bytes_per_second: f64) -> String {
    format!("{} GB/s", format::significant(bytes_per_second / 1e9, 4))
}

fn tera(rate: f64) -> String {
    format::significant(rate / 1e12, 3)
}

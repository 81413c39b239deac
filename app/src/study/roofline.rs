//! The roofline of the step's operators, and how the time of one of them follows.

use std::fmt::Write as _;

use model::roofline::{ExchangePoint, Operator, Roofline, Unit};

use super::Width;
use super::figure::Figure;
use super::options::{Options, select};
use crate::charts::{self, exchange_name, link_words, operator_name};
use crate::insight::numbers::Numbers;
use crate::present::format;
use crate::present::html::{element, escaped};

/// The heading.
pub(super) const TITLE: &str = "Operators under their roofs";

/// The figure: chart, the explanation of one operator, table.
pub(super) fn html(numbers: &Numbers, width: Width, options: Options<'_>) -> String {
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
        chart: &width.chart(|width| charts::roofline(&roofline, step, &chosen, width)),
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
        "{} of the step is compute, {} of that on the vector unit or under the roof of memory; \
         a disc is as large as its share. Press one for how its time follows. Uneven loads: the \
         mean rank.",
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
) -> String {
    let mut html = String::from("<div class=\"operator\"><div class=\"options\">");
    select(&mut html, ("operator", "Operator"), chosen, names.map(|name| (name.clone(), name)));
    html.push_str("</div><dl class=\"operator-terms\">");
    let operator = roofline.operators.iter().find(|it| operator_name(it) == chosen);
    let exchange = roofline.exchanges.iter().find(|it| exchange_name(it) == chosen);
    if let Some(operator) = operator {
        operator_terms(&mut html, roofline, operator, step);
    } else if let Some(exchange) = exchange {
        exchange_terms(&mut html, roofline, exchange, step);
    }
    html.push_str("</dl></div>");
    html
}

fn term(html: &mut String, name: &str, words: &str) {
    let _ = write!(html, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(words));
}

fn operator_terms(html: &mut String, roofline: &Roofline, operator: &Operator, step: f64) {
    let seconds = operator.step_seconds();
    term(
        html,
        "Time",
        &format!(
            "{} a call x {} calls = {}, {} of the step",
            format::duration(operator.seconds),
            format::significant(operator.calls, 5),
            format::duration(seconds),
            format::percent(seconds.get() / step, 2),
        ),
    );
    term(html, "Formula", operator.formula);
    if !operator.products.is_empty() {
        let words: Vec<String> = operator.products.iter().map(shape).collect();
        term(html, "Shapes", &words.join("; "));
    }
    let (flops, bytes) = (operator.flops.get(), operator.bytes.get());
    let work = format!("{} operations, {} moved", format::flops(flops), amount(bytes));
    term(html, "A call", &work);
    if flops > 0.0 {
        let words = format!(
            "{} operations a byte; the ridge to the peak is at {}",
            format::significant(operator.intensity(), 3),
            operator.peak.map_or_else(
                || "an unpublished place".to_owned(),
                |peak| format::significant(peak.get() / roofline.memory.get(), 3)
            ),
        );
        term(html, "Intensity", &words);
        let attainable = operator.attainable(roofline.memory);
        let words = format!(
            "{} of {} TFLOPS attainable, {}",
            tera(operator.achieved().get()),
            tera(attainable.get()),
            format::percent(operator.achieved() / attainable, 0),
        );
        term(html, "Reached", &words);
    }
    let drawn = format::percent(operator.memory_share(roofline.memory), 0);
    term(html, "Memory bandwidth", &format!("{drawn} of {}", rate(roofline.memory.get())));
    cite(html, operator.source);
}

fn exchange_terms(html: &mut String, roofline: &Roofline, point: &ExchangePoint, step: f64) {
    let row = &point.row;
    let words = format!(
        "{} in a step, hidden or not, {} of it exposed; the step takes {}",
        format::duration(row.time),
        format::duration(row.exposed),
        format::duration(model::units::Seconds::new(step)),
    );
    term(html, "Time", &words);
    let sent = format!(
        "{} in a step {}, {} a call at most",
        format::traffic(row.bytes),
        link_words(row.link),
        format::traffic(row.bytes_per_call)
    );
    term(html, "Sent", &sent);
    let words = format!(
        "{} operations of the cube a byte sent; compute hides it at the cube's peak from {} on",
        format::significant(point.intensity(), 3),
        format::significant(roofline.cube.get() / point.bandwidth.get(), 3),
    );
    term(html, "Intensity", &words);
    let share = format::percent(point.achieved() / point.attainable(), 0);
    term(html, "Bandwidth", &format!("{share} of {}", rate(point.bandwidth.get())));
    cite(html, model::source::ROOFLINE);
}

fn cite(html: &mut String, source: model::source::Source) {
    html.push_str("<dt>Source</dt><dd>");
    if source.url.is_empty() {
        html.push_str(&escaped(source.title));
    } else {
        let link = format!("href=\"{}\" rel=\"noreferrer\"", escaped(source.url));
        element(html, "a", &link, source.title);
    }
    html.push_str("</dd>");
}

/// `256 x [96, 7,168] x [7,168, 4,096]`.
fn shape(product: &model::roofline::Product) -> String {
    let number = |value: f64| format::significant(value, 6);
    let [m, k, n] = [product.m, product.k, product.n].map(number);
    let count = format::significant(product.count, 4);
    let times = if count == "1" { String::new() } else { format!("{count} x ") };
    format!("{times}[{m}, {k}] x [{k}, {n}]")
}

fn amount(bytes: f64) -> String {
    format::memory(model::units::Bytes::new(bytes)).to_string()
}

fn rate(bytes_per_second: f64) -> String {
    format!("{} GB/s", format::significant(bytes_per_second / 1e9, 4))
}

fn tera(rate: f64) -> String {
    format::significant(rate / 1e12, 3)
}

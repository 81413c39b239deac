//! The page around a search, as the server writes it: the whole question as a form, what is wrong
//! with it, and the place of what is found.

use crate::site::Page;
use std::fmt::Write as _;

use leptos::prelude::*;
use model::design::KnobId;
use model::find::{Goal, Query, Question, Target};
use model::knob::KnobError;
use model::metric::MetricId;

use super::answer::target_text;
use super::request::{ON_SERVER, Request, address, encode};
use crate::panel::find_bar::options::option;
use crate::panel::find_bar::{Start, fields};
use crate::present::format::{self, short_label, spelled, whole};
use crate::present::html::{element, escape_into, escaped};

/// Knobs that a search frees and that can be kept, in groups.
const FREED: [(&str, &[KnobId]); 4] = [
    (
        "Degrees",
        &[
            KnobId::tensor_model_parallel_size,
            KnobId::sequence_parallel,
            KnobId::pipeline_model_parallel_size,
            KnobId::virtual_pipeline_model_parallel_size,
            KnobId::context_parallel_size,
            KnobId::expert_model_parallel_size,
            KnobId::expert_tensor_parallel_size,
            KnobId::micro_batch_size,
        ],
    ),
    (
        "Schedule and overlaps",
        &[
            KnobId::method,
            KnobId::microbatch_group_size_per_vp_stage,
            KnobId::delay_wgrad_compute,
            KnobId::overlap_p2p_comm,
            KnobId::overlap_grad_reduce,
            KnobId::overlap_param_gather,
            KnobId::tp_comm_overlap,
            KnobId::overlap_moe_expert_parallel_comm,
            KnobId::moe_shared_expert_overlap,
            KnobId::moe_alltoall_overlap_comm,
            KnobId::moe_token_dispatcher_type,
            KnobId::moe_hierarchical_alltoallv,
        ],
    ),
    (
        "Memory",
        &[
            KnobId::recompute_granularity,
            KnobId::recompute_method,
            KnobId::recompute_num_layers,
            KnobId::recompute_modules,
            KnobId::swap_modules,
            KnobId::moe_zero_memory,
            KnobId::cpu_offloading_num_layers,
            KnobId::data_parallel_sharding_strategy,
        ],
    ),
    ("Layers", &[KnobId::pipeline_model_parallel_layout, KnobId::noop_layers]),
];

/// What stands below the question.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// Nothing is asked, or it can't be.
    None,
    /// The browser searches, with the worker at this address; none where the server has no site.
    Browser(Option<&'a str>),
    /// What the server found.
    Written(&'a str),
    /// Why the server can't search now.
    Refused(&'a str),
}

/// What stands on the page.
#[must_use]
pub fn html(request: &Request, wrong: &[KnobError], shown: Shown<'_>) -> String {
    let mut html = String::new();
    element(&mut html, "h1", "", Page::Find.title());
    if !request.is_asked {
        html.push_str("<p class=\"muted\">");
        element(&mut html, "span", "", &format!("{}.", Page::Find.about()));
        html.push_str(" <a href=\"/guide/find\">How it searches</a></p>");
    }
    if !wrong.is_empty() {
        mistakes(&mut html, wrong);
    }
    form(&mut html, &request.query);
    match shown {
        Shown::None => {}
        Shown::Browser(worker) => searching(&mut html, request, worker),
        Shown::Written(answer) => {
            place(&mut html, "", |html| {
                let _ = write!(html, "<div id=\"find-answer\">{answer}</div>");
            });
        }
        Shown::Refused(why) => {
            element(&mut html, "p", "class=\"refused\" role=\"alert\"", why);
        }
    }
    html
}

fn mistakes(html: &mut String, wrong: &[KnobError]) {
    html.push_str("<section class=\"find-wrong\" role=\"alert\"><p>");
    escape_into(html, "This can't be searched as it is. These parts couldn't be read.");
    html.push_str("</p><ul>");
    for error in wrong {
        let _ = write!(html, "<li data-rule=\"{}\"><code>", escaped(error.rule));
        escape_into(html, &error.knob);
        html.push_str("</code> ");
        element(html, "span", "", &error.detail);
        html.push('.');
        if !error.nearest.is_empty() {
            html.push_str(" <span>Closest valid value:</span> ");
            element(html, "code", "", &error.nearest.join(", "));
        }
        html.push_str("</li>");
    }
    html.push_str("</ul></section>");
}

fn form(html: &mut String, query: &Query) {
    let sentence = Owner::new().with(|| fields(Start::with(&query.design)).to_html());
    let path = Page::Find.path();
    let _ = write!(
        html,
        "<form class=\"card find-form\" action=\"{path}\" aria-label=\"Find layouts\">\
         <div class=\"find-bar\">{sentence}</div><div class=\"find-asks\">"
    );
    html.push_str("<label>Goal <select name=\"find.goal\" autocomplete=\"off\">");
    for goal in Goal::ALL {
        option(html, goal.name(), goal_text(goal), goal == query.goal);
    }
    html.push_str(
        "</select></label><label>Question <select name=\"find.question\" autocomplete=\"off\">",
    );
    for question in Question::ALL {
        option(html, question.name(), question_text(question), question == query.question);
    }
    html.push_str("</select></label><button class=\"button primary\">Find layouts</button></div>");
    targets(html, query);
    kept(html, query);
    html.push_str("</form>");
}

/// What a goal asks for.
const fn goal_text(goal: Goal) -> &'static str {
    match goal {
        Goal::Fastest => "Fastest",
        Goal::Safest => "Safest: most memory to spare, fewest overlaps",
        Goal::Simplest => "Simplest: fewest settings",
    }
}

/// A question for people.
const fn question_text(question: Question) -> &'static str {
    match question {
        Question::Layout => "Best layout",
        Question::FewestDevices => "Fewest devices",
        Question::LargestBatch => "Largest batch",
        Question::LongestSequence => "Longest sequence",
    }
}

/// The boxes of the form for what has to be reached, and what the model reads in a step.
fn targets(html: &mut String, query: &Query) {
    let batch = [KnobId::global_batch_size, KnobId::seq_length];
    let named: Vec<&Target> = query.targets.iter().filter(|it| box_of(it).is_none()).collect();
    let is_plain = query.targets.is_empty() && query.question != Question::LargestBatch;
    let open = if is_plain { "" } else { " open" };
    let _ = write!(html, "<details{open}><summary>Batch and targets</summary>");
    html.push_str("<div class=\"find-boxes\">");
    for (knob, name, label) in [
        (batch[0], "find.batch", "Sequences in a step"),
        (batch[1], "find.sequence", "Tokens in a sequence"),
    ] {
        let now = query.design.get(knob);
        number(html, name, label, "", &format!("{now}"));
    }
    for (name, label) in [
        ("find.mfu", "MFU at least, %"),
        ("find.spare", "Memory to spare at least, %"),
        ("find.step", "Step time at most, s"),
        ("find.max_devices", "Devices at most"),
    ] {
        let mut values = query.targets.iter().filter_map(box_of);
        let value = values.find(|(known, _)| *known == name).map(|(_, value)| value);
        number(html, name, label, &value.unwrap_or_default(), "any");
    }
    html.push_str("</div>");
    for target in named {
        let (value, text) = (escaped(&target.to_string()), escaped(&target_text(target)));
        let _ = write!(
            html,
            "<label class=\"find-tick\"><input type=\"checkbox\" name=\"find.target\" \
             value=\"{value}\" autocomplete=\"off\" checked> <span>{text}</span></label>"
        );
    }
    html.push_str("</details>");
}

/// The box of the form that a target stands in, and what stands there.
fn box_of(target: &Target) -> Option<(&'static str, String)> {
    let shown = |number: f64| format::significant(number, 6).replace(',', "");
    match *target {
        Target::AtLeast(MetricId::mfu, least) => Some(("find.mfu", shown(least * 100.0))),
        Target::AtMost(MetricId::step_time_seconds, most) => Some(("find.step", shown(most))),
        Target::Spare(least) => Some(("find.spare", shown(least * 100.0))),
        Target::Devices(most) => Some(("find.max_devices", most.to_string())),
        Target::AtLeast(..) | Target::AtMost(..) => None,
    }
}

fn number(html: &mut String, name: &str, label: &str, value: &str, hint: &str) {
    let _ = write!(
        html,
        "<label><span>{label}</span><input type=\"number\" name=\"{name}\" min=\"0\" step=\"any\" \
         inputmode=\"decimal\" autocomplete=\"off\" placeholder=\"{}\" value=\"{}\"></label>",
        escaped(hint),
        escaped(value),
    );
}

/// Ticks for what the search leaves as it is.
fn kept(html: &mut String, query: &Query) {
    let open = if query.keep.is_empty() && !query.any_schedule { "" } else { " open" };
    let _ = write!(html, "<details{open}><summary>What stays as it is</summary>");
    for (group, knobs) in FREED {
        html.push_str("<fieldset class=\"find-keep\">");
        element(html, "legend", "", group);
        let offered = knobs.iter().filter(|knob| knob.knob().not_offered.is_none());
        offered.for_each(|knob| keep(html, query, *knob));
        html.push_str("</fieldset>");
    }
    let listed = FREED.iter().flat_map(|(_, knobs)| *knobs);
    let listed: Vec<KnobId> = listed.copied().collect();
    for knob in query.keep.iter().filter(|knob| !listed.contains(knob)) {
        keep(html, query, knob);
    }
    let checked = if query.any_schedule { " checked" } else { "" };
    let _ = write!(
        html,
        "<label class=\"find-tick\"><input type=\"checkbox\" name=\"find.any_schedule\" \
         value=\"true\" autocomplete=\"off\"{checked}> \
         <span>Also schedules and overlaps that the framework doesn&#39;t ship</span></label>\
         </details>"
    );
}

fn keep(html: &mut String, query: &Query, knob: KnobId) {
    let checked = if query.keep.has(knob) { " checked" } else { "" };
    let id = knob.id();
    let _ = write!(
        html,
        "<label class=\"find-tick\" title=\"{id}\"><input type=\"checkbox\" name=\"find.keep\" \
         value=\"{id}\" autocomplete=\"off\"{checked}> <span>"
    );
    escape_into(html, short_label(knob));
    html.push_str("</span> ");
    element(html, "span", "class=\"muted\"", &spelled(&query.design.get(knob)));
    html.push_str("</label>");
}

/// The place of what is found, with more attributes.
fn place(html: &mut String, attributes: &str, write: impl FnOnce(&mut String)) {
    let _ = write!(
        html,
        "<section id=\"find-result\" class=\"find-result\" aria-label=\"What is found\"\
         {attributes}>"
    );
    write(html);
    html.push_str("</section><p id=\"find-said\" class=\"visually-hidden\" role=\"status\"></p>");
}

/// A search that the browser does; without a script the server does it.
fn searching(html: &mut String, request: &Request, worker: Option<&str>) {
    let there = escaped(&on_server(&request.query));
    let worker = worker.map_or_else(String::new, |worker| {
        let query = escaped(&encode(&request.query));
        format!(" data-worker=\"{}\" data-query=\"{query}\"", escaped(worker))
    });
    let size = whole(request.query.design.cluster.num_devices);
    place(html, &worker, |html| {
        let _ = write!(
            html,
            "<noscript><p><a class=\"button primary\" href=\"{there}\">Search on the server</a>\
             </p></noscript>\
             <div id=\"find-state\" class=\"find-state\" hidden>\
             <progress max=\"1\" value=\"0\" aria-label=\"Search for layouts on {size} devices\">\
             </progress><p data-words=\"\"><span>Loading the model</span></p>\
             <button type=\"button\" class=\"button\">Cancel</button></div>\
             <p id=\"find-cancelled\" class=\"muted\" hidden>Cancelled. What was found by then \
             stays; a search to its end may find better.</p>\
             <p id=\"find-failed\" class=\"refused\" role=\"alert\" hidden>\
             <span>The search could not be run in this browser.</span> \
             <a href=\"{there}\">Search on the server</a></p>\
             <p id=\"find-pinned\" class=\"muted\"></p>\
             <div id=\"find-answer\"></div>"
        );
    });
}

/// The address at which the server searches.
#[must_use]
pub fn on_server(query: &Query) -> String {
    format!("{}&{ON_SERVER}", address(query))
}

#[cfg(test)]
mod tests {
    use model::find::STRATEGY;

    use super::*;

    #[test]
    fn every_knob_that_a_search_frees_can_be_kept() {
        let listed = FREED.iter().flat_map(|(_, knobs)| *knobs).copied();
        let mut listed: Vec<KnobId> = listed.collect();
        let mut freed: Vec<KnobId> = STRATEGY.iter().collect();
        listed.sort_by_key(|knob| knob.id());
        freed.sort_by_key(|knob| knob.id());
        assert_eq!(listed, freed);
    }
}

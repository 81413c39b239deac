//! The question in a line on pages that stay as they are written: a model, a number of devices of a
//! kind, and what a step reads. The explorer has the same line with its design.

use maud::{Markup, PreEscaped, html};
use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, link};

use crate::format::amount;
use crate::site::Page;
use crate::words::name;

use super::lists::{accelerators, id, presets};
use super::{hidden, input, option, select};

/// Tokens of a step of a design, as they are typed.
#[must_use]
pub fn tokens_of_step(design: &Design) -> String {
    let training = &design.training;
    amount::short(training.global_batch_size as f64 * training.seq_length as f64)
}

/// The form in a line.
#[must_use]
pub fn still(design: &Design) -> Markup {
    html! {
        form.find-bar action=(Page::Find.path()) aria-label="Find layouts" {
            (boxes(design))
            button.button.primary { "Find layouts" }
        }
    }
}

/// The boxes of the line. A field that is left as it is changes nothing of the design.
#[must_use]
pub fn boxes(design: &Design) -> Markup {
    let list = |kind| presets(Preset::all().filter(move |it| it.kind == kind), id, "");
    let models = html! {
        (option("", &name::model(design), false))
        optgroup label="Models" { (list(PresetKind::Model)) }
        optgroup label="Published runs" { (list(PresetKind::Recipe)) }
    };
    let devices = input("number").name("find.devices").named("Devices").set("min", "1");
    let devices = devices.set("inputmode", "numeric").flag("required", true);
    let devices = devices.value(&design.cluster.num_devices.to_string());
    let accelerator = select(PreEscaped(accelerators(design.cluster.accelerator)));
    let step = input("text").name("find.step_tokens").set("class", "find-amount");
    let step = step.named("Tokens a step").set("inputmode", "decimal").set("spellcheck", "false");
    html! {
        (hidden("find.from", &link::encode(design)))
        span.find-sentence {
            span { "I have" }
            (select(models).name("find.model").named("Model"))
            a href="/import" { "or a config.json" }
            span { "and" }
            (devices)
            span aria-hidden="true" { "×" }
            (accelerator.name("find.accelerator").named("Accelerator"))
            span { "at" }
            (step.set("placeholder", &tokens_of_step(design)))
            span { "tokens a step" }
        }
    }
}

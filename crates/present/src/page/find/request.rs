//! The question as an address: `v=1&preset=ID&section.knob=value&find.goal=safest`.
//!
//! The current design is in it as in any other link; the question is in parameters of its own, each
//! only if it differs from the usual. The page's forms send fields that change the design, such as
//! `find.devices`; an address with them is a step on the way to one without.

use model::design::{Design, KnobId, link};
use model::ground::decimal;
use model::ground::knob::KnobError;
use model::search::find::{Goal, Query, Question, Target};
use reports::found::Terms;

use crate::format::amount::amount;
use crate::insight::transfer::{Keep, moved};
use crate::site::Page;
use crate::site::parameters::{put, unescape};

/// Prefix of the parameters of the question.
const PREFIX: &str = "find.";

/// Largest relative distance of a rounded number of sequences from the requested tokens.
const MAX_ROUNDING: f64 = 0.05;

/// The number within 5 % that the largest power of two divides: ranks share it out.
fn round(sequences: f64) -> u64 {
    let powers = (0..40).rev().map(|power| (1_u64 << power) as f64);
    let mut multiples = powers.map(|step| (sequences / step).round() * step);
    let near = multiples.find(|near| (near / sequences - 1.0).abs() <= MAX_ROUNDING);
    near.map_or(1, |near| near as u64).max(1)
}

/// Says that the server is to search: for browsers without a script.
pub const ON_SERVER: &str = "find.on=server";

/// A parameter that a form or a link may have, after [`PREFIX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Goal,
    Question,
    Target,
    Keep,
    AnySchedule,
    On,
    /// A whole design, escaped once more.
    From,
    /// A preset whose model is taken.
    Model,
    Accelerator,
    Devices,
    Batch,
    Sequence,
    /// Least MFU in percent.
    Mfu,
    /// Least memory to spare in percent.
    Spare,
    /// Longest step in seconds.
    Step,
    MaxDevices,
    /// Most days of the run.
    Days,
    /// Tokens of the run.
    Tokens,
    /// Tokens of a step.
    StepTokens,
}

impl Field {
    const ALL: [(&'static str, Self); 19] = [
        ("goal", Self::Goal),
        ("question", Self::Question),
        ("target", Self::Target),
        ("keep", Self::Keep),
        ("any_schedule", Self::AnySchedule),
        ("on", Self::On),
        ("from", Self::From),
        ("model", Self::Model),
        ("accelerator", Self::Accelerator),
        ("devices", Self::Devices),
        ("batch", Self::Batch),
        ("sequence", Self::Sequence),
        ("mfu", Self::Mfu),
        ("spare", Self::Spare),
        ("step", Self::Step),
        ("max_devices", Self::MaxDevices),
        ("days", Self::Days),
        ("tokens", Self::Tokens),
        ("step_tokens", Self::StepTokens),
    ];

    /// Whether it may stand in an address more than once.
    fn repeats(self) -> bool {
        matches!(self, Self::Target | Self::Keep)
    }

    /// Whether it changes the design or is another way to write a target.
    fn is_of_form(self) -> bool {
        !matches!(
            self,
            Self::Goal | Self::Question | Self::Target | Self::Keep | Self::AnySchedule | Self::On
        )
    }
}

/// Question in an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Query of the search.
    pub query: Query,
    /// Whether there is a question: the bare address of the page has none.
    pub is_asked: bool,
    /// Whether the server is to search.
    pub on_server: bool,
    /// Whether fields of a form stand in the address; [`address`] is the one without.
    pub is_form: bool,
}

impl Request {
    /// Reads a raw query string as far as possible, with everything that is wrong with it.
    #[must_use]
    pub fn read(raw: &str) -> (Self, Vec<KnobError>) {
        let raw = raw.strip_prefix('?').unwrap_or(raw);
        let pairs = raw.split('&').filter(|pair| !pair.is_empty());
        let (own, rest): (Vec<&str>, Vec<&str>) = pairs.partition(|pair| {
            let key = pair.split('=').next().unwrap_or_default();
            unescape(key).starts_with(PREFIX)
        });
        let mut fields = Fields::default();
        for pair in &own {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            fields.take(&unescape(key), unescape(value));
        }
        let (design, errors) = link::salvage(&rest.join("&"));
        fields.wrong.extend(errors);
        let design = fields.design(design, !rest.is_empty());
        let is_form = fields.found.iter().any(|(field, _)| field.is_of_form());
        let on_server = fields.one(Field::On) == Some("server");
        let query = fields.query(design);
        let request = Self { query, is_asked: !raw.is_empty(), on_server, is_form };
        (request, fields.wrong)
    }
}

/// The query string of what is searched, without the question mark.
#[must_use]
pub fn encode(query: &Query) -> String {
    let mut text = link::encode(&query.design);
    if query.goal != Goal::default() {
        put(&mut text, "find.goal", query.goal.name(), b"");
    }
    if query.question != Question::default() {
        put(&mut text, "find.question", query.question.name(), b"");
    }
    for target in &query.targets {
        put(&mut text, "find.target", &target.to_string(), b"");
    }
    let kept: Vec<String> = query.keep.iter().map(KnobId::id).collect();
    put(&mut text, "find.keep", &kept.join(","), b",");
    if query.any_schedule {
        put(&mut text, "find.any_schedule", "true", b"");
    }
    text
}

/// The page of a search.
#[must_use]
pub fn address(query: &Query) -> String {
    format!("{}?{}", Page::Find.path(), encode(query))
}

/// Query for this number of devices; the design is unchanged if there can't be that many.
#[must_use]
pub fn with_devices(query: &Query, devices: u64) -> Query {
    let mut query = query.clone();
    // The search names only numbers that the knob takes.
    let _ = query.design.set_text(KnobId::num_devices, &devices.to_string());
    query.targets.retain(|target| !matches!(target, Target::Devices(_)));
    query
}

/// Fields of an address as they were read, and what is wrong with them.
#[derive(Default)]
struct Fields {
    found: Vec<(Field, String)>,
    wrong: Vec<KnobError>,
}

impl Fields {
    fn take(&mut self, key: &str, value: String) {
        let name = key.strip_prefix(PREFIX).unwrap_or_default();
        let Some((_, field)) = Field::ALL.into_iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = ["goal", "question", "target", "keep", "any_schedule"].to_vec();
            let detail = format!("there is no `{}` in a search", cut(key));
            let nearest = known.iter().map(|name| format!("{PREFIX}{name}")).collect();
            self.wrong.push(error("unknown_parameter", key, detail, nearest));
            return;
        };
        // A form sends what was left empty, too.
        if value.trim().is_empty() {
            return;
        }
        if !field.repeats() && self.one(field).is_some() {
            let detail = format!("{} stands in the address more than once", cut(key));
            self.wrong.push(error("repeated_parameter", key, detail, Vec::new()));
            return;
        }
        self.found.push((field, value));
    }

    fn one(&self, wanted: Field) -> Option<&str> {
        let mut found = self.found.iter().filter(|(field, _)| *field == wanted);
        found.next().map(|(_, value)| value.as_str())
    }

    fn all(&self, wanted: Field) -> impl Iterator<Item = &str> {
        let found = self.found.iter().filter(move |(field, _)| *field == wanted);
        found.map(|(_, value)| value.as_str())
    }

    /// The current design, changed by the fields of a form.
    fn design(&mut self, linked: Design, is_linked: bool) -> Design {
        let mut design = linked;
        if let Some(from) = self.one(Field::From) {
            let (other, errors) = link::salvage(from);
            self.wrong.extend(errors);
            if is_linked {
                let detail = "a design stands beside `find.from`: an address has one of them";
                self.wrong.push(error("two_designs", "find.from", detail.into(), Vec::new()));
            }
            design = other;
        }
        if let Some(model) = self.one(Field::Model) {
            match Design::from_preset(model) {
                Ok(preset) => design = preset,
                Err(error) => self.wrong.push(error),
            }
        }
        if let Some(name) = self.one(Field::Accelerator) {
            let mut trial = design.clone();
            match trial.set_text(KnobId::accelerator, name) {
                Ok(()) if trial.cluster.accelerator == design.cluster.accelerator => {}
                Ok(()) => design = moved(&design, trial.cluster.accelerator, Keep::Devices),
                Err(error) => self.wrong.push(error),
            }
        }
        for (field, knob) in [
            (Field::Devices, KnobId::num_devices),
            (Field::Batch, KnobId::global_batch_size),
            (Field::Sequence, KnobId::seq_length),
            (Field::Tokens, KnobId::train_tokens),
        ] {
            let set = self.one(field).map(|text| design.set_text(knob, text.trim()));
            self.wrong.extend(set.and_then(Result::err));
        }
        self.set_step(&mut design);
        design
    }

    /// Sets the batch to the sequences per step that come closest to the requested tokens.
    fn set_step(&mut self, design: &mut Design) {
        let Some(text) = self.one(Field::StepTokens) else { return };
        let Some(tokens) = amount(text) else {
            let detail = format!("a step takes tokens such as 4M, not `{}`", cut(text));
            self.wrong.push(error("wrong_value", "find.step_tokens", detail, vec!["4M".into()]));
            return;
        };
        let sequences = round(tokens / design.training.seq_length as f64);
        let set = design.set_text(KnobId::global_batch_size, &sequences.to_string());
        self.wrong.extend(set.err());
    }

    fn query(&mut self, design: Design) -> Query {
        let any_schedule = match self.one(Field::AnySchedule) {
            None | Some("false") => false,
            Some("true" | "on") => true,
            Some(other) => {
                let detail = format!("`any_schedule` is true or false, not `{}`", cut(other));
                let nearest = vec!["true".to_owned(), "false".to_owned()];
                self.wrong.push(error("wrong_value", "find.any_schedule", detail, nearest));
                false
            }
        };
        if let Some(other) = self.one(Field::On).filter(|on| *on != "server") {
            let detail = format!("`on` is `server` or absent, not `{}`", cut(other));
            self.wrong.push(error("wrong_value", "find.on", detail, vec!["server".to_owned()]));
        }
        let mut targets: Vec<String> = self.all(Field::Target).map(str::to_owned).collect();
        targets.extend(self.boxes());
        let keep = self.all(Field::Keep).flat_map(|list| list.split(',')).map(str::to_owned);
        let terms = Terms {
            serve: false,
            goal: self.one(Field::Goal).map(str::to_owned),
            question: self.one(Field::Question).map(str::to_owned),
            keep: keep.collect(),
            targets,
            any_schedule,
        };
        let errors = match terms.query(design.clone()) {
            Ok(query) => return query,
            Err(errors) => errors,
        };
        self.wrong.extend(
            errors.into_iter().map(|error| KnobError { knob: parameter(&error.knob), ..error }),
        );
        // The form shows what is to be mended as far as it is understood.
        let is_asked = |name: &str, asked: &Option<String>| asked.as_deref() == Some(name);
        let goal = Goal::ALL.into_iter().find(|it| is_asked(it.name(), &terms.goal));
        let question = Question::ALL.into_iter().find(|it| is_asked(it.name(), &terms.question));
        Query {
            goal: goal.unwrap_or_default(),
            question: question.unwrap_or_default(),
            any_schedule,
            ..Query::new(design)
        }
    }

    /// The targets in the boxes of a form.
    fn boxes(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        for (field, name, start, of_number) in BOXES {
            let Some(text) = self.one(field) else { continue };
            match decimal::parse(text.trim()).and_then(of_number) {
                Some(number) => found.push(format!("{start}{number}")),
                None => {
                    let detail = format!("`{}` can't be a target of `{name}`", cut(text));
                    self.wrong.push(error("wrong_target", name, detail, Vec::new()));
                }
            }
        }
        found
    }
}

/// The parameter for a place in the terms of a search: `find.target` for `targets.0`.
fn parameter(place: &str) -> String {
    let name = place.split('.').next().unwrap_or_default();
    format!("{PREFIX}{}", name.strip_suffix('s').unwrap_or(name))
}

/// Conversion of a box's number to a target's value; `None` if it is out of range.
type OfNumber = fn(f64) -> Option<f64>;

/// The boxes of the form for targets, and how their targets begin.
const BOXES: [(Field, &str, &str, OfNumber); 5] = [
    (Field::Mfu, "find.mfu", "mfu>=", |percent| {
        (0.0..=100.0).contains(&percent).then(|| share(percent))
    }),
    (Field::Spare, "find.spare", "spare>=", |percent| {
        (0.0..100.0).contains(&percent).then(|| share(percent))
    }),
    (Field::Step, "find.step", "step_time_seconds<=", |seconds| {
        (seconds.is_finite() && seconds > 0.0).then_some(seconds)
    }),
    (Field::MaxDevices, "find.max_devices", "num_devices<=", |count| {
        (1.0..1e9).contains(&count).then_some(count.trunc())
    }),
    (Field::Days, "find.days", "days_to_train<=", |days| {
        (days.is_finite() && days > 0.0).then_some(days)
    }),
];

/// Percentage as a share, to six decimals.
fn share(percent: f64) -> f64 {
    (percent * 1e4).round() / 1e6
}

/// Beginning of a typed text, as long as a message shows.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

fn error(rule: &'static str, name: &str, detail: String, nearest: Vec<String>) -> KnobError {
    KnobError { rule, knob: cut(name), detail, nearest }
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_of_a_step_are_sequences_that_divide_well() {
        let asked = |tokens: &str| {
            let query = format!("find.from=v%3D1%26preset%3Dllama-3-8b&find.step_tokens={tokens}");
            let (request, wrong) = super::Request::read(&query);
            assert!(wrong.is_empty(), "{wrong:?}");
            let training = &request.query.design.training;
            (training.global_batch_size, training.seq_length)
        };
        assert_eq!(asked("4M"), (4_194_304 / asked("").1, asked("").1));
        assert_eq!(asked("4.2%20M").0, asked("4M").0);
        let (_, wrong) = super::Request::read("find.step_tokens=many");
        assert_eq!(wrong.len(), 1);
    }

    use model::ground::choice::Choice;
    use model::metric::MetricId;

    use super::*;

    #[track_caller]
    fn read(raw: &str) -> Request {
        let (request, wrong) = Request::read(raw);
        assert_eq!(wrong, Vec::new(), "{raw}");
        request
    }

    #[test]
    fn what_an_address_asks_is_read_again() {
        let raw = "v=1&preset=glm-4.5&find.goal=safest&find.question=fewest_devices\
                   &find.target=mfu%3E%3D0.4&find.target=spare%3E%3D0.05&find.keep=tp,pp\
                   &find.any_schedule=true";
        let query = read(raw).query;
        assert_eq!((query.goal, query.question), (Goal::Safest, Question::FewestDevices));
        assert_eq!(query.targets, [Target::AtLeast(MetricId::mfu, 0.4), Target::Spare(0.05)]);
        let kept: Vec<KnobId> = query.keep.iter().collect();
        let both = [KnobId::tensor_model_parallel_size, KnobId::pipeline_model_parallel_size];
        assert_eq!(kept, both);
        assert!(query.any_schedule);
        let again = read(&encode(&query));
        assert_eq!(again.query, query);
        assert!(!again.is_form && again.is_asked && !again.on_server);
        assert!(address(&query).starts_with("/find?v=1&preset=glm-4.5&find.goal=safest&"));
    }

    #[test]
    fn an_address_says_only_what_is_unusual() {
        let query = read("v=1&preset=glm-4.5&find.goal=fastest&find.any_schedule=false").query;
        assert_eq!(encode(&query), "v=1&preset=glm-4.5");
        assert!(!read("").is_asked);
    }

    #[test]
    fn fields_of_a_form_make_a_design_and_leave_empty_ones_out() {
        let request = read(
            "find.from=v%3D1%26preset%3Dpangu-ultra-moe-6k&find.model=&find.devices=256\
             &find.accelerator=h100-sxm-80gb&find.batch=1024&find.sequence=8192&find.mfu=40\
             &find.spare=&find.step=&find.max_devices=&find.keep=tp&find.keep=ep",
        );
        assert!(request.is_form);
        let design = &request.query.design;
        assert_eq!(design.preset.id, "pangu-ultra-moe-6k");
        assert_eq!(design.cluster.num_devices, 256);
        assert_eq!(design.cluster.accelerator.name(), "h100-sxm-80gb");
        assert_eq!((design.training.global_batch_size, design.training.seq_length), (1024, 8192));
        assert_eq!(request.query.targets, [Target::AtLeast(MetricId::mfu, 0.4)]);
        assert_eq!(request.query.keep.iter().count(), 2);
        assert!(!read(&encode(&request.query)).is_form);
    }

    /// The usable memory (60.3 GiB) and the node size (8 devices) of the preset's own machine
    /// aren't carried over to the other machine.
    #[test]
    fn another_accelerator_brings_its_own_machine() {
        let raw = "preset=pangu-ultra-moe-6k&cluster.hbm_usable_gib=50&find.accelerator=b200";
        let design = read(raw).query.design;
        assert_eq!(design.cluster.hbm_usable_gib, None);
        let kept = "preset=pangu-ultra-moe-6k&cluster.hbm_usable_gib=50\
                    &find.accelerator=ascend-910b3";
        assert_eq!(read(kept).query.design.cluster.hbm_usable_gib, Some(50.0));
    }

    #[test]
    fn the_largest_batch_needs_the_longest_step() {
        let raw = "v=1&preset=glm-4.5&find.question=largest_batch";
        let (request, wrong) = Request::read(raw);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(wrong[0].knob, "find.target");
        assert_eq!(request.query.question, Question::LargestBatch);
        read(&format!("{raw}&find.step=20"));
    }

    #[test]
    fn a_model_is_a_presets() {
        let request = read("find.from=v%3D1%26vpp%3D1&find.model=llama-3-8b&find.devices=16");
        assert_eq!(request.query.design.preset.id, "llama-3-8b");
        assert_eq!(request.query.design.cluster.num_devices, 16);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let (request, wrong) = Request::read(
            "preset=glm-4.5&no.such=1&find.goal=best&find.question=why&find.target=mfu%3D4\
             &find.keep=tp,nothing&find.any_schedule=maybe&find.colour=red&find.devices=-4\
             &find.accelerator=h1000&find.spare=100&find.goal=safest&find.on=moon\
             &find.model=gpt-9&find.from=v%3D1",
        );
        let names: Vec<&str> = wrong.iter().map(|error| error.knob.as_str()).collect();
        for name in [
            "find.goal",
            "find.question",
            "find.target",
            "find.any_schedule",
            "find.colour",
            "cluster.num_devices",
            "cluster.accelerator",
            "find.spare",
            "find.on",
            "find.from",
            "preset",
        ] {
            assert!(names.contains(&name), "{name}: {wrong:?}");
        }
        assert_eq!(names.iter().filter(|name| **name == "find.goal").count(), 2);
        assert_eq!(wrong.len(), 14, "{wrong:?}");
        assert_eq!(request.query.goal, Goal::Fastest);
    }
}

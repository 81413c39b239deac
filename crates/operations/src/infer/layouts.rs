//! `infer --layouts`: the layouts of a model that serves, beside each other.

use std::collections::BTreeMap;

use model::MODEL_VERSION;
use model::design::{Design, link};
use model::search::find::{LayoutFront, LayoutPoint};
use model::serving::Instances;
use present::format;
use present::page::serving::pools;
use reports::Cores;
use reports::inferred::{Layout, layout};
use reports::typed::{DesignFile, Written};
use schemars::JsonSchema;

use crate::caller::Caller;
use crate::columns::{table, table_below};
use crate::input::DesignInput;
use crate::names::Names;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::Refusal;

/// Maximum number of layouts of the front that are printed.
const MAX_ROWS: usize = 24;

const HEADER: [&str; 6] = ["layout", "requests", "per device", "per user", "TPOT", "TTFT"];

/// Layouts of a design's devices: a form of `infer` with an answer of its own.
pub struct Layouts;

/// Layouts of a design.
pub struct Answer {
    design: Design,
    front: LayoutFront,
}

reports::said! {
    /// A layout at a load.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct LaidOut {
        decode: Layout,
        /// Null where instances prefill and decode.
        prefill: Option<Layout>,
        /// Requests at once in an instance.
        concurrency: u64,
        output_tokens_per_second_per_device: f64,
        tokens_per_second_per_user: f64,
        ttft_seconds: f64,
        tpot_seconds: f64,
        /// Whether both times are within the design's limits.
        within_limits: bool,
        /// The query of a link that opens the design.
        link: String,
    }

    /// Why layouts can't serve.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct Skipped {
        reason: String,
        /// How many.
        layouts: u64,
    }

    /// The object of `moescape infer --layouts --json`.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "Layouts")]
    pub struct LayoutsOfDesign {
        design: DesignFile,
        /// The best within the limits; null where none is.
        chosen: Option<LaidOut>,
        /// Those that no other beats.
        front: Vec<LaidOut>,
        /// Those that can't serve, the most frequent reason first.
        skipped: Vec<Skipped>,
        /// Layouts and loads that were tried.
        tried: usize,
        model_version: &'static str,
    }
}

impl Operation for Layouts {
    const NAME: &'static str = "infer/layouts";
    const SUMMARY: &'static str = "Lay a model that serves out on its devices";
    const TITLE: &'static str = "Layouts that serve";
    const DESCRIPTION: &'static str = "Lays a model that serves out in every way that its devices \
        allow: the best within the limits, those that no other beats, and why others can't serve.";
    type Input = DesignInput;
    type Answer = Answer;
    type Output = LayoutsOfDesign;
    type Brief = Data<LayoutsOfDesign>;

    fn run(input: DesignInput, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, _) = input.read(Names::Serving, caller)?;
        let front = LayoutFront::new(&design, &Cores::all());
        Ok(Answer { design, front })
    }

    fn output(answer: &Answer) -> Written<LayoutsOfDesign> {
        Written::of(answer.data())
    }

    fn text(answer: &Answer) -> String {
        answer.table()
    }

    fn brief(answer: &Answer, _: &dyn Caller) -> (Data<LayoutsOfDesign>, String) {
        (Data(answer.data()), answer.table())
    }
}

impl Answer {
    fn data(&self) -> LayoutsOfDesign {
        let one = |it: &LayoutPoint| point(&self.design, it);
        LayoutsOfDesign {
            design: DesignFile::of(&self.design),
            chosen: self.front.chosen.as_ref().map(one),
            front: self.front.best.iter().map(one).collect(),
            skipped: skipped(&self.front),
            tried: self.front.tried,
            model_version: MODEL_VERSION,
        }
    }

    /// The best within the limits, those that no other beats, and why others can't serve.
    fn table(&self) -> String {
        let front = &self.front;
        let tried = format::counted(front.tried as u64, "layout and load", "layouts and loads");
        let mut text = match &front.chosen {
            Some(chosen) => format!(
                "Most tokens within the limits\n{}  link /serving?{}\n",
                table_below(HEADER, "lrrrrr", std::iter::once(row(chosen))),
                link::encode(&chosen.design(&self.design)),
            ),
            None => "No layout is within the limits\n".to_owned(),
        };
        let step = front.best.len().div_ceil(MAX_ROWS).max(1);
        let rows = front.best.iter().rev().step_by(step).map(row);
        text.push_str(&format!(
            "\nLayouts that no other beats, of {tried}; output in tokens/s\n{}",
            table_below(HEADER, "lrrrrr", rows)
        ));
        if let Some(first) = front.skipped.first() {
            let skipped = format::counted(front.skipped.len() as u64, "layout", "layouts");
            let rows = [vec![format!("{skipped} can't serve; the first:"), first.reason.clone()]];
            text.push_str(&format!("\n{}", table("ll", &rows)));
        }
        text
    }
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

fn point(design: &Design, it: &LayoutPoint) -> LaidOut {
    let instances = |it: Instances| layout(it.layout, it.count);
    LaidOut {
        decode: instances(it.decode),
        prefill: it.prefill.map(instances),
        concurrency: it.concurrency,
        output_tokens_per_second_per_device: it.per_device,
        tokens_per_second_per_user: it.per_user,
        ttft_seconds: it.ttft.get(),
        tpot_seconds: it.tpot.get(),
        within_limits: it.is_good,
        link: link::encode(&it.design(design)),
    }
}

/// Why layouts can't serve, the most frequent reason first.
fn skipped(front: &LayoutFront) -> Vec<Skipped> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for skipped in &front.skipped {
        *reasons.entry(&skipped.reason).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let one = |(reason, layouts): (&str, u64)| Skipped { reason: reason.to_owned(), layouts };
    reasons.into_iter().map(one).collect()
}

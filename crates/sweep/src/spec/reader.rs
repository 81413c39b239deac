//! Reads a spec strictly and to its end: everything that is wrong is reported at once.

use model::design::file::{Tree, json};
use model::design::{Design, KnobId};
use model::ground::knob::{KnobError, Section, Value};
use model::ground::text::shorten;
use model::metric::{MetricId, Regime};

use super::aims::{self, Aims, base, default_design};
use super::axis::{self, Entry};
use super::constraint::{constraint, contradictions, metric, objective, strangers};
use super::error::{below, error, kind};
use super::keys::{MAX_NAME_LEN, MAX_TEXTS, RESOLUTION, SAMPLE, SamplingKeys, SpecKeys, TOP};
use super::sweep::{
    Axis, Constraint, Goal, Objective, SCHEMA, Sampling, Spec, Subject, Tie, TieRule, regime_of,
};

/// Errors after which no more are looked for.
const MAX_ERRORS: usize = 100;

/// Metrics that are kept beside the objectives' unless the spec names others.
const USUAL_COLUMNS: [MetricId; 6] = [
    MetricId::mfu,
    MetricId::step_time_seconds,
    MetricId::tokens_per_second_per_device,
    MetricId::memory_peak_bytes,
    MetricId::bubble_ratio,
    MetricId::comm_exposed_seconds,
];

/// Columns of serving that a sweep has unless it names its own.
const USUAL_COLUMNS_OF_SERVING: [MetricId; 6] = [
    MetricId::output_tokens_per_second_per_device,
    MetricId::tokens_per_second_per_user,
    MetricId::tpot_seconds,
    MetricId::ttft_seconds,
    MetricId::kv_limited_concurrency,
    MetricId::weights_bytes,
];

impl Spec {
    /// The spec of a TOML text.
    ///
    /// # Errors
    /// A syntax error, or everything that is wrong with the spec.
    pub fn from_toml(text: &str) -> Result<Self, Vec<KnobError>> {
        let tree: Tree = toml::from_str(text).map_err(|error| {
            vec![KnobError {
                rule: "not_toml",
                knob: String::new(),
                detail: format!("the file is no TOML: {}", error.to_string().trim_end()),
                nearest: vec![],
            }]
        })?;
        Self::from_tree(&tree)
    }

    /// The spec of a JSON text.
    ///
    /// # Errors
    /// A syntax error, or everything that is wrong with the spec.
    pub fn from_json(text: &str) -> Result<Self, Vec<KnobError>> {
        Self::from_tree(&json::parse(text).map_err(|error| vec![error])?)
    }

    /// The spec of a tree.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_tree(tree: &Tree) -> Result<Self, Vec<KnobError>> {
        read(tree)
    }
}

/// Reads a spec.
fn read(tree: &Tree) -> Result<Spec, Vec<KnobError>> {
    let Tree::Map(entries) = tree else {
        let detail = format!("a sweep is a map of settings, not {}", kind(tree));
        return Err(vec![error("wrong_type", "", detail)]);
    };
    let keys = SpecKeys::of(tree);
    let mut errors = head_errors(entries, keys.schema);
    let base = base(keys.design).unwrap_or_else(|wrong| {
        errors.extend(wrong.into_iter().map(|error| below("design", error)));
        default_design()
    });
    let mut reader = Reader { base, axes: vec![], ties: vec![], errors };
    let before = reader.errors.len();
    reader.space(keys.space);
    reader.widen_divisors();
    reader.check_ties();
    let wrong = reader.errors.split_off(before);
    reader.errors.extend(wrong.into_iter().map(|error| below("space", error)));
    let objectives = reader.objectives(keys.objectives);
    let regime = regime_of(&objectives);
    let constraints = reader.constraints(keys.constraints, regime);
    let columns = reader.columns(keys.columns, &objectives, regime);
    reader.check_regime(regime, &objectives, &constraints, &columns);
    let sampling = reader.sampling(keys.sampling);
    let top = reader.count("top", keys.top, TOP);
    let sample = reader.count("sample", keys.sample, SAMPLE);
    let resolution = reader.resolution(keys.resolution);
    let name = reader.name(keys.name);
    let aims = aims::aims(&keys, &reader.base, &reader.errors);
    let Aims { baseline, find, wrong } = aims;
    reader.errors.extend(wrong);
    let asked =
        aims::Selection { objectives: &objectives, constraints: &constraints, columns: &columns };
    let lacking = aims::unknown(asked, &reader.base, &reader.axes);
    reader.errors.extend(lacking);
    if let Some(strategy) = &find {
        let moved = reader.axes.iter().map(|axis| axis.knob);
        let moved = moved.chain(reader.ties.iter().map(|tie| tie.knob));
        reader.errors.extend(aims::swept_strategy(strategy, moved));
    }
    let Reader { base, mut axes, ties, mut errors } = reader;
    if !errors.is_empty() {
        errors.truncate(MAX_ERRORS);
        return Err(errors);
    }
    axes.sort_by_key(|axis| axis.knob);
    let source = sorted(tree);
    Ok(Spec {
        name,
        base,
        axes,
        ties,
        constraints,
        objectives,
        columns,
        sampling,
        top,
        sample,
        resolution,
        baseline,
        find,
        source,
    })
}

/// The tree with keys in alphabetical order: TOML's have no order, and equal specs are one sweep.
fn sorted(tree: &Tree) -> Tree {
    match tree {
        Tree::Map(entries) => {
            let sorted = entries.iter().map(|(key, value)| (key.clone(), sorted(value)));
            let mut entries: Vec<_> = sorted.collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Tree::Map(entries)
        }
        Tree::List(_)
        | Tree::Null
        | Tree::Flag(_)
        | Tree::Unsigned(_)
        | Tree::Negative(_)
        | Tree::Real(_)
        | Tree::Text(_) => tree.clone(),
    }
}

/// Errors of a spec's keys.
fn head_errors(entries: &[(String, Tree)], schema: Option<&Tree>) -> Vec<KnobError> {
    let mut errors = Vec::new();
    for (index, (key, _)) in entries.iter().enumerate() {
        if entries.iter().take(index).any(|(earlier, _)| earlier == key) {
            let detail = format!("`{}` stands in the spec twice", shorten(key));
            errors.push(error("repeated_key", key, detail));
        } else if !SpecKeys::NAMES.contains(&key.as_str()) {
            let detail = format!("a sweep has no `{}`", shorten(key));
            let mut names = SpecKeys::NAMES.iter();
            let nearest = names.find(|known| known.starts_with(key.get(..3).unwrap_or(key)));
            let nearest = nearest.map(|known| (*known).to_owned()).into_iter().collect();
            errors.push(KnobError { nearest, ..error("unknown_key", key, detail) });
        }
        if errors.len() >= MAX_ERRORS {
            break;
        }
    }
    let (rule, detail) = match schema {
        Some(Tree::Unsigned(SCHEMA)) => return errors,
        Some(_) => ("unsupported_schema", format!("this version reads schema {SCHEMA}")),
        None => ("missing_schema", format!("the spec lacks `schema`: {SCHEMA}")),
    };
    errors.push(error(rule, "schema", detail));
    errors
}

/// A spec being read.
struct Reader {
    base: Design,
    axes: Vec<Axis>,
    ties: Vec<Tie>,
    errors: Vec<KnobError>,
}

impl Reader {
    fn wrong(&mut self, rule: &'static str, place: &str, detail: impl Into<String>) {
        self.errors.push(error(rule, place, detail));
    }

    /// The knobs that vary.
    fn space(&mut self, tree: Option<&Tree>) {
        let entries = match tree {
            Some(Tree::Map(entries)) if !entries.is_empty() => entries,
            Some(Tree::Map(_)) | None => {
                let detail = "a sweep varies at least one knob: `space` names it with its values";
                return self.wrong("empty_space", "space", detail);
            }
            Some(other) => {
                let detail = format!("space takes a map of knobs, not {}", kind(other));
                return self.wrong("wrong_type", "space", detail);
            }
        };
        for (key, value) in entries {
            let section = Section::ALL.into_iter().find(|section| section.name() == key);
            match (section, value) {
                (Some(section), Tree::Map(knobs)) => {
                    for (name, value) in knobs {
                        self.knob(&format!("{}.{name}", section.name()), name, value);
                    }
                }
                _ => self.knob(key, key.rsplit('.').next().unwrap_or(key), value),
            }
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
        }
        if self.axes.len() > Spec::MAX_AXES {
            let detail = format!("{} knobs vary, at most {} can", self.axes.len(), Spec::MAX_AXES);
            self.wrong("too_many_axes", "space", detail);
        }
    }

    fn knob(&mut self, id: &str, name: &str, value: &Tree) {
        let knob = match KnobId::find(id) {
            Ok(knob) => knob,
            // A short name in its section, such as [space.parallel] tp.
            Err(unknown) => match KnobId::find(name) {
                Ok(knob) if id.starts_with(knob.knob().section.name()) => knob,
                _ => return self.errors.push(unknown),
            },
        };
        let axes = self.axes.iter().map(|axis| axis.knob);
        if axes.chain(self.ties.iter().map(|tie| tie.knob)).any(|known| known == knob) {
            let detail = format!("{} stands in `space` twice", knob.id());
            return self.wrong("repeated_knob", &knob.id(), detail);
        }
        match axis::entry(knob, value, &self.base) {
            Ok(Entry::Axis(axis)) => self.axes.push(axis),
            Ok(Entry::Tie(tie)) => self.ties.push(tie),
            Err(wrong) => self.errors.extend(wrong),
        }
    }

    /// The whole numbers that a knob takes.
    fn numbers(&self, knob: KnobId) -> Vec<u64> {
        match self.axes.iter().find(|axis| axis.knob == knob) {
            Some(axis) => axis.values.iter().filter_map(Value::as_integer).collect(),
            None => self.base.get(knob).as_integer().into_iter().collect(),
        }
    }

    /// Divisors of a knob that varies are the divisors of any of its values.
    fn widen_divisors(&mut self) {
        for index in 0..self.axes.len() {
            let (knob, divides) = (self.axes[index].knob, self.axes[index].divides);
            let Some(of) = divides else { continue };
            if of == knob {
                let detail = format!("{} takes its own divisors", knob.id());
                self.wrong("tie_cycle", &knob.id(), detail);
                continue;
            }
            if self.ties.iter().any(|tie| tie.knob == of) {
                let detail = format!("{}: {} is tied itself", knob.id(), of.id());
                self.wrong("wrong_tie", &knob.id(), detail);
                continue;
            }
            if !self.axes.iter().any(|axis| axis.knob == of) {
                // A number that doesn't vary: every value divides it already.
                self.axes[index].divides = None;
                continue;
            }
            match axis::divisors_within(knob, &self.numbers(of)) {
                Ok(values) => self.axes[index].values = values,
                Err(wrong) => self.errors.push(wrong),
            }
        }
    }

    /// Puts ties behind what they follow from, and finds those that follow from themselves.
    fn check_ties(&mut self) {
        let mut sorted: Vec<Tie> = Vec::new();
        let mut waiting = std::mem::take(&mut self.ties);
        while !waiting.is_empty() {
            let known: Vec<KnobId> = waiting.iter().map(|tie| tie.knob).collect();
            let free = |tie: &Tie| !sources(tie).iter().any(|of| known.contains(of));
            let (ready, rest): (Vec<Tie>, Vec<Tie>) = waiting.iter().copied().partition(free);
            if ready.is_empty() {
                let names: Vec<String> = rest.iter().map(|tie| tie.knob.id()).collect();
                let detail = format!("these knobs follow from each other: {}", names.join(", "));
                self.wrong("tie_cycle", "space", detail);
                break;
            }
            sorted.extend(ready);
            waiting = rest;
        }
        self.ties = sorted;
    }

    fn texts<'a>(&mut self, place: &str, tree: &'a Tree) -> Vec<&'a str> {
        let Tree::List(items) = tree else {
            let detail = format!("{place} takes a list of strings, not {}", kind(tree));
            self.wrong("wrong_type", place, detail);
            return vec![];
        };
        if items.len() > MAX_TEXTS {
            self.wrong("too_many", place, format!("{place} has {} entries", items.len()));
            return vec![];
        }
        let texts: Vec<&str> = items.iter().filter_map(Tree::as_text).collect();
        if texts.len() < items.len() {
            self.wrong("wrong_type", place, format!("{place} takes strings"));
        }
        texts
    }

    fn constraints(&mut self, tree: Option<&Tree>, regime: Regime) -> Vec<Constraint> {
        let texts = match (tree, regime) {
            (Some(tree), _) => self.texts("constraints", tree),
            // What has no room breaks a rule of serving.
            (None, Regime::Serving) => vec![],
            (None, Regime::Model | Regime::Training | Regime::Budget | Regime::Quality) => {
                vec!["fits"]
            }
        };
        let (mut read, base) = (Vec::new(), self.base.clone());
        for text in texts {
            match constraint(text, &base) {
                Ok(constraint) => read.push(constraint),
                Err(wrong) => self.errors.push(wrong),
            }
        }
        self.errors.extend(contradictions(&read));
        for constraint in &read {
            self.check_reachable(constraint);
        }
        read
    }

    /// A constraint on an axis must leave a value of it.
    fn check_reachable(&mut self, constraint: &Constraint) {
        let Subject::Knob(knob) = constraint.subject else { return };
        if self.ties.iter().any(|tie| tie.knob == knob) {
            return;
        }
        let values = match self.axes.iter().find(|axis| axis.knob == knob) {
            Some(axis) => axis.values.clone(),
            None => vec![self.base.get(knob)],
        };
        let numbers = values.iter().filter_map(number);
        if !numbers.into_iter().any(|value| constraint.holds(value)) {
            let detail = format!("no value of {} keeps `{}`", knob.id(), constraint.text);
            self.wrong("contradictory_constraints", "constraints", detail);
        }
    }

    fn objectives(&mut self, tree: Option<&Tree>) -> Vec<Objective> {
        let usual = vec![
            Objective { metric: MetricId::mfu, goal: Goal::Max },
            Objective { metric: MetricId::memory_peak_bytes, goal: Goal::Min },
        ];
        let Some(tree) = tree else { return usual };
        let mut read: Vec<Objective> = Vec::new();
        let before = self.errors.len();
        for text in self.texts("objectives", tree) {
            match objective(text) {
                Ok(one) if read.iter().any(|known| known.metric == one.metric) => {
                    let detail = format!("{} is an objective twice", one.metric.metric().name);
                    self.wrong("repeated_objective", "objectives", detail);
                }
                Ok(one) => read.push(one),
                Err(wrong) => self.errors.push(wrong),
            }
        }
        let counts = 1..=Spec::MAX_OBJECTIVES;
        if !counts.contains(&read.len()) && self.errors.len() == before {
            let detail = format!("a sweep has 1 to {} objectives", Spec::MAX_OBJECTIVES);
            self.wrong("wrong_objective", "objectives", detail);
        }
        read
    }

    /// Every metric must be of the sweep's regime.
    fn check_regime(
        &mut self,
        regime: Regime,
        objectives: &[Objective],
        constraints: &[Constraint],
        columns: &[MetricId],
    ) {
        let own = objectives.iter().map(|one| ("objectives", &one.metric));
        let kept = constraints.iter().filter_map(|constraint| match &constraint.subject {
            Subject::Metric(metric) => Some(("constraints", metric)),
            Subject::Knob(_) => None,
        });
        // Metrics of objectives are the first columns.
        let more = columns.iter().skip(objectives.len()).map(|metric| ("columns", metric));
        self.errors.extend(strangers(regime, own.chain(kept).chain(more)));
    }

    fn columns(
        &mut self,
        tree: Option<&Tree>,
        objectives: &[Objective],
        regime: Regime,
    ) -> Vec<MetricId> {
        let mut columns: Vec<MetricId> = objectives.iter().map(|one| one.metric).collect();
        let more = match tree {
            None if regime == Regime::Serving => USUAL_COLUMNS_OF_SERVING.to_vec(),
            None => USUAL_COLUMNS.to_vec(),
            Some(tree) => {
                let mut more = Vec::new();
                for name in self.texts("columns", tree) {
                    match metric(name, "columns") {
                        Ok(metric) => more.push(metric),
                        Err(wrong) => self.errors.push(wrong),
                    }
                }
                more
            }
        };
        more.into_iter().for_each(|id| {
            if !columns.contains(&id) {
                columns.push(id);
            }
        });
        columns
    }

    fn sampling(&mut self, tree: Option<&Tree>) -> Sampling {
        let Some(tree) = tree else { return Sampling::Grid };
        if let Tree::Map(entries) = tree {
            for (key, _) in entries {
                if !SamplingKeys::NAMES.contains(&key.as_str()) {
                    let detail = format!("sampling has no `{}`", shorten(key));
                    self.wrong("unknown_key", &format!("sampling.{key}"), detail);
                }
            }
        }
        let keys = SamplingKeys::of(tree);
        let method = keys.method.and_then(Tree::as_text);
        let seed = self.count("sampling.seed", keys.seed, [0, u64::MAX]);
        match method {
            Some("grid") => return Sampling::Grid,
            Some("random" | "lhs" | "refine") if keys.count.is_some() => {}
            Some("random" | "lhs" | "refine") => {
                self.wrong("missing_count", "sampling.count", "sampling lacks a `count`");
                return Sampling::Grid;
            }
            _ => {
                let detail = "method is \"grid\", \"random\", \"lhs\" or \"refine\"";
                self.wrong("unknown_method", "sampling.method", detail);
                return Sampling::Grid;
            }
        }
        let refines = method == Some("refine");
        let most = if refines { Spec::MAX_REFINED } else { Spec::MAX_POINTS };
        let count = self.count("sampling.count", keys.count, [1, most]);
        if count == 0 {
            self.wrong("out_of_range", "sampling.count", "a sample has at least one design");
        }
        match method {
            Some("lhs") => Sampling::LatinHypercube { count, seed },
            Some("refine") => Sampling::Refine { count, seed },
            _ => Sampling::Random { count, seed },
        }
    }

    /// A whole number with a default, from 0 to `most`.
    fn count(&mut self, place: &str, tree: Option<&Tree>, [usual, most]: [u64; 2]) -> u64 {
        let Some(tree) = tree else { return usual };
        match axis::whole(place, place, tree) {
            Ok(number) if number <= most => number,
            Ok(number) => {
                self.wrong(
                    "out_of_range",
                    place,
                    format!("{place} is at most {most}, not {number}"),
                );
                usual
            }
            Err(wrong) => {
                self.errors.push(wrong);
                usual
            }
        }
    }

    fn resolution(&mut self, tree: Option<&Tree>) -> f64 {
        let [usual, most] = RESOLUTION;
        let Some(tree) = tree else { return usual };
        match axis::real("resolution", "resolution", tree) {
            Ok(share) if (0.0..=most).contains(&share) => share,
            Ok(_) => {
                let detail = format!("resolution is a share from 0 to {most}");
                self.wrong("out_of_range", "resolution", detail);
                usual
            }
            Err(wrong) => {
                self.errors.push(wrong);
                usual
            }
        }
    }

    fn name(&mut self, tree: Option<&Tree>) -> String {
        match tree {
            None => String::new(),
            Some(Tree::Text(name)) if name.chars().count() <= MAX_NAME_LEN => name.clone(),
            Some(_) => {
                let detail = format!("name takes a string of at most {MAX_NAME_LEN} characters");
                self.wrong("wrong_type", "name", detail);
                String::new()
            }
        }
    }
}

/// The knobs that a tie follows from.
pub(crate) fn sources(tie: &Tie) -> Vec<KnobId> {
    match tie.rule {
        TieRule::Ratio { of, .. } => vec![of],
        TieRule::DenseLayers(_) => vec![KnobId::num_layers],
        TieRule::FillChunks => vec![
            KnobId::num_layers,
            KnobId::mtp_num_layers,
            KnobId::pipeline_model_parallel_size,
            KnobId::virtual_pipeline_model_parallel_size,
        ],
    }
}

/// The number of a value; none for what is no number.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::None | Value::Flag(_) | Value::Text(_) | Value::List(_) => None,
    }
}

//! What is asked of a search beside its design, in the words of a command, a body or an address.

use model::design::{Design, KnobId, KnobSet};
use model::ground::knob::KnobError;
use model::ground::text::{closest, shorten};
use model::search::find::{Domain, Goal, Query, Question, Target};

/// Targets of a query, at most.
const MAX_TARGETS: usize = 32;

/// The terms of a search; what is absent is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether layouts are searched that serve, not strategies that train.
    pub serve: bool,
    /// The name of a [`Goal`].
    pub goal: Option<String>,
    /// The name of a [`Question`].
    pub question: Option<String>,
    /// Targets, such as `mfu>=0.4`.
    pub targets: Vec<String>,
    /// Knobs that stay, by id or short name.
    pub keep: Vec<String>,
    /// Whether schedules and overlaps count that the design's framework doesn't ship.
    pub any_schedule: bool,
}

impl Terms {
    /// The query for a design.
    ///
    /// # Errors
    /// Everything that is wrong with the terms, each with what would be taken. The knob of an error
    /// is the place in the terms: `goal`, `targets.0`.
    pub fn query(&self, design: Design) -> Result<Query, Vec<KnobError>> {
        let mut errors = Vec::new();
        let domain = if self.serve { Domain::Serving } else { Domain::Training };
        let goal = named("goal", self.goal.as_deref(), &Goal::ALL, Goal::name, &mut errors);
        let question = named(
            "question",
            self.question.as_deref(),
            &Question::ALL,
            Question::name,
            &mut errors,
        );
        if self.targets.len() > MAX_TARGETS {
            let count = self.targets.len();
            let detail = format!("a search has at most {MAX_TARGETS} targets, not {count}");
            errors.push(error("too_many_targets", "targets".to_owned(), detail, None));
        }
        let mut targets = Vec::new();
        for (place, text) in self.targets.iter().take(MAX_TARGETS).enumerate() {
            match target(domain, text) {
                Ok(target) => targets.push(target),
                Err((detail, nearest)) => {
                    errors.push(error("wrong_target", format!("targets.{place}"), detail, nearest));
                }
            }
        }
        let mut keep = Vec::new();
        for (place, name) in self.keep.iter().enumerate().take(KnobId::ALL.len()) {
            match knob(domain, name.trim()) {
                Ok(knob) => keep.push(knob),
                Err(wrong) => errors.push(KnobError { knob: format!("keep.{place}"), ..wrong }),
            }
        }
        let (keep, any_schedule) = (KnobSet::of(&keep), self.any_schedule);
        errors.extend(self.not_of_serving(question));
        let query = Query { domain, design, goal, question, keep, targets, any_schedule };
        // Where targets are wrong, one of them may be what is missing.
        if let Some(missing) = query.missing().filter(|_| errors.is_empty()) {
            let nearest = Some("step_time_seconds<=20".to_owned());
            errors.push(error("missing_target", "targets".to_owned(), missing.to_owned(), nearest));
        }
        let lacking: Vec<String> = query.lacks().into_iter().map(KnobId::id).collect();
        if !lacking.is_empty() {
            let detail = format!("a target needs what isn't known: set {}", lacking.join(", "));
            errors.push(KnobError {
                rule: "unknown_run",
                knob: "targets".to_owned(),
                detail,
                nearest: lacking,
            });
        }
        if errors.is_empty() { Ok(query) } else { Err(errors) }
    }

    /// Terms that a search for a layout that serves doesn't know.
    fn not_of_serving(&self, question: Question) -> Vec<KnobError> {
        let mut errors = Vec::new();
        if self.serve && question != Question::Layout {
            let detail = "of serving the `question` is `layout`: its devices stay".to_owned();
            let nearest = Some(Question::Layout.name().to_owned());
            errors.push(error("not_of_serving", "question".to_owned(), detail, nearest));
        }
        if self.serve && self.any_schedule {
            let detail = "layouts that serve have no schedule and no framework".to_owned();
            errors.push(error("not_of_serving", "any_schedule".to_owned(), detail, None));
        }
        errors
    }
}

/// The knob of a name, short or whole, in a domain.
fn knob(domain: Domain, name: &str) -> Result<KnobId, KnobError> {
    let of_serving = (domain == Domain::Serving).then(|| model::serving::alias(name)).flatten();
    of_serving.map_or_else(|| KnobId::find(name), Ok)
}

/// The choice of that name; the default where there is none.
fn named<T: Copy + Default>(
    term: &str,
    name: Option<&str>,
    known: &[T],
    of: impl Fn(T) -> &'static str,
    errors: &mut Vec<KnobError>,
) -> T {
    let Some(name) = name else { return T::default() };
    let found = known.iter().copied().find(|choice| of(*choice) == name);
    found.unwrap_or_else(|| {
        let names: Vec<&str> = known.iter().map(|choice| of(*choice)).collect();
        let detail = format!("`{term}` is one of {}, not `{}`", names.join(", "), shorten(name));
        let nearest = closest(name, names.into_iter(), |name| *name).map(str::to_owned);
        errors.push(error("unknown_choice", term.to_owned(), detail, nearest));
        T::default()
    })
}

/// A target, or what is wrong with it and what would be taken.
fn target(domain: Domain, text: &str) -> Result<Target, (String, Option<String>)> {
    domain.target(text).map_err(|detail| (detail, nearest_target(domain, text)))
}

/// The target that a text was most likely meant to be.
fn nearest_target(domain: Domain, text: &str) -> Option<String> {
    let (name, rest) = text.split_at(text.find(['<', '>', '='])?);
    let way = if rest.starts_with('<') { "<=" } else { ">=" };
    let number = rest.trim_start_matches(['<', '>', '=']).trim();
    let names = domain.metrics().map(|id| id.metric().name).chain(["spare", "num_devices"]);
    let name = closest(name.trim(), names, |name| *name)?;
    let number = number.parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.map_or(0.0, |number| number.max(0.0));
    let nearest = [way, ">=", "<="].map(|way| format!("{name}{way}{number}"));
    nearest.into_iter().find(|nearest| domain.target(nearest).is_ok())
}

fn error(rule: &'static str, knob: String, detail: String, nearest: Option<String>) -> KnobError {
    KnobError { rule, knob, detail, nearest: nearest.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design() -> Design {
        model::design::link::decode("").expect("the default")
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn nothing_said_asks_for_the_fastest_layout() {
        assert_eq!(Terms::default().query(design()), Ok(Query::new(design())));
    }

    #[test]
    fn every_term_is_read() {
        let terms = Terms {
            goal: Some("safest".to_owned()),
            question: Some("fewest_devices".to_owned()),
            targets: texts(&["mfu>=0.4", "step_time_seconds <= 20", "num_devices<=512"]),
            keep: texts(&["tp", "parallel.pipeline_model_parallel_size"]),
            any_schedule: true,
            serve: false,
        };
        let query = terms.query(design()).expect("terms that are read");
        assert_eq!((query.goal, query.question), (Goal::Safest, Question::FewestDevices));
        let targets: Vec<String> = query.targets.iter().map(ToString::to_string).collect();
        assert_eq!(targets, ["mfu>=0.4", "step_time_seconds<=20", "num_devices<=512"]);
        let keep: Vec<KnobId> = query.keep.iter().collect();
        let wanted = [KnobId::tensor_model_parallel_size, KnobId::pipeline_model_parallel_size];
        assert_eq!(keep, wanted);
        assert!(query.any_schedule);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_what_would_be_taken() {
        let terms = Terms {
            goal: Some("fast".to_owned()),
            question: Some("largest".to_owned()),
            targets: texts(&["mfu>=0.4", "mfa>=0.4", "mfu>0.3", "spare<=0.1", "mfu>=-1", "x"]),
            keep: texts(&["tpx"]),
            any_schedule: false,
            serve: false,
        };
        let errors = terms.query(design()).expect_err("wrong terms");
        let said: Vec<(&str, &str)> = errors
            .iter()
            .map(|error| (error.knob.as_str(), error.nearest.first().map_or("", String::as_str)))
            .collect();
        let wanted = [
            ("goal", "fastest"),
            ("question", "largest_batch"),
            ("targets.1", "mfu>=0.4"),
            ("targets.2", "mfu>=0.3"),
            ("targets.3", "spare>=0.1"),
            ("targets.4", "mfu>=0"),
            ("targets.5", ""),
        ];
        assert_eq!(said[..7], wanted);
        assert!(said[7].0 == "keep.0" && !said[7].1.is_empty(), "{said:?}");
    }

    #[test]
    fn a_question_that_needs_a_target_says_which() {
        let terms = Terms { question: Some("largest_batch".to_owned()), ..Terms::default() };
        let errors = terms.query(design()).expect_err("no bound on the step's time");
        assert_eq!(errors.len(), 1, "{errors:?}");
        let terms = Terms { targets: errors[0].nearest.clone(), ..terms };
        assert!(terms.query(design()).is_ok(), "{terms:?}");
    }

    #[test]
    fn a_target_of_the_run_needs_what_it_is_counted_from() {
        let terms =
            Terms { targets: texts(&["days_to_train<=90", "cost<=5e7"]), ..Terms::default() };
        let errors = terms.query(design()).expect_err("no tokens and no price");
        let said: Vec<&str> = errors.iter().map(|error| error.rule).collect();
        assert_eq!(said, ["unknown_run"], "{errors:?}");
        assert_eq!(errors[0].nearest, ["run.train_tokens", "run.price_per_device_hour"]);
        let mut known = design();
        known.set_text(KnobId::train_tokens, "19e12").expect("tokens");
        known.set_text(KnobId::price_per_device_hour, "2").expect("a price");
        let query = terms.query(known).expect("all is known");
        let targets: Vec<String> = query.targets.iter().map(ToString::to_string).collect();
        assert_eq!(targets, ["days_to_train<=90", "cost<=50000000"]);
    }

    #[test]
    fn terms_of_serving_are_its_metrics_and_short_names() {
        let serving = |targets: &[&str]| Terms {
            serve: true,
            targets: texts(targets),
            keep: texts(&["tp"]),
            ..Terms::default()
        };
        let query = serving(&["tpot_seconds<=0.05"]).query(design()).expect("terms of serving");
        assert_eq!(query.domain, Domain::Serving);
        assert_eq!(query.targets[0].to_string(), "tpot_seconds<=0.05");
        assert!(query.keep.has(KnobId::tensor_parallel_size));
        let errors = serving(&["tpot<=0.05", "mfu>=0.4"]).query(design()).expect_err("of training");
        assert_eq!(errors[0].nearest, ["tpot_seconds<=0.05"]);
        assert_eq!(errors.len(), 2, "{errors:?}");
        let question = Some("fewest_devices".to_owned());
        let terms = Terms { question, any_schedule: true, ..serving(&[]) };
        let errors = terms.query(design()).expect_err("a question of training");
        let knobs: Vec<&str> = errors.iter().map(|error| error.knob.as_str()).collect();
        assert_eq!(knobs, ["question", "any_schedule"]);
    }

    #[test]
    fn what_a_wrong_target_is_near_to_would_be_taken() {
        for text in ["hfu>>1", "mfu=", "num_devices>=4", "num_devices<=0.5", "spare>=3", "=", "<"] {
            let (_, nearest) = target(Domain::Training, text).expect_err(text);
            assert!(
                nearest.is_none_or(|nearest| Domain::Training.target(&nearest).is_ok()),
                "{text}"
            );
        }
    }
}

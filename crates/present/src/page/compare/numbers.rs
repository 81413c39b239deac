//! The designs with their numbers, and how each differs from the baseline.

use model::Plan;
use model::design::link;
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::{KnobError, Section};
use model::metric::{MetricId, Regime, Unit};
use model::training::range::{are_alike, probability_of_order};

use crate::format::{self, number};
pub use crate::insight::better::Hindrance;
use crate::insight::better::is_better;
use crate::insight::numbers::Numbers;
use crate::site::chosen::{Chosen, letter};
use crate::words::name;
use crate::words::range::{Expected, expected};

/// Outcome of opening a design's link.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It runs.
    Legal(Box<Numbers>),
    /// It breaks rules.
    Broken(Box<Design>, Vec<Violation>),
    /// Its link can't be opened.
    Unreadable(Vec<KnobError>),
}

/// A design that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// `A` to `D`.
    pub letter: char,
    /// Name of the design.
    pub name: String,
    /// Differences from its preset, in words; empty if its link can't be opened.
    pub changes: String,
    /// Its link, as the explorer writes it; as it was given where it can't be opened.
    pub link: String,
    /// Outcome: numbers, broken rules or errors of the link.
    pub state: State,
}

impl Column {
    /// Its numbers, where it runs.
    #[must_use]
    pub const fn numbers(&self) -> Option<&Numbers> {
        match &self.state {
            State::Legal(numbers) => Some(numbers),
            State::Broken(..) | State::Unreadable(_) => None,
        }
    }

    /// Its design, where its link opens.
    #[must_use]
    pub fn design(&self) -> Option<&Design> {
        match &self.state {
            State::Legal(numbers) => Some(numbers.plan.design()),
            State::Broken(design, _) => Some(design),
            State::Unreadable(_) => None,
        }
    }
}

/// Opens and estimates every design.
#[must_use]
pub fn columns(chosen: &Chosen) -> Vec<Column> {
    let columns = chosen.designs.iter().enumerate().map(|(place, choice)| {
        let letter = letter(place);
        let own = Some(choice.name.clone()).filter(|name| !name.is_empty());
        match link::decode(&choice.link) {
            Ok(design) => Column {
                letter,
                name: own.unwrap_or_else(|| name::title(&design)),
                changes: name::changes(&design),
                link: link::encode(&design),
                state: match Plan::new(&design) {
                    Ok(plan) => State::Legal(Box::new(Numbers::new(plan))),
                    Err(rules) => State::Broken(Box::new(design), rules),
                },
            },
            Err(errors) => Column {
                letter,
                name: own.unwrap_or_else(|| "A link that can't be opened".to_owned()),
                changes: String::new(),
                link: choice.link.clone(),
                state: State::Unreadable(errors),
            },
        }
    });
    columns.collect()
}

/// Letters of designs that are the same one, in groups.
#[must_use]
pub fn twins(columns: &[Column]) -> Vec<Vec<char>> {
    let mut groups: Vec<(&Design, Vec<char>)> = Vec::new();
    for column in columns {
        let Some(design) = column.design() else { continue };
        match groups.iter_mut().find(|(known, _)| *known == design) {
            Some((_, letters)) => letters.push(column.letter),
            None => groups.push((design, vec![column.letter])),
        }
    }
    groups.into_iter().map(|(_, letters)| letters).filter(|letters| letters.len() > 1).collect()
}

/// Certainty about which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sure {
    /// A count, or a verdict: nothing is estimated.
    Exact,
    /// It is with this probability.
    With(f64),
    /// Nobody knows how far the metric is off.
    Unknown,
}

/// Verdict on which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Both are the same.
    Same,
    /// This one is better than the baseline's.
    Better(Sure),
    /// This one is worse than the baseline's.
    Worse(Sure),
    /// Neither is better by itself.
    Neither,
}

/// Difference of a design's value from the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delta {
    /// Its value less the baseline's, in the metric's unit; of verdicts, of ones and zeros.
    pub absolute: f64,
    /// `absolute` as a share of the baseline's value; `None` if that is zero, and for verdicts.
    pub relative: Option<f64>,
    /// Verdict on which of the two is better.
    pub verdict: Verdict,
}

/// Difference of a metric from the baseline's.
#[must_use]
pub fn delta(metric: MetricId, numbers: &Numbers, baseline: &Numbers) -> Delta {
    let [now, then] = [numbers, baseline].map(|it| it.estimate.metrics.get(metric));
    let is_flag = metric.metric().unit == Unit::Verdict;
    let [now, then] = [now, then].map(number);
    let absolute = now - then;
    let relative = (!is_flag && then != 0.0).then(|| absolute / then);
    let sure = || sure(metric, relative, numbers, baseline);
    let verdict = match is_better(metric, numbers, baseline) {
        _ if now.total_cmp(&then).is_eq() => Verdict::Same,
        Some(true) => Verdict::Better(sure()),
        Some(false) => Verdict::Worse(sure()),
        None => Verdict::Neither,
    };
    Delta { absolute, relative, verdict }
}

/// Certainty that the difference has the predicted sign.
///
/// What follows from the step time has the errors of pairs of runs, where the designs are alike, or
/// those of both designs; of the difference of two peak memories nothing is published.
fn sure(metric: MetricId, relative: Option<f64>, numbers: &Numbers, baseline: &Numbers) -> Sure {
    match (expected(&numbers.plan, metric), relative) {
        (Expected::Range(range), Some(relative)) if range.basis.is_of_time => {
            let ratio = relative.ln_1p();
            Sure::With(probability_of_order(&numbers.plan, &baseline.plan, ratio))
        }
        (Expected::Exact | Expected::ByToken(_) | Expected::AsPeakMemory, _) => Sure::Exact,
        (Expected::Range(_) | Expected::Derived, _) => Sure::Unknown,
    }
}

/// Least probability of a difference that counts as one.
const MIN_CLEAR_PROBABILITY: f64 = 0.9;

impl Sure {
    /// Whether it can be counted on.
    #[must_use]
    pub fn is_clear(self) -> bool {
        match self {
            Self::Exact => true,
            Self::With(probability) => probability >= MIN_CLEAR_PROBABILITY,
            Self::Unknown => false,
        }
    }
}

/// A probability for people, never more than what so few sources can tell.
#[must_use]
pub fn likely(probability: f64) -> String {
    const MAX_PROBABILITY: f64 = 0.99;
    if probability > MAX_PROBABILITY {
        return format!("over {}", format::percent(MAX_PROBABILITY, 0));
    }
    format::percent(probability, 0).to_string()
}

/// Sentences on the designs faster or slower than the baseline, with the probability: by the tokens
/// of a device if those can be compared, else by MFU.
#[must_use]
pub fn orders(columns: &[Column], baseline: usize) -> Vec<String> {
    let Some(base) = columns.get(baseline) else { return Vec::new() };
    let Some(numbers) = base.numbers() else { return Vec::new() };
    let order = |column: &Column| {
        let own = column.numbers().filter(|_| column.letter != base.letter)?;
        let metrics = [MetricId::tokens_per_second_per_device, MetricId::mfu];
        metrics.into_iter().find_map(|metric| {
            let delta = delta(metric, own, numbers);
            let (word, Sure::With(probability)) = (match delta.verdict {
                Verdict::Better(sure) => ("faster", sure),
                Verdict::Worse(sure) => ("slower", sure),
                Verdict::Same | Verdict::Neither => return None,
            }) else {
                return None;
            };
            let errors = if are_alike(&own.plan, &numbers.plan) {
                "errors of pairs of one source's runs"
            } else {
                "errors of both, as the designs are not alike"
            };
            Some(format!(
                "{} is {word} than {}, {} likely ({}: {}; {errors}).",
                column.letter,
                base.letter,
                likely(probability),
                metric.metric().label,
                format::relative(1.0 + delta.relative?, 1.0),
            ))
        })
    };
    columns.iter().filter_map(order).collect()
}

/// Caveats of a comparison: every reason that holds between the baseline and other designs, with
/// their letters.
#[must_use]
pub fn hindrances(columns: &[Column], baseline: usize) -> Vec<(Hindrance, Vec<char>)> {
    let Some(base) = columns.get(baseline).and_then(Column::design) else { return Vec::new() };
    let found = Hindrance::ALL.into_iter().map(|it| {
        let holds = |column: &&Column| column.design().is_some_and(|own| it.holds(own, base));
        (it, columns.iter().filter(holds).map(|column| column.letter).collect())
    });
    found.filter(|(_, letters): &(_, Vec<char>)| !letters.is_empty()).collect()
}

/// In how many knobs two designs differ.
#[must_use]
pub fn differing(one: &Design, other: &Design) -> usize {
    KnobId::ALL.iter().filter(|id| one.get(**id) != other.get(**id)).count()
}

/// The knobs of a section; without `all`, those on which the designs differ.
#[must_use]
pub fn knobs(columns: &[Column], section: Section, all: bool) -> Vec<KnobId> {
    let designs: Vec<&Design> = columns.iter().filter_map(Column::design).collect();
    let differs = |id: KnobId| designs.windows(2).any(|pair| pair[0].get(id) != pair[1].get(id));
    KnobId::in_section(section).filter(|id| all || differs(*id)).collect()
}

/// The metrics; without `all`, those on which the designs that run differ.
#[must_use]
pub fn metrics(columns: &[Column], all: bool) -> Vec<MetricId> {
    let numbers: Vec<&Numbers> = columns.iter().filter_map(Column::numbers).collect();
    let value = |it: &Numbers, id| number(it.estimate.metrics.get(id));
    let differs = |id: MetricId| {
        numbers.windows(2).any(|pair| value(pair[0], id).total_cmp(&value(pair[1], id)).is_ne())
    };
    let all = all || numbers.len() < 2;
    MetricId::of(Regime::Training).filter(|id| all || differs(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(links: &[&str]) -> Vec<Column> {
        columns(&Chosen::of_links(links.iter().copied()))
    }

    fn numbers(column: &Column) -> &Numbers {
        column.numbers().expect("a legal design")
    }

    #[test]
    fn a_delta_is_the_difference_of_the_metrics_to_the_last_bit() {
        let columns = of(&["", "vpp=4", "preset=deepseek-v3-2k-h800", "preset=qwen3-8b"]);
        for other in &columns[1..] {
            for metric in MetricId::ALL {
                let [now, then] = [numbers(other), numbers(&columns[0])]
                    .map(|it| number(it.estimate.metrics.get(*metric)));
                let found = delta(*metric, numbers(other), numbers(&columns[0]));
                assert_eq!(found.absolute.to_bits(), (now - then).to_bits(), "{metric:?}");
                if let Some(relative) = found.relative {
                    assert_eq!(relative.to_bits(), ((now - then) / then).to_bits());
                }
            }
        }
    }

    #[test]
    fn better_and_worse_follow_the_registry_and_turn_around_with_the_baseline() {
        let columns = of(&["framework=ideal", "framework=ideal&vpp=1"]);
        let [base, other] = [0, 1].map(|place| numbers(&columns[place]));
        let bubble = delta(MetricId::bubble_ratio_closed_form, other, base);
        assert_eq!(bubble.verdict, Verdict::Worse(Sure::Exact));
        let turned = delta(MetricId::bubble_ratio_closed_form, base, other);
        assert_eq!(turned.verdict, Verdict::Better(Sure::Exact));
        assert_eq!(delta(MetricId::params_total, other, base).verdict, Verdict::Same);
        assert_eq!(delta(MetricId::fits, other, base).relative, None);
    }

    #[test]
    fn the_likelier_a_difference_is_the_larger_it_is_and_alike_designs_are_told_apart_sooner() {
        const OWN: &str = "preset=pangu-ultra-moe-6k@2&framework=ideal";
        let columns = of(&[
            OWN,
            "preset=pangu-ultra-moe-6k@2&framework=ideal&vpp=1",
            "preset=pangu-ultra-moe-6k@2&framework=ideal&straggler_sigma=0.0012",
            "preset=pangu-ultra-moe-6k&framework=ideal&vpp=1",
        ]);
        let sure = |place: usize| {
            let found = delta(MetricId::mfu, numbers(&columns[place]), numbers(&columns[0]));
            let (Verdict::Better(Sure::With(it)) | Verdict::Worse(Sure::With(it))) = found.verdict
            else {
                panic!("{:?}", found.verdict);
            };
            it
        };
        assert!(sure(1) > 0.7, "{}", sure(1));
        assert!((0.5..sure(1)).contains(&sure(2)), "{}", sure(2));
        let plans = [0, 1, 3].map(|place| &numbers(&columns[place]).plan);
        let alike = probability_of_order(plans[0], plans[1], 0.1);
        assert!(alike > probability_of_order(plans[0], plans[2], 0.1));
        let said = orders(&columns, 0);
        assert!(said[0].starts_with("B is slower than A, ") && said.len() == 3, "{said:?}");
        assert_eq!(likely(0.999), "over 99 %");
        assert_eq!(
            delta(MetricId::comm_exposed_seconds, numbers(&columns[1]), numbers(&columns[0]))
                .verdict,
            match delta(MetricId::comm_exposed_seconds, numbers(&columns[1]), numbers(&columns[0]))
                .absolute
            {
                more if more > 0.0 => Verdict::Worse(Sure::Unknown),
                _ => Verdict::Better(Sure::Unknown),
            }
        );
    }

    #[test]
    fn what_does_not_compare_is_neither_better_nor_worse() {
        let verdict = |query: &str, metric| {
            let columns = of(&["", query]);
            delta(metric, numbers(&columns[1]), numbers(&columns[0])).verdict
        };
        assert_eq!(verdict("gbs=12288", MetricId::step_time_seconds), Verdict::Neither);
        assert_ne!(verdict("gbs=12288", MetricId::mfu), Verdict::Neither);
        assert_eq!(
            verdict("num_devices=4096&gbs=4096", MetricId::step_time_seconds),
            Verdict::Neither
        );
        assert_ne!(verdict("num_devices=4096&gbs=4096", MetricId::mfu), Verdict::Neither);
        for metric in [
            MetricId::mfu,
            MetricId::tokens_per_second,
            MetricId::tokens_per_second_per_device,
            MetricId::step_time_seconds,
            MetricId::bubble_ratio,
            MetricId::comm_exposed_seconds,
        ] {
            assert_eq!(
                verdict("accelerator=h100-sxm-80gb", metric),
                Verdict::Neither,
                "{metric:?}"
            );
        }
        assert_eq!(verdict("count_mtp_flops=false", MetricId::mfu), Verdict::Neither);
        let other_model = "preset=deepseek-v3-2k-h800";
        assert_eq!(verdict(other_model, MetricId::tokens_per_second_per_device), Verdict::Neither);
        assert_ne!(verdict(other_model, MetricId::fits), Verdict::Neither);
    }

    #[test]
    fn only_what_differs_is_listed_and_everything_is_the_whole_registry() {
        let columns =
            of(&["", "preset=pangu-ultra-moe-6k@2&vpp=4", "preset=pangu-ultra-moe-6k@2&pp=12"]);
        let listed = |all| -> Vec<KnobId> {
            Section::ALL.into_iter().flat_map(|section| knobs(&columns, section, all)).collect()
        };
        assert_eq!(
            listed(false),
            [KnobId::pipeline_model_parallel_size, KnobId::virtual_pipeline_model_parallel_size]
        );
        assert_eq!(listed(true), KnobId::ALL);
        let all: Vec<MetricId> = MetricId::of(Regime::Training).collect();
        assert_eq!(metrics(&columns, true), all);
        let differing = metrics(&columns, false);
        assert!(differing.contains(&MetricId::mfu));
        assert!(!differing.contains(&MetricId::params_total));
    }

    #[test]
    fn a_broken_design_leaves_the_others_as_they_are() {
        let columns = of(&["", "pp=12", "no_such_knob=1"]);
        assert!(columns[0].numbers().is_some());
        assert!(matches!(&columns[1].state, State::Broken(_, rules) if !rules.is_empty()));
        assert!(matches!(&columns[2].state, State::Unreadable(errors) if errors.len() == 1));
    }

    #[test]
    fn the_same_design_written_in_two_ways_is_found() {
        let columns = of(&["", "vpp=1", "v=1&preset=pangu-ultra-moe-6k@2", "vpp=1"]);
        assert_eq!(twins(&columns), [vec!['A', 'C'], vec!['B', 'D']]);
    }
}

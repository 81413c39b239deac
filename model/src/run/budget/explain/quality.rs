//! A metric of a comparison with a baseline as a tree of named terms: what each law says, and at
//! what speed and price the two train.

use alloc::vec::Vec;
use alloc::{format, vec};

use crate::ground::source::{DERIVED, LING_LEVERAGE};
use crate::metric::breakdown::{Breakdown, How, Terms};
use crate::metric::{MetricId, QualityMetrics, Unit};
use crate::run::budget::quality::{Contest, Tokens};
use crate::run::budget::run::Budget;
use crate::run::quality::MemberComparison;
use crate::training::plan::Plan;

impl Contest<'_> {
    /// A metric opened down to its terms; none where it isn't known, or isn't of quality.
    pub(crate) fn explain(&self, id: MetricId) -> Option<Breakdown> {
        let (value, terms) = (self.number(id).ok()?, TERMS.get(id)?);
        let words = QualityMetrics::WORDS.get(id)?;
        Some(Breakdown::of_metric(id, words, value, terms(self, self.tokens().ok()?)))
    }

    /// A metric as a term of another.
    fn metric(&self, id: MetricId) -> Breakdown {
        Breakdown::or_unknown(id, self.explain(id))
    }
}

/// Terms of each metric.
const TERMS: QualityMetrics<fn(&Contest<'_>, Tokens) -> Terms> = QualityMetrics {
    loss_difference: |of, tokens| losses(of, tokens, How::Median),
    loss_difference_min: |of, tokens| losses(of, tokens, How::Min),
    loss_difference_max: |of, tokens| losses(of, tokens, How::Max),
    loss_difference_is_tie: |of, _| {
        let spread = [
            MetricId::loss_difference,
            MetricId::loss_difference_min,
            MetricId::loss_difference_max,
        ];
        (How::Given, spread.map(|id| of.metric(id)).into())
    },
    tokens_to_equal_loss: |of, tokens| factors(of, tokens, How::Median),
    tokens_to_equal_loss_min: |of, tokens| factors(of, tokens, How::Min),
    tokens_to_equal_loss_max: |of, tokens| factors(of, tokens, How::Max),
    time_to_equal_loss: |of, _| {
        (How::Quotient, vec![of.metric(MetricId::tokens_to_equal_loss), speed(of)])
    },
    cost_to_equal_loss: |of, _| {
        (How::Product, vec![of.metric(MetricId::time_to_equal_loss), price(of)])
    },
    loss_difference_at_equal_time: |of, tokens| losses(of, of.in_equal_time(tokens), How::Median),
    loss_difference_at_equal_cost: |of, tokens| losses(of, of.at_equal_cost(tokens), How::Median),
};

/// Values of the members; `None` if none sees a difference.
fn members(of: &Contest<'_>, tokens: Tokens) -> Vec<MemberComparison> {
    of.compare(tokens).ok().flatten().map_or_else(Vec::new, |found| found.by_member)
}

fn or_given(how: How, terms: Vec<Breakdown>) -> Terms {
    (if terms.is_empty() { How::Given } else { how }, terms)
}

/// Differences of the loss by each member.
fn losses(of: &Contest<'_>, tokens: Tokens, how: How) -> Terms {
    let loss = |name: &str, loss: f64, tokens: f64| {
        let after = vec![Breakdown::given("tokens", tokens, Unit::Tokens)];
        Breakdown::given(name, loss, Unit::Nats)
            .by("the law after so many tokens; alone it means nothing", LING_LEVERAGE)
            .beside(after)
    };
    let term = |member: &MemberComparison| {
        let sides = vec![
            loss("loss of the design", member.loss, tokens.own),
            loss("loss of the baseline", member.baseline_loss, tokens.baseline),
        ];
        Breakdown::made(member.member.label(), Unit::Nats, How::Difference, sides)
            .by("L(design) - L(baseline)", LING_LEVERAGE)
    };
    or_given(how, members(of, tokens).iter().map(term).collect())
}

/// Tokens to the baseline's loss by each member that is asked.
fn factors(of: &Contest<'_>, tokens: Tokens, how: How) -> Terms {
    let term = |member: &MemberComparison| {
        let factor = member.tokens_to_equal_loss?;
        let given = Breakdown::given(member.member.label(), factor, Unit::Factor);
        let loss = Breakdown::given("loss of the baseline", member.baseline_loss, Unit::Nats);
        let tokens = Breakdown::given("tokens of the baseline", tokens.baseline, Unit::Tokens);
        let formula =
            "tokens after which its law gives the design that loss / those of the baseline";
        Some(given.by(formula, LING_LEVERAGE).beside(vec![loss, tokens]))
    };
    or_given(how, members(of, tokens).iter().filter_map(term).collect())
}

/// Speed of the design's training over the baseline's.
fn speed(of: &Contest<'_>) -> Breakdown {
    let rate = |name: &str, budget: &Budget| {
        let rate = budget.tokens_per_second;
        let mut terms = vec![Breakdown::given("tokens per second", rate, Unit::TokensPerSecond)];
        let goodput = budget.get(MetricId::goodput_ratio);
        terms.extend(goodput.map(|it| Breakdown::given("goodput", it, Unit::Ratio(1))));
        Breakdown::product(name, Unit::TokensPerSecond, terms)
            .by("tokens per second x goodput, where that is known", DERIVED)
    };
    let sides = vec![rate("design", of.own.1), rate("baseline", of.baseline.1)];
    Breakdown::made("speed over the baseline's", Unit::Factor, How::Quotient, sides)
        .by("tokens per second of the design / of the baseline", DERIVED)
}

/// Price of a second of the design over the baseline's.
fn price(of: &Contest<'_>) -> Breakdown {
    let sides = [("design", of.own.0), ("baseline", of.baseline.0)];
    let devices = sides.map(|(name, plan): (&str, &Plan)| {
        let design = plan.design();
        let count = (design.cluster.num_devices + design.run.spare_devices) as f64;
        Breakdown::given(&format!("devices of the {name}"), count, Unit::Count)
    });
    let devices = Breakdown::made("devices", Unit::Factor, How::Quotient, devices.into())
        .by("devices and spares of the design / of the baseline", DERIVED);
    let mut terms = vec![devices];
    let prices = sides.map(|(_, plan)| plan.design().run.price_per_device_hour);
    if let [Some(own), Some(base)] = prices {
        let each = [("design", own), ("baseline", base)].map(|(name, price)| {
            Breakdown::given(&format!("device-hour of the {name}"), price, Unit::Money)
        });
        terms.push(
            Breakdown::made("price of a device", Unit::Factor, How::Quotient, each.into())
                .by("price of the design / of the baseline", DERIVED),
        );
    }
    Breakdown::product("price over the baseline's", Unit::Factor, terms)
        .by("devices x price of a device", DERIVED)
}

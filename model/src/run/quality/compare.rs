//! Two models beside each other, by four members.

use alloc::vec::Vec;

use super::laws::{self, MAX_COMPUTE, MAX_GRANULARITY};
use super::{Flag, Refusal, Shape, effective_tokens};
use crate::ground::sorting::{median, sort_numbers};

/// A median difference below this is a tie: the joint law misses its own runs by 0.004 to 0.006.
pub const TIE_NATS: f64 = 0.005;

/// Tokens over the baseline's between which equal loss is looked for.
const FACTORS: [f64; 2] = [1e-3, 1e3];

/// A law or two that give the loss of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The dense law at the leverage of experts.
    DenseOfLeverage,
    /// The joint law's dense form at the leverage of experts.
    JointOfLeverage,
    /// The joint law of experts.
    Joint,
    /// Zhao's law.
    Zhao,
}

impl Member {
    /// The four, as differences are printed.
    pub const ALL: [Self; 4] =
        [Self::DenseOfLeverage, Self::JointOfLeverage, Self::Joint, Self::Zhao];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DenseOfLeverage => "dense_of_leverage",
            Self::JointOfLeverage => "joint_of_leverage",
            Self::Joint => "joint",
            Self::Zhao => "zhao",
        }
    }

    /// Name of the laws that the member is made of, for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::DenseOfLeverage => "Chinchilla (Epoch) at Ling's leverage",
            Self::JointOfLeverage => "Joint law, dense, at Ling's leverage",
            Self::Joint => "Joint law of experts",
            Self::Zhao => "Zhao's law",
        }
    }

    /// Loss of a model by it, in nats: only differences of it mean something.
    fn loss(self, shape: &Shape, tokens: f64) -> f64 {
        let effective = || clipped(shape, tokens) * shape.active_body;
        match self {
            Self::DenseOfLeverage => laws::dense(effective(), tokens),
            Self::JointOfLeverage => laws::joint(effective(), tokens, 1.0),
            Self::Joint => laws::joint(shape.active, tokens, shape.expansion()),
            Self::Zhao => laws::zhao(
                shape.total_body,
                tokens,
                shape.active_body,
                shape.topk,
                shape.shared / (shape.topk + shape.shared),
            ),
        }
    }

    /// Whether its term in tokens still means something at trillions of them.
    const fn tells_tokens(self) -> bool {
        !matches!(self, Self::Zhao)
    }
}

/// Ling's leverage with compute and granularity as far as they were tried.
fn clipped(shape: &Shape, tokens: f64) -> f64 {
    let compute = shape.compute(tokens).min(MAX_COMPUTE);
    laws::leverage(shape.activation(), shape.granularity().min(MAX_GRANULARITY), compute)
}

/// A value by several members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median, the mean of the two inner ones of four.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// One value for all members.
    pub(crate) const fn of_one(value: f64) -> Self {
        Self { median: value, min: value, max: value }
    }

    fn of(mut values: Vec<f64>) -> Option<Self> {
        sort_numbers(&mut values);
        Some(Self { median: median(&values)?, min: *values.first()?, max: *values.last()? })
    }
}

/// Parameters of a dense model of equal loss, over the active ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leverage {
    /// The band's lower end.
    pub low: f64,
    /// Ling's law, its compute clipped at 1e22.
    pub middle: f64,
    /// The band's upper end.
    pub high: f64,
}

/// The leverage of a model's experts after this many tokens: [min(joint law, middle / 1.5), middle,
/// 1.5 max(unclipped, middle)].
///
/// Of seven published pairs of fine-grained and dense models this band holds six, by the joint
/// law's slope.
#[must_use]
pub fn leverage(shape: &Shape, tokens: f64) -> Leverage {
    let joint = laws::joint_leverage(shape.active, tokens, shape.expansion());
    if shape.is_coarse() {
        return Leverage { low: joint, middle: joint, high: joint };
    }
    let middle = clipped(shape, tokens);
    let granularity = shape.granularity().min(MAX_GRANULARITY);
    let unclipped = laws::leverage(shape.activation(), granularity, shape.compute(tokens));
    Leverage { low: joint.min(middle / 1.5), middle, high: 1.5 * unclipped.max(middle) }
}

/// A model against a baseline by one member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberComparison {
    /// The member.
    pub member: Member,
    /// Loss of the model, in nats.
    pub loss: f64,
    /// Loss of the baseline.
    pub baseline_loss: f64,
    /// Tokens that the model needs for the baseline's loss, over the baseline's; none where the
    /// member never reaches it or isn't asked.
    pub tokens_to_equal_loss: Option<f64>,
}

impl MemberComparison {
    fn new(member: Member, own: (&Shape, f64), baseline: (&Shape, f64)) -> Self {
        let [loss, baseline_loss] =
            [own, baseline].map(|(shape, tokens)| member.loss(shape, tokens));
        let equal = || tokens_to_equal(member, own.0, baseline_loss, baseline.1);
        let tokens_to_equal_loss = member.tells_tokens().then(equal).flatten();
        Self { member, loss, baseline_loss, tokens_to_equal_loss }
    }

    /// Loss of the model less that of the baseline.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.loss - self.baseline_loss
    }
}

/// A model against a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Loss of the model less that of the baseline, in nats per token: below zero it is better.
    pub loss_difference: Spread,
    /// Value of each member that was asked.
    pub by_member: Vec<MemberComparison>,
    /// Tokens that the model needs for the baseline's loss, over the baseline's; `None` if a
    /// member never reaches it. Zhao's law isn't used: its term in tokens is spent long before.
    pub tokens_to_equal_loss: Option<Spread>,
    /// Whether neither can be called better: the median is below 0.005 nats, or signs differ.
    pub is_tie: bool,
    /// Caveats of the comparison.
    pub flags: Vec<Flag>,
}

impl Comparison {
    /// Whether the laws rank the two: no tie, and more between them than depth or width.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        !self.is_tie && !self.flags.contains(&Flag::DepthOrWidthAlone)
    }

    /// Time to the baseline's loss over the baseline's own, where the two train this many tokens a
    /// second: x tokens to equal loss, as the median.
    ///
    /// The same holds for money, where devices and their price are the same.
    #[must_use]
    pub fn relative_time(&self, own_rate: f64, baseline_rate: f64) -> Option<f64> {
        self.tokens_to_equal_loss.map(|tokens| tokens.median * baseline_rate / own_rate)
    }
}

/// Compares a model with a baseline, each after its own tokens; of these so many are unique, all of
/// them where nothing is said.
///
/// # Errors
/// Every reason why no law may be used.
pub fn compare(
    own: (&Shape, f64),
    baseline: (&Shape, f64),
    unique: Option<f64>,
) -> Result<Comparison, Vec<Refusal>> {
    let mut refusals = Vec::new();
    for (shape, tokens) in [own, baseline] {
        refuse(shape, tokens, unique, &mut refusals);
    }
    if own == baseline {
        refusals.push(Refusal::NothingSeen);
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let worth = |tokens: f64| unique.map_or(tokens, |unique| effective_tokens(unique, tokens));
    let sides = [own, baseline].map(|(shape, tokens)| (shape, worth(tokens)));
    let flags = flags([own, baseline], unique);
    let members: &[Member] =
        if flags.contains(&Flag::Coarse) { &[Member::Joint] } else { &Member::ALL };
    let by_member: Vec<MemberComparison> =
        members.iter().map(|it| MemberComparison::new(*it, sides[0], sides[1])).collect();
    let spread = Spread::of(by_member.iter().map(MemberComparison::difference).collect());
    let Some(loss_difference) = spread else { return Err(refusals) };
    let telling = by_member.iter().filter(|it| it.member.tells_tokens());
    let factors: Option<Vec<f64>> = telling.map(|it| it.tokens_to_equal_loss).collect();
    let signs_differ = loss_difference.min < 0.0 && loss_difference.max > 0.0;
    Ok(Comparison {
        is_tie: libm::fabs(loss_difference.median) < TIE_NATS || signs_differ,
        loss_difference,
        by_member,
        tokens_to_equal_loss: factors.and_then(Spread::of),
        flags,
    })
}

fn refuse(shape: &Shape, tokens: f64, unique: Option<f64>, refusals: &mut Vec<Refusal>) {
    let epochs = unique.map_or(1.0, |unique| tokens / unique);
    let all = [
        (shape.activation() < 0.008, Refusal::TooSparse(shape.activation())),
        (tokens / shape.active < 5.0, Refusal::TooFewTokens(tokens / shape.active)),
        (epochs > 16.0, Refusal::TooManyEpochs(epochs)),
    ];
    for (holds, refusal) in all {
        if holds && !refusals.contains(&refusal) {
            refusals.push(refusal);
        }
    }
}

fn flags(sides: [(&Shape, f64); 2], unique: Option<f64>) -> Vec<Flag> {
    let mut flags = Vec::new();
    for (shape, tokens) in sides {
        let is_moe = shape.experts > 1.0;
        let epochs = unique.map_or(1.0, |unique| tokens / unique);
        let all = [
            (shape.compute(tokens) > MAX_COMPUTE, Flag::BeyondCompute),
            (shape.active > 2.7e9, Flag::BeyondSize),
            (shape.expansion() > 32.0, Flag::BeyondExpansion),
            (is_moe && shape.granularity() > MAX_GRANULARITY, Flag::ClampedGranularity),
            (shape.activation() < 0.0117, Flag::VerySparse),
            (is_moe && shape.shared <= 0.0, Flag::NoSharedExpert),
            (epochs > 4.0, Flag::RepeatedTokens),
            (shape.is_coarse(), Flag::Coarse),
        ];
        flags.extend(all.into_iter().filter(|(holds, _)| *holds).map(|(_, flag)| flag));
    }
    let [(own, own_tokens), (base, base_tokens)] = sides;
    let experts = |it: &Shape| [it.experts, it.topk, it.shared].map(f64::to_bits);
    let is_resized = own.layers != base.layers || own.hidden.to_bits() != base.hidden.to_bits();
    if is_resized && experts(own) == experts(base) && own_tokens.to_bits() == base_tokens.to_bits()
    {
        flags.push(Flag::DepthOrWidthAlone);
    }
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// Tokens after which a model has a loss, over others: the loss falls with tokens, so that halving
/// finds it. `None` if it lies outside of a thousandth to a thousand times.
fn tokens_to_equal(member: Member, shape: &Shape, loss: f64, tokens: f64) -> Option<f64> {
    let [mut low, mut high] = FACTORS.map(libm::log);
    let at = |factor: f64| member.loss(shape, libm::exp(factor) * tokens);
    if at(low) < loss || at(high) > loss {
        return None;
    }
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if at(middle) > loss { low = middle } else { high = middle }
    }
    Some(libm::exp(f64::midpoint(low, high)))
}

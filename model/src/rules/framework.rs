//! What training frameworks refuse to start: combinations that their own checks assert against.
//!
//! Each rule holds where `kernel.framework` is one of those named; `ideal` knows none. A row quotes
//! the check, so that who meets it elsewhere finds it here. Read at Megatron-LM d98e8a6
//! (2026-08-22), MindSpeed 028de58 and MindSpeed-LLM c77308a on Megatron-Core 0.12.1, DeepSpeed
//! edaa722, torchtitan b5bcd76. What models Megatron-Core's main branch doesn't have yet is no
//! rule: published runs of them came from branches.

mod megatron;
mod mindspeed;
mod others;
mod released;

use super::rule::Rule;
use crate::design::Design;
use crate::ground::choice::{
    Choice, Framework, Method, RecomputeGranularity, RecomputeModule, ShardingStrategy, SwapModule,
};
use crate::ground::source::Source;

/// The tables, one for each framework that has rules of its own.
pub(super) const TABLES: [&[Rule]; 3] = [megatron::RULES, mindspeed::RULES, others::RULES];

/// Where a rule of a framework is checked.
pub(super) fn assertion_of(rule: &Rule) -> Option<&'static Assertion> {
    let tables = [
        (megatron::RULES, megatron::ASSERTIONS),
        (mindspeed::RULES, mindspeed::ASSERTIONS),
        (others::RULES, others::ASSERTIONS),
        (released::RULES, released::ASSERTIONS),
    ];
    tables.into_iter().find_map(|(rules, assertions)| {
        let place = rules.iter().position(|known| known.name == rule.name)?;
        assertions.get(place)
    })
}

/// Cautions: what the released code of a framework refuses although a published run of it had it. A
/// search proposes none of it, and a design that has it gets a warning.
pub(crate) const CAUTIONS: &[Rule] = released::RULES;

/// Place of a framework's check, and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assertion {
    /// The values of `kernel.framework` whose runs meet it.
    pub frameworks: &'static [Framework],
    /// Whose code it is.
    pub source: Source,
    /// File and function.
    pub place: &'static str,
    /// Its message.
    pub quote: &'static str,
}

/// A table of rules: name, the frameworks that demand it, knobs, what else is read, where the
/// check stands with what it says, and what is wrong.
macro_rules! framework_rules {
    ($(
        $name:ident [$($framework:ident),+] [$($knob:ident),+] $(+ [$($also:ident),+])?
        $source:ident, $place:expr, $quote:literal,
        |$design:ident| $check:expr;
    )+) => {
        pub(super) const RULES: &[Rule] = &[$(Rule {
            name: stringify!($name),
            knobs: &[$(KnobId::$knob),+],
            reads: KnobSet::of(&[KnobId::framework, $(KnobId::$knob),+])
                $(.and(&[$(KnobId::$also),+]))?,
            check: {
                fn check<W: Words>($design: &Design) -> Option<W> {
                    if !matches!($design.kernel.framework, $(Framework::$framework)|+) {
                        return None;
                    }
                    $check
                }
                Checks { words: check::<String>, verdict: check::<()> }
            },
        },)+];

        /// Assertions of the framework that demand each rule, apart from them: a program that never
        /// shows them doesn't carry them.
        pub(super) static ASSERTIONS: &[Assertion] = &[$(Assertion {
            frameworks: &[$(Framework::$framework),+],
            source: $source,
            place: $place,
            quote: $quote,
        },)+];
    };
}

pub(super) use framework_rules;

fn recomputes_layers(d: &Design) -> bool {
    d.memory.recompute_granularity == RecomputeGranularity::Full
}

fn recomputes(d: &Design, module: RecomputeModule) -> bool {
    d.memory.recompute_granularity == RecomputeGranularity::Selective
        && d.memory.recompute_modules.has(module)
}

fn swaps(d: &Design, module: SwapModule) -> bool {
    d.memory.swap_modules.has(module)
}

/// Are gradients, or parameters too, cut by FSDP or ZeRO-2 and 3?
fn shards_gradients(d: &Design) -> bool {
    matches!(
        d.parallel.data_parallel_sharding_strategy,
        ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams
    )
}

/// Does a forward run beside a backward by a schedule of its own?
fn runs_pairs(d: &Design) -> bool {
    matches!(d.schedule.method, Method::OneForwardOneBackwardOverlap | Method::DualPipeV)
}

/// The public name of a choice.
fn name<C: Choice>(choice: C) -> &'static str {
    choice.name()
}

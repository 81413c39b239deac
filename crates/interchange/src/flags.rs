//! The arguments of Megatron-LM and MindSpeed-LLM: what each sets, or why it changes nothing.
//!
//! Sources: NVIDIA/Megatron-LM `megatron/training/arguments.py`, Ascend/MindSpeed-LLM
//! `mindspeed_llm/training/arguments.py` and Ascend/MindSpeed `mindspeed/features_manager`.

mod plain;
mod setting;

use model::design::KnobId;

use crate::spelling::nearest;

/// Number of words that an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// None: its presence says it.
    Switch,
    /// One.
    One,
    /// Any number.
    Many,
}

/// Effect of an argument on a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Its value is the knob's.
    Value(KnobId),
    /// Its presence gives the knob this value.
    Presence(KnobId, &'static str),
    /// Its value has another name here.
    Name(KnobId, &'static [(&'static str, &'static str)]),
    /// It is read together with others.
    Together,
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flag {
    /// Its name without the dashes in front.
    pub(crate) name: &'static str,
    /// Number of words that it takes.
    pub(crate) arity: Arity,
    /// Effect on a design.
    pub(crate) effect: Effect,
}

/// The argument of a name, as [`crate::arguments::spelled`] gives it.
pub(crate) fn find(name: &str) -> Option<Flag> {
    setting::FLAGS.iter().find(|flag| flag.name == name).copied().or_else(|| {
        plain::FLAGS.iter().find_map(|(arity, reason, names)| {
            let name = names.split(' ').find(|known| *known == name)?;
            Some(Flag { name, arity: *arity, effect: Effect::Nothing(reason) })
        })
    })
}

/// Arguments that are read together with others, of which a design keeps only a part.
const PARTLY: [&str; 4] = ["moe-aux-loss-coeff", BALANCING, "spec", "optimizer-offload-fraction"];

/// Argument that selects the router's load balancing.
pub(crate) const BALANCING: &str = "moe-router-load-balancing-type";

/// Values of [`BALANCING`] that a knob has.
pub(crate) const BALANCED: [&str; 4] = ["none", "aux_loss", "seq_aux_loss", "global_aux_loss"];

/// Whether an argument is the framework's own, and read by no knob. Whoever starts the processes
/// has arguments, too, which another launcher doesn't know.
pub(crate) fn is_extra(name: &str) -> bool {
    let knob = || {
        let name = name.replace('-', "_");
        KnobId::ALL.iter().any(|knob| knob.knob().name == name)
    };
    match find(name).map(|flag| flag.effect) {
        Some(Effect::Nothing(reason)) => reason != plain::LAUNCHER,
        Some(Effect::Together) => PARTLY.contains(&name),
        Some(Effect::Value(_) | Effect::Presence(..) | Effect::Name(..)) => false,
        None => !knob(),
    }
}

/// The known argument that is spelled most like a name.
pub(crate) fn closest(name: &str) -> Option<String> {
    let plain = plain::FLAGS.iter().flat_map(|row| row.2.split(' '));
    let known = setting::FLAGS.iter().map(|flag| flag.name).chain(plain);
    nearest(name, known).map(|name| format!("--{name}"))
}

/// Whether an argument of this name, as [`crate::arguments::spelled`] gives it, sets anything.
pub(crate) fn sets_something(name: &str) -> bool {
    find(name).is_some_and(|flag| !matches!(flag.effect, Effect::Nothing(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_stands_in_the_tables_once() {
        let plain = plain::FLAGS.iter().flat_map(|row| row.2.split(' '));
        let mut names: Vec<&str> = setting::FLAGS.iter().map(|f| f.name).chain(plain).collect();
        names.sort_unstable();
        let repeated: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(repeated.is_empty(), "{repeated:?}");
    }

    #[test]
    fn every_value_that_an_argument_gives_is_one_of_its_knob() {
        let mut design = model::design::Design::from_preset("llama-3-8b").unwrap();
        for flag in setting::FLAGS {
            match flag.effect {
                Effect::Presence(knob, value) => design.set_text(knob, value).unwrap(),
                Effect::Name(knob, names) => {
                    for (_, ours) in names {
                        design.set_text(knob, ours).unwrap();
                    }
                }
                Effect::Value(_) | Effect::Together | Effect::Nothing(_) => {}
            }
        }
    }
}

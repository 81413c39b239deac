//! A session in words: what was done, to what, by whom and when.

use model::design::KnobId;
use model::ground::units::Bytes;
use model::metric::{MetricId, MetricPart};
use review::{Anchor, Change, Edited, Outcome, Person, Role, Room, SaidValue, Setting};

use crate::format;

/// Colours of people; a style sheet has a class for each.
const COLOURS: usize = 8;

/// Subject of a comment: `Peak memory per device, stage 3`.
#[must_use]
pub fn anchor(anchor: &Anchor, room: &Room) -> String {
    match anchor {
        Anchor::Design => "The design".to_owned(),
        Anchor::Metric(address) => {
            let label = address.metric.metric().label;
            match address.part {
                MetricPart::Whole => label.to_owned(),
                MetricPart::Stage(stage) => format!("{label}, stage {stage}"),
                MetricPart::Axis(..) => {
                    let text = address.to_string();
                    let part = text.split_once('@').map_or("", |(_, part)| part);
                    format!("{label}, {part}")
                }
            }
        }
        Anchor::Served(id) => format!("{} when it serves", id.metric().label),
        Anchor::Knob(knob) => knob.knob().label.to_owned(),
        Anchor::Stage(stage) => format!("Stage {stage}"),
        Anchor::Candidate(seq) => {
            let found = room.candidates.iter().find(|found| found.seq == *seq);
            format!("Candidate {}", found.map_or("", |found| found.name.as_str()))
        }
        Anchor::Proposal(seq) => {
            let found = room.proposals.iter().find(|found| found.seq == *seq);
            format!("Proposal by {}", found.map_or("", |found| found.by.name.as_str()))
        }
        Anchor::SweepRow { index, .. } => format!("Design {} of a sweep", format::whole(*index)),
    }
}

/// A value that an anchor had.
#[must_use]
pub fn value(anchor: &Anchor, value: &SaidValue) -> String {
    match (anchor, value) {
        (_, SaidValue::Flag(flag)) => (if *flag { "yes" } else { "no" }).to_owned(),
        (Anchor::Metric(address), SaidValue::Number(number)) => {
            format::measured(address.metric, *number).to_string()
        }
        (Anchor::Served(id), SaidValue::Number(number)) => {
            format::measured(*id, *number).to_string()
        }
        (_, SaidValue::Number(number)) => format::memory(Bytes::new(*number)).to_string(),
        (_, SaidValue::Text(text)) => spelled(text).to_owned(),
    }
}

fn spelled(text: &str) -> &str {
    match text {
        "true" => "on",
        "false" => "off",
        text => text,
    }
}

/// A knob and what it is set to: `EP to 64`.
#[must_use]
pub fn setting(setting: &Setting) -> String {
    let value = setting.value.as_deref().map_or("the preset's value", spelled);
    format!("{} to {value}", knob(&setting.knob))
}

/// A knob's short label, or its id where this version has no such knob.
#[must_use]
pub fn knob(id: &str) -> &str {
    match KnobId::find(id) {
        Ok(known) => format::short_label(known),
        Err(_) => id,
    }
}

fn settings(all: &[Setting]) -> String {
    let words: Vec<String> = all.iter().take(3).map(setting).collect();
    match all.len().saturating_sub(words.len()) {
        0 => format::list(&words),
        rest => format!("{} and {rest} more", words.join(", ")),
    }
}

/// Text of a change, after a name: `set EP to 64`. The room is the session after it.
#[must_use]
pub fn change(change: &Change, room: &Room) -> String {
    let thread = |seq: u64| {
        let found = room.threads.iter().find(|thread| thread.seq() == seq);
        found.map_or_else(String::new, |found| anchor(&found.anchor, room))
    };
    let candidate = |seq: u64| lowered(anchor(&Anchor::Candidate(seq), room));
    match change {
        Change::Create { .. } => "began the session".to_owned(),
        Change::Rename { name } => format!("called the session {name}"),
        Change::Set { settings: all } => format!("set {}", settings(all)),
        Change::Open { .. } => "opened another design".to_owned(),
        Change::Pin { name, .. } => format!("saved the design as {name}"),
        Change::Unpin { candidate: seq } => format!("removed {}", candidate(*seq)),
        Change::Propose { settings: all, .. } => format!("suggested to set {}", settings(all)),
        Change::Withdraw { .. } => "withdrew a suggestion".to_owned(),
        Change::Accept { proposal } => match room.proposals.iter().find(|it| it.seq == *proposal) {
            Some(found) => {
                format!("accepted {}: {}", possessive(&found.by.name), settings(&found.settings))
            }
            None => "accepted a suggestion".to_owned(),
        },
        Change::Reject { .. } => "rejected a suggestion".to_owned(),
        Change::Comment { anchor: of, .. } => {
            format!("commented on {}", lowered(anchor(of, room)))
        }
        Change::Reply { thread: of, .. } => {
            format!("replied about {}", lowered(thread(*of)))
        }
        Change::Resolve { thread: of } => {
            format!("resolved the thread on {}", lowered(thread(*of)))
        }
        Change::Reopen { thread: of } => {
            format!("opened the thread on {} again", lowered(thread(*of)))
        }
        Change::Ask { .. } => "put a question on the agenda".to_owned(),
        Change::Answer { .. } => "answered a question".to_owned(),
        Change::AskAgain { .. } => "asked a question again".to_owned(),
        Change::Decide { outcome, .. } => decided(*outcome).to_owned(),
    }
}

fn possessive(name: &str) -> String {
    if name.is_empty() { "a suggestion".to_owned() } else { format!("{name}'s suggestion") }
}

/// A decision, after a name.
const fn decided(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approve => "approved the design",
        Outcome::Reject => "rejected the design",
        Outcome::NeedsWork => "said that the design needs work",
    }
}

/// A role as what it may do.
#[must_use]
pub const fn role(role: Role) -> &'static str {
    match role {
        Role::View => "Can view",
        Role::Comment => "Can comment",
        Role::Edit => "Can edit",
        Role::Own => "Owner",
    }
}

/// A person's name, or a word in its place.
#[must_use]
pub fn person(person: &Person) -> String {
    if person.name.is_empty() { "A visitor".to_owned() } else { person.name.clone() }
}

/// The `translate` attribute of a person's name: `no` if they gave it, so that it is the same in
/// every language.
pub fn own(person: &Person) -> Option<&'static str> {
    (!person.name.is_empty()).then_some("no")
}

/// Name of the person who made an edit: `Ann`.
#[must_use]
pub fn editor(edited: &Edited) -> String {
    person(&edited.by)
}

/// Initials of a person, at most two; a dot without a name. `raised` gives a text in capitals, as
/// a browser has them at hand.
#[must_use]
pub fn initials(person: &Person, raised: fn(&str) -> String) -> String {
    let letters = person.name.split_whitespace().filter_map(|word| word.chars().next());
    let letters: String = letters.take(2).collect();
    if letters.is_empty() { "·".to_owned() } else { raised(&letters) }
}

/// The class of a person's colour. It is never all that tells people apart.
#[must_use]
pub fn colour(id: &str) -> String {
    // FNV-1a.
    let hash = id
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("person-{}", hash as usize % COLOURS)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment: `22 Nov 2026, 14:05 UTC`.
#[must_use]
pub fn moment(millis: u64) -> String {
    let minutes = millis / 60_000;
    let (days, minutes) = (minutes / 1_440, minutes % 1_440);
    let (year, month, day) = date(days);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    format!("{day} {month} {year}, {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Year, month from zero and day of a number of days since 1970 (Howard Hinnant's algorithm).
const fn date(days: u64) -> (u64, usize, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + (month < 2) as u64;
    (year, month as usize, day)
}

/// A text in the middle of a sentence: its first letter small, unless it begins with an
/// abbreviation. What isn't ASCII is part of a name, and stays.
fn lowered(mut text: String) -> String {
    if text.as_bytes().get(1).is_none_or(u8::is_ascii_lowercase)
        && let Some(first) = text.get_mut(..1)
    {
        first.make_ascii_lowercase();
    }
    text
}

/// The metrics whose change is given for a candidate or a suggestion.
pub const HEADLINE: [MetricId; 4] = [
    MetricId::mfu,
    MetricId::tokens_per_second_per_device,
    MetricId::step_time_seconds,
    MetricId::memory_peak_bytes,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_off_the_calendar() {
        assert_eq!(moment(0), "1 Jan 1970, 00:00 UTC");
        assert_eq!(moment(951_782_399_000), "28 Feb 2000, 23:59 UTC");
        assert_eq!(moment(951_782_400_000), "29 Feb 2000, 00:00 UTC");
        assert_eq!(moment(1_795_356_300_000), "22 Nov 2026, 14:05 UTC");
    }

    #[test]
    fn anchors_and_their_values_read_as_words() {
        let room = Room::default();
        let peak = Anchor::parse("metric:memory_peak_bytes@stage=3").expect("an anchor");
        assert!(anchor(&peak, &room).ends_with(", stage 3"), "{}", anchor(&peak, &room));
        assert_eq!(value(&peak, &SaidValue::Number(Bytes::gib(61.2).get())), "61.2 GiB");
        let flag = Anchor::parse("knob:memory.use_distributed_optimizer");
        if let Ok(flag) = flag {
            assert_eq!(value(&flag, &SaidValue::Text("true".into())), "on");
        }
    }

    #[test]
    fn what_was_done_reads_as_a_sentence() {
        let knob = "parallel.expert_model_parallel_size".to_owned();
        let done = Change::Set { settings: vec![Setting { knob, value: Some("64".into()) }] };
        assert_eq!(change(&done, &Room::default()), "set EP to 64");
    }

    #[test]
    fn a_person_has_initials_and_one_of_eight_colours() {
        let named = |name: &str| Person { name: name.into(), ..Person::default() };
        assert_eq!(initials(&named("ann lee smith"), str::to_uppercase), "AL");
        assert_eq!(initials(&named("王"), str::to_uppercase), "王");
        assert_eq!(initials(&named(""), str::to_uppercase), "·");
        assert!(colour("4f2a").starts_with("person-"));
    }
}

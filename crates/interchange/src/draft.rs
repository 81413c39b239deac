//! A design being made of a text, and all that there is to say about it.

use std::collections::BTreeMap;

use model::catalogue::preset::Preset;
use model::design::violation::Violation;
use model::design::{Design, ExtraArgument, KnobId, Transformer};
use model::ground::knob::KnobError;

use crate::Format;
use crate::card::Card;
use crate::files::Files;
use crate::job::JobSize;
use crate::models::Known;

/// References that are followed, at most.
const MAX_FOLLOWED: u32 = 5_000;

/// Line of a value that a framework has by default.
pub(crate) const DEFAULTED: u64 = u64::MAX;

/// Key of knobs that are set by a comment for Moescape.
pub(crate) const COMMENT: &str = "# moescape:";

/// Key of knobs that are set by an answer of whoever runs the text.
pub(crate) const ANSWER: &str = "--set";

/// Knobs whose value nothing in a text suggests that doesn't speak of them: what the design has
/// meanwhile is no guess.
const UNTOLD_KNOBS: [KnobId; 3] =
    [KnobId::num_devices, KnobId::seq_length, KnobId::global_batch_size];

/// Entries of each list, at most: a text can be wrong in a million places.
const MAX_ENTRIES: usize = 1_000;

/// Unknown keys whose nearest known one is looked for: each is held against all there are.
const MAX_NEAREST: usize = 64;

/// Keys or arguments of a text, at most. Real ones have a few hundred.
pub(crate) const MAX_KEYS: usize = 2_000;

/// A knob that the text sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The knob.
    pub knob: KnobId,
    /// Its value in the design, as links spell it.
    pub value: String,
    /// Key or argument that set it, or several.
    pub key: String,
    /// Line of the text, from 1; 0 where it is no single one.
    pub line: u64,
    /// The file, where there are several.
    pub file: Option<String>,
}

/// Something that the text leaves open, and what was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// The knob, where it is one.
    pub knob: Option<KnobId>,
    /// In a sentence.
    pub detail: String,
}

/// A key that is understood and changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    /// The key or argument.
    pub key: String,
    /// Line of the text, from 1; 0 where it isn't known.
    pub line: u64,
    /// The file, where there are several.
    pub file: Option<String>,
    /// Why it changes nothing.
    pub reason: String,
}

/// A key that nobody here knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The key or argument.
    pub key: String,
    /// Line of the text, from 1; 0 where it isn't known.
    pub line: u64,
    /// The file, where there are several.
    pub file: Option<String>,
    /// The known one that is spelled most like it.
    pub nearest: Option<String>,
}

/// Reason why a text isn't a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Line of the text, from 1; 0 where it is no single one.
    pub line: u64,
    /// The file, where there are several.
    pub file: Option<String>,
    /// The key or argument; empty where it is the text as a whole.
    pub key: String,
    /// Error, in a sentence.
    pub detail: String,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.detail)
    }
}

/// Something that the text leaves to whoever runs it. The design has the guess until it is
/// answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Name by which the answer is given: a knob's id, `env NAME`, `arg N` or `model`.
    pub name: String,
    /// Line of the text, from 1; 0 where it is no single one.
    pub line: u64,
    /// The file, where there are several.
    pub file: Option<String>,
    /// Purpose of the value.
    pub purpose: String,
    /// Value that the design has meanwhile; `None` if nothing suggests one.
    pub guess: Option<String>,
    /// Consequences of the answer.
    pub follows: String,
}

/// Values that whoever runs a text adds to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Values of knobs, which are set last.
    pub knobs: Vec<(KnobId, String)>,
    /// Variables of the environment.
    pub variables: BTreeMap<String, String>,
    /// The script's positional arguments, from `$1` on.
    pub arguments: Vec<String>,
    /// The model's name.
    pub model: Option<String>,
}

impl Answers {
    /// Maximum number of answers.
    const MAX: usize = 200;

    /// Rule of what is no answer.
    pub const WRONG: &'static str = "wrong_answer";

    /// Adds an answer by the name of its question: a knob's id, `env NAME`, `arg N` or `model`.
    ///
    /// # Errors
    /// A name that no question has.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), KnobError> {
        let wrong = |detail: String| KnobError {
            rule: Self::WRONG,
            knob: "answer".to_owned(),
            detail,
            nearest: Vec::new(),
        };
        let value = value.trim();
        if value.is_empty() {
            return Ok(());
        }
        let count = self.knobs.len() + self.variables.len() + self.arguments.len();
        if count >= Self::MAX {
            return Err(wrong(format!("at most {} answers are taken", Self::MAX)));
        }
        if name == "model" {
            self.model = Some(value.to_owned());
        } else if let Some(variable) = name.strip_prefix("env ") {
            self.variables.insert(variable.to_owned(), value.to_owned());
        } else if let Some(place) = name.strip_prefix("arg ") {
            // Arguments before and behind it may be left open.
            let not_one = |_| wrong(format!("`{name}` is no argument's place"));
            place.parse::<u8>().map_err(not_one)?;
            self.variables.insert(place.to_owned(), value.to_owned());
        } else {
            self.knobs.push((KnobId::find(name)?, value.to_owned()));
        }
        Ok(())
    }

    /// The knob's answer: the last one counts.
    #[must_use]
    pub(crate) fn knob(&self, knob: KnobId) -> Option<&str> {
        let answers = self.knobs.iter().rev();
        answers.clone().find(|(own, _)| *own == knob).map(|(_, value)| value.as_str())
    }
}

/// Outcome of reading a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Format as which it was read.
    pub format: Format,
    /// Whose words it has, as people say: a framework's around Megatron-LM, or the format's.
    pub dialect: &'static str,
    /// The design; `None` if there are errors. It may break rules.
    pub design: Option<Design>,
    /// The knobs that the text sets, in registry order.
    pub set: Vec<Set>,
    /// Assumptions where the text leaves something open.
    pub assumed: Vec<Assumed>,
    /// Keys that change nothing.
    pub ignored: Vec<Ignored>,
    /// Keys that aren't known.
    pub unknown: Vec<Unknown>,
    /// Questions to whoever runs it, each with the guess that the design has.
    pub questions: Vec<Question>,
    /// Arguments that no knob reads and that the design carries, so that an export has them.
    pub carried: Vec<String>,
    /// Faults that keep it from being a design.
    pub errors: Vec<Fault>,
    /// Rules that the design breaks.
    pub violations: Vec<Violation>,
}

/// An argument that is handed on, and its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Carried {
    pub(crate) argument: ExtraArgument,
    pub(crate) line: u64,
}

/// An [`Import`] on its way.
pub(crate) struct Draft {
    pub(crate) format: Format,
    pub(crate) design: Design,
    /// The preset that the text itself names.
    pub(crate) preset: Option<&'static Preset>,
    /// Answers of whoever runs the text.
    pub(crate) answers: Answers,
    /// The model that it names, where its shape is known.
    pub(crate) model: Option<Known>,
    /// The accelerator that the text names by the way.
    pub(crate) card: Option<Card>,
    /// Size of the job, as given to schedulers and launchers.
    pub(crate) job: JobSize,
    /// The dialect of a file beside the text, by its title: it counts where the text has none.
    pub(crate) beside: Option<&'static str>,
    /// Name of the framework whose words the text has.
    pub(crate) title: Option<&'static str>,
    /// Knobs that the text's comments for Moescape set, after all that it says by other words.
    pub(crate) commented: Vec<KnobId>,
    /// Whether the text was exported from here.
    pub(crate) is_export: bool,
    /// Whether the text is a command, whose arguments are its framework's even if they aren't
    /// known.
    pub(crate) is_command: bool,
    /// Arguments that the design carries.
    pub(crate) carried: Vec<Carried>,
    /// Knobs that a question for a variable decides.
    pub(crate) open: Vec<KnobId>,
    /// Number of times that a file or value was read because another one names it, up to
    /// [`MAX_FOLLOWED`].
    pub(crate) followed: u32,
    /// The files beside the text.
    pub(crate) files: Files,
    set: Vec<Set>,
    assumed: Vec<Assumed>,
    ignored: Vec<Ignored>,
    unknown: Vec<Unknown>,
    questions: Vec<Question>,
    errors: Vec<Fault>,
}

impl Draft {
    pub(crate) fn new(format: Format, base: Option<&Design>, answers: &Answers) -> Self {
        let design = match (format, base) {
            (Format::HuggingFace, Some(base)) => {
                Design { transformer: Transformer::default(), ..base.clone() }
            }
            (_, Some(base)) => {
                Design { cluster: base.cluster.clone(), ..Design::neutral(base.preset) }
            }
            (_, None) => Design::neutral(default_preset()),
        };
        Self {
            format,
            design,
            preset: None,
            answers: answers.clone(),
            model: None,
            card: None,
            job: JobSize::default(),
            beside: None,
            title: None,
            commented: vec![],
            is_export: false,
            is_command: false,
            carried: vec![],
            open: vec![],
            followed: 0,
            files: Files::default(),
            set: vec![],
            assumed: vec![],
            ignored: vec![],
            unknown: vec![],
            questions: vec![],
            errors: vec![],
        }
    }

    /// Sets a knob that the text speaks of.
    pub(crate) fn set(&mut self, knob: KnobId, value: &str, key: &str, line: u64) {
        if line == DEFAULTED {
            self.default(knob, value);
            let title = self.title.unwrap_or("the framework");
            let detail = format!("no {key}: {value}, as {title} does without being told");
            return self.assume(Some(knob), detail);
        }
        match self.design.set_text(knob, value) {
            Ok(()) => {
                if let Some(place) = self.set.iter().position(|set| set.knob == knob) {
                    let earlier = self.set.swap_remove(place);
                    if earlier.line != line {
                        let reason = format!("{} says it again", shortened(key));
                        self.ignore(&earlier.key, earlier.line, reason);
                    }
                }
                let value = self.design.get(knob).to_string();
                self.set.push(Set { knob, value, key: shortened(key), line, file: None });
            }
            // Whoever answers for a knob needn't mend the text.
            Err(error) if key != ANSWER && self.answers.knob(knob).is_some() => {
                self.ignore(key, line, format!("{error}; answered by {ANSWER}"));
            }
            Err(error) if key != COMMENT && self.commented.contains(&knob) => {
                self.ignore(key, line, format!("{error}; a comment says it"));
            }
            // A word that isn't known is asked for; a number that can't be is wrong.
            Err(error) if value.chars().all(|c| c.is_alphabetic() || c == '_') && key != ANSWER => {
                self.ask_knob(knob, line, &format!("{key}: {error}"), knob.knob().label);
            }
            Err(error) => self.refuse(&error, key, line),
        }
    }

    /// Gives a knob the value that the author's software takes by default.
    pub(crate) fn default(&mut self, knob: KnobId, value: &str) {
        if let Err(error) = self.design.set_text(knob, value) {
            self.refuse(&error, "", 0);
        }
    }

    /// Puts a knob back to a value where its argument turns out to say nothing.
    pub(crate) fn withdraw(&mut self, knob: KnobId, value: &str, reason: &str) {
        if let Some(place) = self.set.iter().position(|set| set.knob == knob) {
            let set = self.set.swap_remove(place);
            self.ignore(&set.key, set.line, reason);
        }
        self.default(knob, value);
    }

    fn refuse(&mut self, error: &KnobError, key: &str, line: u64) {
        self.fault(line, key, error.to_string());
    }

    pub(crate) fn fault(&mut self, line: u64, key: &str, detail: impl Into<String>) {
        push(
            &mut self.errors,
            Fault { line, file: None, key: shortened(key), detail: detail.into() },
        );
    }

    /// A name that is no knob's, with the nearest one, which isn't looked for once there are many.
    pub(crate) fn unknown_knob(&mut self, key: &str, line: u64) {
        let near = if self.errors.len() < MAX_NEAREST { KnobId::find(key).err() } else { None };
        let detail = near.map_or_else(|| "there is no such knob".to_owned(), |it| it.to_string());
        self.fault(line, key, detail);
    }

    /// Asks once for each name; what is answered isn't asked.
    pub(crate) fn ask(&mut self, question: Question) {
        let knob = KnobId::ALL.iter().copied().find(|knob| knob.id() == question.name);
        let answered = knob.is_some_and(|knob| self.answers.knob(knob).is_some());
        if !answered && self.questions.iter().all(|asked| asked.name != question.name) {
            push(&mut self.questions, question);
        }
    }

    /// Whether a question of this name is open.
    pub(crate) fn is_asked(&self, name: &str) -> bool {
        self.questions.iter().any(|asked| asked.name == name)
    }

    /// Asks for a knob that the text leaves open; the design keeps the value that it has.
    pub(crate) fn ask_knob(&mut self, knob: KnobId, line: u64, purpose: &str, follows: &str) {
        if self.open.contains(&knob) {
            return;
        }
        let is_guess = line > 0 || !UNTOLD_KNOBS.contains(&knob);
        let guess = is_guess.then(|| self.design.get(knob).to_string());
        let (purpose, follows) = (purpose.to_owned(), follows.to_owned());
        self.ask(Question { name: knob.id(), line, file: None, purpose, guess, follows });
    }

    /// Asks nothing more about the model and its knobs: the comments of an export say them all.
    pub(crate) fn settle(&mut self) {
        let is_knob = |name: &str| KnobId::ALL.iter().any(|knob| knob.id() == name);
        self.questions.retain(|asked| asked.name != "model" && !is_knob(&asked.name));
    }

    pub(crate) fn assume(&mut self, knob: Option<KnobId>, detail: impl Into<String>) {
        push(&mut self.assumed, Assumed { knob, detail: detail.into() });
    }

    pub(crate) fn ignore(&mut self, key: &str, line: u64, reason: impl Into<String>) {
        if line == DEFAULTED {
            return;
        }
        push(
            &mut self.ignored,
            Ignored { key: shortened(key), line, file: None, reason: reason.into() },
        );
    }

    /// A key with the known one that is nearest, which isn't looked for once there are
    /// many.
    pub(crate) fn unknown_near(
        &mut self,
        key: &str,
        line: u64,
        nearest: impl FnOnce() -> Option<String>,
    ) {
        let nearest = if self.unknown.len() < MAX_NEAREST { nearest() } else { None };
        self.unknown(key, line, nearest);
    }

    pub(crate) fn unknown(&mut self, key: &str, line: u64, nearest: Option<String>) {
        push(&mut self.unknown, Unknown { key: shortened(key), line, file: None, nearest });
    }

    /// The first keys that aren't known.
    pub(crate) fn unread(&self) -> String {
        let keys: Vec<&str> = self.unknown.iter().take(6).map(|it| it.key.as_str()).collect();
        keys.join(", ")
    }

    /// Whether the lists of set knobs, ignored keys or errors have a key.
    pub(crate) fn mentions(&self, key: &str) -> bool {
        let named = |keys: &str| keys.split([',', ' ']).any(|part| part == key);
        self.set.iter().any(|set| named(&set.key))
            || self.ignored.iter().any(|ignored| named(&ignored.key))
            || self.errors.iter().any(|fault| named(&fault.key))
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Counts what is read because something names it, and says whether that may go on.
    pub(crate) fn follow(&mut self) -> bool {
        self.followed = self.followed.saturating_add(1);
        self.followed <= MAX_FOLLOWED
    }

    /// Whether the text sets the knob.
    pub(crate) fn is_set(&self, knob: KnobId) -> bool {
        self.set.iter().any(|set| set.knob == knob)
    }

    /// Entry of the list of set knobs for a knob.
    pub(crate) fn setting(&self, knob: KnobId) -> Option<&Set> {
        self.set.iter().find(|set| set.knob == knob)
    }

    /// Whether the knob has its framework's default.
    pub(crate) fn is_assumed(&self, knob: KnobId) -> bool {
        self.assumed.iter().any(|assumed| assumed.knob == Some(knob))
    }

    /// Whether the text sets nothing.
    pub(crate) fn sets_nothing(&self) -> bool {
        self.set.is_empty()
    }

    /// Sets the knobs that are answered; a wrong value of the text for one is no error then.
    pub(crate) fn answer(&mut self) {
        for (knob, value) in self.answers.knobs.clone() {
            self.set(knob, &value, ANSWER, 0);
        }
    }

    /// The design alone, whatever rules it breaks.
    ///
    /// # Errors
    /// What keeps the text from being one.
    pub(crate) fn design(mut self) -> Result<Design, Vec<Fault>> {
        self.place();
        if let Some(preset) = self.preset {
            self.design.preset = preset;
        }
        if self.errors.is_empty() { Ok(self.design) } else { Err(self.errors) }
    }

    pub(crate) fn finish(mut self, base: Option<&Design>) -> Import {
        if let Some(preset) = self.preset {
            self.design.preset = preset;
        } else if base.is_none() {
            self.design.preset = nearest_preset(&self.design);
        }
        self.set.sort_by_key(|set| set.knob);
        self.place();
        let extra = self.design.kernel.extra_arguments.as_deref();
        let carried = extra.and_then(ExtraArgument::list).unwrap_or_default();
        let design = self.errors.is_empty().then_some(self.design);
        let broken = |design: &Design| match self.format {
            Format::Serving => model::serving::ServingPlan::new(design).err(),
            Format::HuggingFace | Format::Megatron | Format::Mindspeed | Format::Design => {
                model::Plan::new(design).err()
            }
        };
        let violations = design.as_ref().and_then(broken).unwrap_or_default();
        Import {
            format: self.format,
            dialect: self.title.unwrap_or_else(|| self.format.title()),
            design,
            set: self.set,
            assumed: self.assumed,
            ignored: self.ignored,
            unknown: self.unknown,
            questions: self.questions,
            carried: carried.into_iter().map(|it| format!("--{}", it.name)).collect(),
            errors: self.errors,
            violations,
        }
    }
}

impl Draft {
    /// Names the files that lines are of.
    fn place(&mut self) {
        let files = self.files.clone();
        let place = |line: &mut u64, file: &mut Option<String>| (*line, *file) = files.place(*line);
        self.set.iter_mut().for_each(|it| place(&mut it.line, &mut it.file));
        self.ignored.iter_mut().for_each(|it| place(&mut it.line, &mut it.file));
        self.unknown.iter_mut().for_each(|it| place(&mut it.line, &mut it.file));
        self.questions.iter_mut().for_each(|it| place(&mut it.line, &mut it.file));
        self.errors.iter_mut().for_each(|it| place(&mut it.line, &mut it.file));
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < MAX_ENTRIES {
        list.push(item);
    }
}

fn default_preset() -> &'static Preset {
    Preset::find(Preset::DEFAULT_ID).expect("the default preset is in the table")
}

/// The preset from which fewest knobs differ: it makes the shortest link and file.
fn nearest_preset(design: &Design) -> &'static Preset {
    let mut design = design.clone();
    let openable = Preset::all().filter(|preset| preset.refused.is_none());
    let nearest = openable.min_by_key(|preset| {
        design.preset = preset;
        design.changed().len()
    });
    nearest.unwrap_or_else(default_preset)
}

/// At most 120 characters of something that a person sent.
pub(crate) fn shortened(text: &str) -> String {
    model::ground::text::cut(text, 120)
}

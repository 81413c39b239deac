//! A verb's definition, and its entry in the table that doors loop over.

use clap::{ArgMatches, Args, FromArgMatches};
use model::design::file::{Tree, json};
use model::design::violation::Violation;
use reports::typed::{DesignFile, Said, Written};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments;
use crate::caller::Caller;
use crate::refusal::{Kind, Refusal};

/// A verb: what it takes, what it answers, and how that is said.
///
/// [`Operation::run`] is the verb; an answer has three forms: [`Operation::output`] for programs
/// (the command's `--json`, HTTP and Python), [`Operation::text`] for people at a terminal, and
/// [`Operation::brief`] for agents, with a link and the evidence of each number.
pub trait Operation: 'static {
    /// Name of the command, the tool, the route's last part and the Python function.
    const NAME: &'static str;
    /// Line of the command in the list of commands.
    const SUMMARY: &'static str;
    /// Title of the tool.
    const TITLE: &'static str;
    /// Description of the tool: what it answers, its limits, and what it leaves open.
    const DESCRIPTION: &'static str;
    /// Whether a call takes all cores for seconds.
    const IS_SEARCH: bool = false;
    /// Whether the answer has a table for other programs, `--csv`.
    const HAS_TABLE: bool = false;
    /// Whether its command is made of its input alone; else the command line has a runner of its
    /// own around it.
    const HAS_COMMAND: bool = true;
    /// Whether `POST /api/v1/NAME` takes its arguments; else a route of its own takes another body.
    const HAS_ROUTE: bool = true;

    /// Examples of arguments, as programs send them.
    const EXAMPLES: &'static [Example] = &[];

    /// Arguments of the command, keys of the body and of the tool: one struct, each field once.
    type Input: Args + DeserializeOwned + JsonSchema + Send + 'static;
    /// Answer, before a door says it.
    type Answer: Send + 'static;
    /// Answer for programs.
    type Output: Said + JsonSchema + 'static;
    /// Answer for agents.
    type Brief: Serialize + JsonSchema + 'static;

    /// Answers a call.
    ///
    /// # Errors
    /// Everything that is wrong with the input. A design that breaks rules is answered; see
    /// [`Operation::violations`].
    fn run(input: Self::Input, caller: &dyn Caller) -> Result<Self::Answer, Refusal>;

    /// The answer for programs.
    fn output(answer: &Self::Answer) -> Written<Self::Output>;

    /// The answer for people.
    fn text(answer: &Self::Answer) -> String;

    /// The answer for agents, as data and in words.
    fn brief(answer: &Self::Answer, caller: &dyn Caller) -> (Self::Brief, String);

    /// Bytes that the command prints unless asked for JSON: the answer for people, or a file.
    fn bytes(answer: &Self::Answer) -> Vec<u8> {
        Self::text(answer).into_bytes()
    }

    /// Checks that `--json` prints more than the command does without it.
    ///
    /// # Errors
    /// It doesn't.
    fn check_json(_: &Self::Answer) -> Result<(), Refusal> {
        Ok(())
    }

    /// Rules that the design breaks: for people and in Python an error, elsewhere part of the
    /// answer.
    fn violations(_: &Self::Answer) -> &[Violation] {
        &[]
    }

    /// Reason why the command fails although there is an answer, which programs have in full. A
    /// check that is missed stands beside the answer for people, anything else in its place.
    fn failure(_: &Self::Answer) -> Option<Refusal> {
        None
    }

    /// Remarks beside the answer for people, a line each.
    fn remarks(_: &Self::Answer) -> Vec<String> {
        vec![]
    }

    /// The answer as a table for other programs, where [`Operation::HAS_TABLE`].
    ///
    /// # Errors
    /// The answer has no table.
    fn table(_: &Self::Answer, _: &dyn Caller) -> Result<String, Refusal> {
        Ok(String::new())
    }

    /// Another operation that the command was asked for in this one's place: `predict --explain` is
    /// `explain`.
    ///
    /// # Errors
    /// As of that operation.
    fn detour(_: &Self::Input, _: &dyn Caller) -> Result<Option<Detour>, Refusal> {
        Ok(None)
    }

    /// The command of the input's arguments, where more is to be said of it.
    #[must_use]
    fn command(command: clap::Command) -> clap::Command {
        command
    }
}

/// Arguments that show what an operation takes.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name among the examples of the operation.
    pub name: &'static str,
    /// Line on what is asked.
    pub summary: &'static str,
    /// The arguments, JSON.
    pub arguments: &'static str,
}

/// Answer of another operation, in its two forms for a terminal.
pub struct Detour {
    json: Tree,
    text: String,
}

impl Detour {
    /// Answer of this operation.
    pub fn of<T: Operation>(answer: &T::Answer) -> Self {
        Self { json: T::output(answer).said(), text: T::text(answer) }
    }
}

/// Result of a command: what goes to stdout, and why it fails beside that.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// Bytes for stdout.
    pub bytes: Vec<u8>,
    /// Reason of the failure.
    pub refusal: Option<Refusal>,
}

/// Answer for programs, with the rules that the design breaks.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The answer as data.
    pub tree: Tree,
    /// Broken rules.
    pub violations: Vec<Violation>,
}

/// Answer for agents: data, and the same in words.
pub(crate) type Briefed = Result<(Value, String), Refusal>;

/// An operation in the table: what a door needs of it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// See [`Operation::NAME`].
    pub name: &'static str,
    /// See [`Operation::SUMMARY`].
    pub summary: &'static str,
    /// See [`Operation::TITLE`].
    pub title: &'static str,
    /// See [`Operation::DESCRIPTION`].
    pub description: &'static str,
    /// See [`Operation::IS_SEARCH`].
    pub is_search: bool,
    /// See [`Operation::HAS_COMMAND`].
    pub has_command: bool,
    /// See [`Operation::HAS_ROUTE`].
    pub has_route: bool,
    /// See [`Operation::EXAMPLES`].
    pub examples: &'static [Example],
    /// Makes the command with its arguments.
    pub command: fn() -> clap::Command,
    /// Runs the command.
    pub print: fn(&ArgMatches, &dyn Caller) -> Result<Printed, Refusal>,
    /// Answers an agent: data, and the same in words.
    pub brief: fn(Tree, &dyn Caller) -> Briefed,
    /// Answers a program.
    pub answer: fn(Tree, &dyn Caller) -> Result<Answered, Refusal>,
    /// Form of the input.
    pub input: Form,
    /// Makes the schema of a request's body: the input, or the design alone where it has one.
    pub body: fn(&mut SchemaGenerator) -> Schema,
    /// Form of the answer for programs.
    pub output: Form,
    /// Form of the answer for agents.
    pub brief_form: Form,
}

impl Entry {
    /// Arguments with those of an address behind its `?`, their names and types checked.
    ///
    /// # Errors
    /// Arguments that there aren't, that are given twice, or of a wrong type.
    pub fn arguments(
        &self,
        arguments: Tree,
        parameters: Vec<(String, String)>,
    ) -> Result<Tree, Refusal> {
        let form = (self.input.whole)(SchemaGenerator::default());
        let arguments = arguments::merged(&form, arguments, parameters)?;
        arguments::check(&form, &arguments)?;
        Ok(arguments)
    }
}

/// Form of a type, as a schema of its own or as one among others.
#[derive(Clone, Copy)]
pub struct Form {
    /// Makes the schema with all that it refers to.
    pub whole: fn(SchemaGenerator) -> Schema,
    /// Makes the schema, which refers to definitions of the generator.
    pub part: fn(&mut SchemaGenerator) -> Schema,
}

impl Form {
    /// Form of a type.
    #[must_use]
    pub const fn of<T: JsonSchema>() -> Self {
        Self {
            whole: SchemaGenerator::into_root_schema_for::<T>,
            part: SchemaGenerator::subschema_for::<T>,
        }
    }
}

/// The entry of an operation.
#[must_use]
pub const fn entry<T: Operation>() -> Entry {
    Entry {
        name: T::NAME,
        summary: T::SUMMARY,
        title: T::TITLE,
        description: T::DESCRIPTION,
        is_search: T::IS_SEARCH,
        has_command: T::HAS_COMMAND,
        has_route: T::HAS_ROUTE,
        examples: T::EXAMPLES,
        command: command::<T>,
        print: print::<T>,
        brief: brief::<T>,
        answer: answer::<T>,
        input: Form::of::<T::Input>(),
        body: body::<T>,
        output: Form::of::<T::Output>(),
        brief_form: Form::of::<T::Brief>(),
    }
}

fn body<T: Operation>(generator: &mut SchemaGenerator) -> Schema {
    let input = generator.subschema_for::<T::Input>();
    let schema = T::Input::json_schema(&mut SchemaGenerator::default());
    let takes_design = schema.get("properties").is_some_and(|it| it.get("design").is_some());
    if takes_design {
        json_schema!({"oneOf": [generator.subschema_for::<DesignFile>(), input]})
    } else {
        input
    }
}

fn command<T: Operation>() -> clap::Command {
    // The input's own comment describes it to programs.
    let command = T::Input::augment_args(clap::Command::new(T::NAME));
    let command = command.about(T::SUMMARY).long_about(None);
    let json = clap::Arg::new("json").long("json").help("Print JSON");
    let json = json.action(clap::ArgAction::SetTrue);
    if !T::HAS_TABLE {
        return T::command(command.arg(json));
    }
    let csv = clap::Arg::new("csv").long("csv").help("Print a table for other programs");
    let csv = csv.action(clap::ArgAction::SetTrue);
    T::command(command.arg(json.conflicts_with("csv")).arg(csv))
}

fn print<T: Operation>(matches: &ArgMatches, caller: &dyn Caller) -> Result<Printed, Refusal> {
    let input = T::Input::from_arg_matches(matches)
        .map_err(|error| Refusal::new("wrong_arguments", "", error.to_string()))?;
    let is_json = matches.get_flag("json");
    if let Some(Detour { json, text }) = T::detour(&input, caller)? {
        let text = if is_json { json::print(&json) } else { text };
        return Ok(Printed { bytes: text.into_bytes(), refusal: None });
    }
    let answer = T::run(input, caller)?;
    let broken = T::violations(&answer);
    let refusal =
        if broken.is_empty() { T::failure(&answer) } else { Some(Refusal::broken(broken)) };
    if !is_json || refusal.is_some() {
        T::remarks(&answer).iter().for_each(|line| caller.remark(line));
    }
    let bytes = if is_json {
        T::check_json(&answer)?;
        json::print(&T::output(&answer).said()).into_bytes()
    } else if refusal.as_ref().is_some_and(|it| it.kind != Kind::Missed) {
        Vec::new()
    } else if T::HAS_TABLE && matches.get_flag("csv") {
        T::table(&answer, caller)?.into_bytes()
    } else {
        T::bytes(&answer)
    };
    Ok(Printed { bytes, refusal })
}

fn brief<T: Operation>(arguments: Tree, caller: &dyn Caller) -> Briefed {
    let input = arguments::read::<T::Input>(arguments)?;
    // Whoever left while they waited isn't worked for.
    if !caller.waits() {
        return Err(caller.ended("call again"));
    }
    let answer = T::run(input, caller)?;
    if let Some(refusal) = T::failure(&answer) {
        return Err(refusal);
    }
    let (brief, text) = T::brief(&answer, caller);
    let brief = serde_json::to_value(brief);
    let brief = brief.map_err(|error| Refusal::new("internal", "", error.to_string()))?;
    Ok((brief, text))
}

fn answer<T: Operation>(arguments: Tree, caller: &dyn Caller) -> Result<Answered, Refusal> {
    let answer = T::run(arguments::read::<T::Input>(arguments)?, caller)?;
    let violations = T::violations(&answer).to_vec();
    Ok(Answered { tree: T::output(&answer).said(), violations })
}

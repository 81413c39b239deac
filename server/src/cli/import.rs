//! `moescape import`: a design of what others write.

use std::path::PathBuf;

use interchange::{Answers, Bundle, Format, Import, import_with, is_archive, unpacked};
use model::design::Design;
use model::design::file::{Extent, json};
use model::ground::knob::KnobError;

use super::{Failure, folder, input, output};
use crate::{designs::exports, imported};
use operations::remarks::{assumed, question, unknown};

/// What to read and how to write it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Who wrote the file
    format: Written,
    /// A config.json, launch script, recipe, YAML or TOML file, a folder, or an archive (zip, tar,
    /// tar.gz) of such; several are read together; `-` reads stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Of several files, the one that starts the run; found by itself where it isn't said
    #[arg(long, value_name = "PATH")]
    entry: Option<String>,
    /// Answer a question by its own name: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`,
    /// `num_devices=64`
    #[arg(long = "answer", value_name = "QUESTION=VALUE")]
    answers: Vec<String>,
    /// Answer a question for a knob, or set it in any case; the last one wins
    #[arg(long = "set", value_name = "KNOB=VALUE")]
    settings: Vec<String>,
    /// Set a variable of the environment that the script is run in
    #[arg(long = "env", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// The script's own arguments, in one word: `--args "1 8 4096"`
    #[arg(long = "args", value_name = "ARGS", allow_hyphen_values = true)]
    arguments: Option<String>,
    /// The model, where its name in the file says nothing: a preset or a name such as qwen2.5-72b
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Take from this preset what the file doesn't speak of: for a config.json all but the shape of
    /// the model, for a launch script the cluster
    #[arg(long, value_name = "ID")]
    preset: Option<String>,
    /// Print JSON: the design and every list
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Written {
    /// Hugging Face's config.json
    Hf,
    /// Megatron-LM's arguments, and what the frameworks around it call them
    Megatron,
    /// MindSpeed-LLM's arguments
    Mindspeed,
    /// An inference engine's launch command, or MindIE's config.json
    Serving,
    /// Our own design file, JSON or TOML
    Design,
    /// Detected automatically
    Auto,
}

/// Prints the design as TOML, and beside it what was assumed, ignored and not known.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let format = match arguments.format {
        Written::Hf => Some(Format::HuggingFace),
        Written::Megatron => Some(Format::Megatron),
        Written::Mindspeed => Some(Format::Mindspeed),
        Written::Serving => Some(Format::Serving),
        Written::Design => Some(Format::Design),
        Written::Auto => None,
    };
    let answers = answers(arguments)?;
    let wrong = |error: KnobError| Failure::user(error.to_string());
    let base = arguments.preset.as_deref().map(Design::from_preset).transpose().map_err(wrong)?;
    let import = match read(arguments)? {
        Source::Text(text) => {
            let format = format.unwrap_or_else(|| Format::detect(&text));
            import_with(format, &text, base.as_ref(), &answers)
        }
        Source::Files(files) => {
            files.import(format, arguments.entry.as_deref(), base.as_ref(), &answers)
        }
    };
    if arguments.json {
        output::result(&json::print(&imported::report(&import)))?;
    }
    let Some(design) = &import.design else {
        import.questions.iter().map(question).for_each(|line| output::message(&line));
        return Err(Failure::User(import.errors.iter().map(ToString::to_string).collect()));
    };
    if !arguments.json {
        remarks(&import).iter().for_each(|line| output::message(line));
        let toml = exports::toml(design, Extent::Changed, &exports::provenance(design));
        output::result(&toml.map_err(Failure::Internal)?)?;
    }
    Ok(())
}

/// Input: one text, or files.
enum Source {
    Text(String),
    Files(Bundle),
}

/// Reads what the command names: one text, or files together.
fn read(arguments: &Arguments) -> Result<Source, Failure> {
    if let [file] = arguments.files.as_slice()
        && !file.is_dir()
    {
        let bytes = input::read_bytes(file, interchange::MAX_ARCHIVE as u64)?;
        if is_archive(&bytes) {
            return unpacked(&bytes).map(Source::Files).map_err(Failure::user);
        }
        return input::read_text_of(file, bytes).map(Source::Text);
    }
    let mut files = vec![];
    for path in &arguments.files {
        if path.is_dir() {
            folder::read(path, path, 0, &mut files)?;
        } else {
            files.push((path.display().to_string(), input::read_import(path)?));
        }
    }
    // Paths of single files may lead anywhere: the person names them.
    files.iter_mut().for_each(|(path, _)| {
        *path = path.trim_start_matches(['/', '.']).replace("../", "");
    });
    Bundle::new(files).map(Source::Files).map_err(Failure::user)
}

/// Answers given on the command line.
fn answers(arguments: &Arguments) -> Result<Answers, Failure> {
    let mut answers = Answers { model: arguments.model.clone(), ..Answers::default() };
    let mut wrong: Vec<String> = vec![];
    for answer in &arguments.answers {
        wrong.extend(crate::answers::import_answers::answer(&mut answers, answer).err());
    }
    for setting in &arguments.settings {
        wrong.extend(crate::answers::import_answers::set(&mut answers, setting).err());
    }
    for variable in &arguments.variables {
        wrong.extend(crate::answers::import_answers::env(&mut answers, variable).err());
    }
    let words = arguments.arguments.iter().flat_map(|text| text.split_whitespace());
    answers.arguments = words.map(str::to_owned).collect();
    if wrong.is_empty() { Ok(answers) } else { Err(Failure::User(wrong)) }
}

/// Remarks beside the design, in lines; everything that is ignored for one reason is in one.
fn remarks(import: &Import) -> Vec<String> {
    let mut lines = vec![format!("read as: {}", import.dialect)];
    lines.extend(import.questions.iter().map(question));
    lines.extend(import.unknown.iter().map(unknown));
    lines.extend(import.assumed.iter().map(assumed));
    let mut reasons: Vec<&str> = vec![];
    for ignored in &import.ignored {
        if !reasons.contains(&ignored.reason.as_str()) {
            reasons.push(&ignored.reason);
        }
    }
    for reason in reasons {
        let same = import.ignored.iter().filter(|ignored| ignored.reason == reason);
        let keys: Vec<&str> = same.map(|ignored| ignored.key.as_str()).collect();
        lines.push(format!("ignored: {} ({reason})", keys.join(", ")));
    }
    lines.extend(carried(&import.carried));
    let violations = import.violations.iter().map(output::broken_rule);
    lines.extend(violations.map(|line| format!("breaks a rule: {line}")));
    lines
}

/// Arguments that the design carries and no knob reads, in a line.
fn carried(carried: &[String]) -> Option<String> {
    let count = carried.len() as u64;
    (count > 0).then(|| {
        let count = present::format::counted(count, "argument", "arguments");
        format!("carried: {count} that no knob reads, for exports ({})", carried.join(", "))
    })
}

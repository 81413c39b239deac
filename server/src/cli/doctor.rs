//! `moescape doctor`: is all there that `moescape serve` needs? Each answer says what to do.

mod health;
mod reach;
mod database;
mod written;
mod checks;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use model::design::file::{Tree, json};

use super::settings::{self, Fault};
use super::{Command, Failure, Own, output, serve};

/// What is looked at.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory of the server's data [default: as `moescape serve` has it]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The server's file of settings
    #[arg(long, value_name = "FILE", env = "MOESCAPE_CONFIG")]
    config: Option<PathBuf>,
    /// NATS with JetStream that the server is to use
    #[arg(long, value_name = "nats://HOST:PORT")]
    engine: Option<String>,
    /// Database of PostgreSQL that the server is to use
    #[arg(long, value_name = "postgres://USER@HOST/DATABASE")]
    store: Option<String>,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
    /// Only ask a server whether it is ready, as a container does [default: where `moescape
    /// serve` listens]
    #[arg(
        long,
        value_name = "http://HOST:PORT",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "json"
    )]
    health: Option<String>,
}

/// State of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    /// Works, and may not for long, or not for all.
    Warning,
    Broken,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

/// Result of a check: what was found, and what to do about it.
#[derive(Debug)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    todo: Option<String>,
}

impl Check {
    fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Fine, found: found.into(), todo: None }
    }

    fn new(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        Self { name, state, found: found.into(), todo: Some(todo.into()) }
    }
}

/// Looks, and says what was found.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(url) = &arguments.health {
        return ready(arguments, url);
    }
    let (config, serve) = settled(arguments);
    let mut checks = vec![checks::versions(), config];
    if let Some(serve) = &serve {
        checks.extend(checks::all(serve));
    }
    output::result(&if arguments.json { as_json(&checks) } else { as_table(&checks) })?;
    let broken = checks.iter().filter(|check| check.state == State::Broken).count();
    if broken == 0 {
        return Ok(());
    }
    Err(Failure::Internal(format!(
        "{} broken",
        present::format::counted(broken as u64, "thing is", "things are")
    )))
}

/// Asks a server; without an address the one of the settings.
fn ready(arguments: &Arguments, url: &str) -> Result<(), Failure> {
    let address = match url {
        "" => match settled(arguments) {
            (_, Some(serve)) => health::own(&serve.listen),
            (check, None) => return Err(Failure::user(check.found)),
        },
        url => health::address(url).map_err(Failure::user)?,
    };
    match health::ask(&address, "/readyz") {
        Ok(_) => output::result(&format!("http://{address} is ready\n")),
        Err(why) => Err(Failure::Internal(format!("http://{address} isn't ready: {why}"))),
    }
}

/// The server's settings, as it would have them.
fn settled(arguments: &Arguments) -> (Check, Option<serve::Arguments>) {
    let mut line: Vec<OsString> = ["moescape", "serve"].map(Into::into).to_vec();
    let mut add = |name: &str, value: OsString| line.extend([name.into(), value]);
    if let Some(file) = &arguments.config {
        add("--config", file.into());
    }
    if let Some(data) = &arguments.data {
        add("--data", data.into());
    }
    if let Some(engine) = &arguments.engine {
        add("--engine", engine.into());
    }
    if let Some(store) = &arguments.store {
        add("--store", store.into());
    }
    let broken = |lines: &[String]| {
        let todo = "mend it; `moescape serve --print-config` shows what holds then";
        Check::new("configuration", State::Broken, lines.join("; "), todo)
    };
    let settled = match settings::settle(&line) {
        Ok(settled) => settled,
        Err(Fault::File(lines)) => return (broken(&lines), None),
        Err(Fault::Usage(error)) => return (broken(&[settings::in_one_line(&error)]), None),
    };
    let serve = if let Command::Own(own) = settled.command
        && let Own::Serve(serve) = *own
    {
        Some(serve)
    } else {
        None
    };
    let Some(serve) = serve else {
        return (broken(&["it isn't the server's".to_owned()]), None);
    };
    let found = match &arguments.config {
        Some(file) => format!("{} is read", file.display()),
        None => "no file: flags, environment and defaults hold".to_owned(),
    };
    (Check::fine("configuration", found), Some(*serve))
}

fn as_table(checks: &[Check]) -> String {
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|check| {
            vec![check.state.name().to_owned(), check.name.to_owned(), check.found.clone()]
        })
        .collect();
    let mut text = operations::table("lll", &rows);
    let todos = checks.iter().filter_map(|check| Some((check, check.todo.as_ref()?)));
    for (check, todo) in todos {
        let _ = write!(text, "\n{}, {}: {todo}\n", check.state.name(), check.name);
    }
    text
}

fn as_json(checks: &[Check]) -> String {
    let fine = checks.iter().all(|check| check.state != State::Broken);
    let each = checks.iter().map(|check| {
        Tree::map([
            ("check", check.name.into()),
            ("state", check.state.name().into()),
            ("found", check.found.as_str().into()),
            ("todo", check.todo.as_deref().map_or(Tree::Null, Into::into)),
        ])
    });
    let tree = Tree::map([("ok", fine.into()), ("checks", Tree::List(each.collect()))]);
    format!("{}\n", json::print(&tree))
}

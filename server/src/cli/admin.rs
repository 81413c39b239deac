//! `moescape admin`: what a server keeps, for whoever runs it. It works on the data directory, and
//! a server may run on that meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Failure, output, serve};
use crate::people::audit_events::Kind;
use crate::people::storage_usage::{self, StoredItem, Sum};
use crate::store::{self, Address, Home, Lazy, StoreError};
use crate::{ground::calendar, ground::log_fields};

/// Digits of an owner's hash that are shown, and the fewest that name one.
const OWNER_DIGITS: usize = 8;

/// Owner shown for things that were made before there were owners.
const NOBODY: &str = "unknown";

/// What to do with what is kept.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Who takes how much, by kind
    Usage(Usage),
    /// List what is kept: id, owner, bytes, when it was made and used last
    List(List),
    /// Print what is known of one thing, as JSON lines
    Show(Show),
    /// Delete things, or all of an owner
    Delete(Delete),
    /// Print all that an owner keeps, as JSON lines
    Export(Export),
}

/// Where a server keeps its data.
#[derive(Debug, clap::Args)]
struct Place {
    /// Directory of the server's data [default: the XDG data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Database of PostgreSQL that the server keeps its store in, where `serve` has a `--store`;
    /// traces are in the data directory
    #[arg(
        long,
        env = "MOESCAPE_STORE",
        hide_env_values = true,
        value_name = "postgres://USER@HOST/DATABASE"
    )]
    store: Option<Address>,
}

/// Whose.
#[derive(Debug, clap::Args)]
struct Usage {
    #[command(flatten)]
    place: Place,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

/// Which.
#[derive(Debug, clap::Args)]
struct List {
    /// Only these: design, session, sweep, trace
    #[arg(value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,
    #[command(flatten)]
    place: Place,
    /// Only this owner's: the first digits, at least 8, or `unknown`
    #[arg(long, value_name = "OWNER", value_parser = owner)]
    owner: Option<String>,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

/// What.
#[derive(Debug, clap::Args)]
struct Show {
    /// Its id, or a trace's hash
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    place: Place,
}

/// What goes.
#[derive(Debug, clap::Args)]
struct Delete {
    /// Their ids
    #[arg(value_name = "ID", required_unless_present = "owner")]
    ids: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// All of this owner: the first digits, at least 8, or `unknown`
    #[arg(long, value_name = "OWNER", value_parser = owner, conflicts_with = "ids")]
    owner: Option<String>,
    /// Do it; without this it is only said what would go
    #[arg(long)]
    yes: bool,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

/// Whose goes out.
#[derive(Debug, clap::Args)]
struct Export {
    /// The first digits of an owner, at least 8, or `unknown`
    #[arg(long, value_name = "OWNER", value_parser = owner)]
    owner: String,
    #[command(flatten)]
    place: Place,
}

fn kind(text: &str) -> Result<Kind, String> {
    // A list is of many.
    let single = text.strip_suffix('s').unwrap_or(text);
    let known = || Kind::ALL.map(Kind::name).join(", ");
    Kind::from_name(single).ok_or_else(|| format!("it is one of {}", known()))
}

fn owner(text: &str) -> Result<String, String> {
    let is_hash = text.len() >= OWNER_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash || text == NOBODY {
        return Ok(text.to_ascii_lowercase());
    }
    Err(format!("an owner is at least {OWNER_DIGITS} digits of a hash, or `{NOBODY}`"))
}

/// Data directory of a server, and the store in it.
struct Data {
    directory: PathBuf,
    store: Lazy,
}

impl Data {
    fn open(place: Place) -> Result<Self, Failure> {
        let directory = serve::data(place.data)?;
        if !directory.is_dir() {
            let shown = directory.display();
            return Err(Failure::user(format!("{shown} isn't a directory; name one by --data")));
        }
        if let Some(address) = place.store {
            return Ok(Self { store: Lazy::at(Home::Postgres(address)), directory });
        }
        store::check(&directory).map_err(|unfit| Failure::Internal(unfit.to_string()))?;
        Ok(Self { store: Lazy::new(&directory), directory })
    }

    fn path(&self) -> &Path {
        &self.directory
    }

    fn things(&self, kinds: impl IntoIterator<Item = Kind>) -> Result<Vec<StoredItem>, Failure> {
        let mut all = vec![];
        for kind in kinds {
            all.extend(storage_usage::items(self.path(), &self.store, kind).map_err(broken)?);
        }
        Ok(all)
    }

    /// The things of an owner, each once.
    fn of(&self, owner: &str) -> Result<Vec<StoredItem>, Failure> {
        let mut things = self.things(Kind::ALL)?;
        things.retain(|thing| is_of(thing, owner));
        let whole: std::collections::BTreeSet<_> =
            things.iter().filter_map(|thing| thing.owner.clone()).collect();
        if whole.len() > 1 {
            let detail = format!("{} owners begin with {owner}: give more digits", whole.len());
            return Err(Failure::user(detail));
        }
        if things.is_empty() {
            return Err(Failure::user(format!("nobody who keeps anything here is {owner}")));
        }
        Ok(things)
    }

    fn export(&self, thing: &StoredItem) -> Result<Vec<Value>, Failure> {
        storage_usage::export(self.path(), &self.store, thing.kind, &thing.id).map_err(broken)
    }
}

fn is_of(thing: &StoredItem, owner: &str) -> bool {
    match &thing.owner {
        Some(own) => own.starts_with(owner),
        None => owner == NOBODY,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn broken(error: StoreError) -> Failure {
    Failure::Internal(format!("the store can't be used: {error}"))
}

/// Runs the command.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Usage(asked) => usage(asked),
        Command::List(asked) => list(asked),
        Command::Show(asked) => show(asked),
        Command::Delete(asked) => delete(asked),
        Command::Export(asked) => {
            let data = Data::open(asked.place)?;
            data.of(&asked.owner)?.iter().try_for_each(|thing| lines(&data.export(thing)?))
        }
    }
}

fn lines(lines: &[Value]) -> Result<(), Failure> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    output::result(&text)
}

fn short(owner: Option<&String>) -> &str {
    owner.map_or(NOBODY, |owner| owner.get(..OWNER_DIGITS).unwrap_or(owner))
}

fn usage(asked: Usage) -> Result<(), Failure> {
    let data = Data::open(asked.place)?;
    let mut sums: BTreeMap<(Option<String>, Kind), Sum> = BTreeMap::new();
    for thing in data.things(Kind::ALL)? {
        let sum = sums.entry((thing.owner, thing.kind)).or_default();
        sum.count += 1;
        sum.bytes += thing.bytes;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.bytes));
    if asked.json {
        let each = sums.iter().map(|((owner, kind), sum)| {
            json!({"owner": owner, "kind": kind.name(), "count": sum.count, "bytes": sum.bytes})
        });
        return lines(&[json!({"usage": each.collect::<Vec<_>>()})]);
    }
    let mut rows = vec![["owner", "kind", "count", "bytes"].map(str::to_owned).to_vec()];
    rows.extend(sums.iter().map(|((owner, kind), sum)| {
        let (count, bytes) = (sum.count.to_string(), sum.bytes.to_string());
        vec![short(owner.as_ref()).to_owned(), kind.plural().to_owned(), count, bytes]
    }));
    output::result(&operations::table("llrr", &rows))
}

fn list(asked: List) -> Result<(), Failure> {
    let data = Data::open(asked.place)?;
    let mut things = data.things(
        Kind::ALL.into_iter().filter(|kind| asked.kind.is_none_or(|asked| asked == *kind)),
    )?;
    things.retain(|thing| asked.owner.as_ref().is_none_or(|owner| is_of(thing, owner)));
    print(&things, asked.json)
}

/// Things as a table, or as JSON. `log` is what logs call it.
fn print(things: &[StoredItem], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let each = things.iter().map(|thing| {
            json!({
                "kind": thing.kind.name(), "id": thing.id, "log": log_fields::key(&thing.id),
                "owner": thing.owner, "bytes": thing.bytes,
                "created_at": calendar::moment(thing.created_at_secs),
                "used_at": calendar::moment(thing.used_at_secs),
            })
        });
        return lines(&[json!({"things": each.collect::<Vec<_>>()})]);
    }
    let head = ["kind", "id", "log", "owner", "bytes", "made", "used"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    rows.extend(things.iter().map(|thing| {
        vec![
            thing.kind.name().to_owned(),
            thing.id.clone(),
            log_fields::key(&thing.id),
            short(thing.owner.as_ref()).to_owned(),
            thing.bytes.to_string(),
            calendar::day(thing.created_at_secs),
            calendar::day(thing.used_at_secs),
        ]
    }));
    output::result(&operations::table("llllrll", &rows))
}

/// The things of these ids, each once.
fn found(data: &Data, ids: &[String]) -> Result<Vec<StoredItem>, Failure> {
    let mut things = data.things(Kind::ALL)?;
    things.retain(|thing| ids.contains(&thing.id));
    let missing = ids.iter().filter(|id| !things.iter().any(|thing| thing.id == **id));
    let missing: Vec<String> = missing.map(|id| format!("nothing here has the id {id}")).collect();
    if missing.is_empty() { Ok(things) } else { Err(Failure::User(missing)) }
}

fn show(asked: Show) -> Result<(), Failure> {
    let data = Data::open(asked.place)?;
    let things = found(&data, &[asked.id])?;
    things.first().map_or(Ok(()), |thing| lines(&data.export(thing)?))
}

fn delete(asked: Delete) -> Result<(), Failure> {
    let data = Data::open(asked.place)?;
    let mut things = match &asked.owner {
        Some(owner) => data.of(owner)?,
        None => found(&data, &asked.ids)?,
    };
    if !asked.yes {
        print(&things, asked.json)?;
        let count = present::format::counted(things.len() as u64, "thing", "things");
        return Err(Failure::user(format!("{count} would go; --yes deletes")));
    }
    if asked.owner.is_none() {
        // Whoever else has it loses it, too: an id is of all its owners.
        things.dedup_by(|a, b| a.id == b.id);
    }
    for thing in &things {
        let own = thing.owner.as_ref().filter(|_| asked.owner.is_some());
        storage_usage::take(
            data.path(),
            &data.store,
            thing.kind,
            &thing.id,
            own.map(String::as_str),
        )
        .map_err(broken)?;
    }
    print(&things, asked.json)?;
    let count = present::format::counted(things.len() as u64, "thing is", "things are");
    output::message(&format!("{count} deleted"));
    Ok(())
}

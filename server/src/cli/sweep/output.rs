//! Output of a sweep: rows, a result, and while it runs a checkpoint that it can go on from.
//!
//! The checkpoint says how many bytes of the rows belong to it. It replaces the one before in one
//! step, behind the rows: whatever happens, what it says is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::design::file::{Tree, json};
use reports::typed::Said;
use sweep::{Progress, Rounds, Space};

use super::text::read_text;
use crate::cli::{Failure, output};
use crate::jobs::sweeps::rows::{Format, Writer};
use crate::jobs::sweeps::table;

/// Interval between checkpoints.
const PAUSE: Duration = Duration::from_secs(1);

/// Bytes of a checkpoint or result, at most.
pub(in crate::cli) const MAX_RESULT_LEN: u64 = 1 << 30;

/// A file that was requested.
pub(super) struct Target {
    path: PathBuf,
    /// Format of the rows, of which Parquet is made of the binary one; `None` for the result.
    format: Option<Format>,
}

impl Target {
    /// Target by the file's extension.
    pub(super) fn from_path(path: &Path) -> Result<Self, Failure> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Some(Format::Csv),
            Some("jsonl") => Some(Format::JsonLines),
            Some("parquet") => Some(Format::Binary),
            Some("json") => None,
            _ => {
                let shown = path.display();
                return Err(Failure::user(format!(
                    "--out takes a file that ends in .csv, .jsonl, .parquet or .json, not {shown}"
                )));
            }
        };
        Ok(Self { path: path.to_owned(), format })
    }

    /// Whether it is a Parquet table.
    pub(super) fn is_table(&self) -> bool {
        self.format == Some(Format::Binary)
    }

    /// A file beside it.
    fn beside(&self, extension: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(extension);
        name.into()
    }

    fn checkpoint(&self) -> PathBuf {
        self.beside(".checkpoint")
    }

    /// Format and path of the rows while the sweep runs.
    fn rows(&self) -> Option<(Format, PathBuf)> {
        let path = if self.is_table() { self.beside(".rows") } else { self.path.clone() };
        self.format.map(|format| (format, path))
    }
}

/// Everything that a sweep writes.
pub(super) struct Output {
    target: Option<Target>,
    rows: Option<File>,
    bytes: u64,
    progress: Progress,
    places: Range<u64>,
    saved: Instant,
}

impl Output {
    /// Opens the files, new or where an interrupted sweep left them.
    pub(super) fn open(
        target: Option<Target>,
        space: &Space,
        places: &Range<u64>,
        resume: bool,
    ) -> Result<Self, Failure> {
        let mut opened = Self {
            target: None,
            rows: None,
            bytes: 0,
            progress: Progress::new(space),
            places: places.clone(),
            saved: Instant::now(),
        };
        let Some(target) = target else { return Ok(opened) };
        let checkpoint = target.checkpoint();
        let shown = checkpoint.display();
        if checkpoint.exists() {
            if !resume {
                return Err(Failure::user(format!(
                    "{shown} is of an unfinished sweep: --resume goes on with it; to start anew, \
                     remove it"
                )));
            }
            let text = read_text(&checkpoint.to_string_lossy(), MAX_RESULT_LEN)?;
            let refused = |why: String| Failure::user(format!("{shown} can't be used: {why}"));
            (opened.progress, opened.bytes) =
                read_checkpoint(&text, space, places).map_err(refused)?;
        }
        if let Some((format, path)) = target.rows() {
            let file = open_rows(&path, &mut opened.bytes, &Writer::new(format, space).header());
            let failed = |error| Failure::user(format!("can't write {}: {error}", path.display()));
            opened.rows = Some(file.map_err(failed)?);
        }
        opened.target = Some(target);
        opened.save(space)?;
        Ok(opened)
    }

    /// The form of the rows, where there are any.
    pub(super) fn format(&self) -> Option<Format> {
        self.target.as_ref().and_then(Target::rows).map(|(format, _)| format)
    }

    /// Progress so far.
    pub(super) const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Rounds: which designs are at its places.
    pub(super) fn rounds(&self, space: &Space) -> Result<Rounds, Failure> {
        Rounds::resume(space, &self.progress).ok_or_else(|| {
            Failure::user("the checkpoint can't be used: its rounds aren't those of its spec")
        })
    }

    /// Begins the next round, if all that is known is done, and writes a checkpoint then: what the
    /// round begins with took all rounds before it. Says whether it did.
    pub(super) fn next_round(
        &mut self,
        space: &Space,
        rounds: &mut Rounds,
    ) -> Result<bool, Failure> {
        let has_begun = rounds.advance(space, &mut self.progress);
        if has_begun {
            self.save(space)?;
        }
        Ok(has_begun)
    }

    /// Adds the next chunk.
    pub(super) fn add(
        &mut self,
        space: &Space,
        places: &Range<u64>,
        part: Progress,
        rows: &[u8],
    ) -> Result<(), Failure> {
        if !part.done().eq(std::iter::once(places.clone())) || !part.suits(space) {
            return Err(Failure::Internal("a result is of another sweep".to_owned()));
        }
        if let Some(file) = &mut self.rows {
            let written = file.write_all(rows);
            written.map_err(|error| Failure::Internal(format!("can't write rows: {error}")))?;
            self.bytes += rows.len() as u64;
        }
        let added = self.progress.join(space, part);
        added.map_err(|overlap| Failure::Internal(overlap.to_string()))?;
        if self.saved.elapsed() >= PAUSE { self.save(space) } else { Ok(()) }
    }

    /// Writes a checkpoint.
    fn save(&mut self, space: &Space) -> Result<(), Failure> {
        self.saved = Instant::now();
        let Some(target) = &self.target else { return Ok(()) };
        let path = target.checkpoint();
        let text = checkpoint(space, &self.progress, &self.places, self.bytes);
        let synced = self.rows.as_ref().map_or(Ok(()), File::sync_data);
        let written = synced.and_then(|()| replace(&path, text.as_bytes()));
        written
            .map_err(|error| Failure::Internal(format!("can't write {}: {error}", path.display())))
    }

    /// Saves what is there, and says how to go on.
    pub(super) fn interrupted(
        &mut self,
        space: &Space,
        places: &Range<u64>,
    ) -> Result<String, Failure> {
        self.save(space)?;
        let open = self.progress.first_open(places).unwrap_or(places.end);
        let share = (open - places.start) as f64 / (places.end - places.start) as f64 * 100.0;
        Ok(match &self.target {
            Some(_) => format!("stopped at {share:.1} %; the same command with --resume goes on"),
            None => format!("stopped at {share:.1} %; only a sweep with --out can be resumed"),
        })
    }

    /// Prints the result and removes what was needed to go on.
    pub(super) fn finish(mut self, space: &Space, result: &str) -> Result<(), Failure> {
        self.save(space)?;
        let Some(target) = &self.target else { return output::result(result) };
        let failed = |error: io::Error| {
            Failure::Internal(format!("can't write {}: {error}", target.path.display()))
        };
        match target.format {
            None => replace(&target.path, result.as_bytes()).map_err(failed)?,
            Some(Format::Binary) => {
                let spool = target.beside(".rows");
                let temporary = target.beside(".new");
                let rows = io::BufReader::new(File::open(&spool).map_err(failed)?);
                let table = io::BufWriter::new(File::create(&temporary).map_err(failed)?);
                table::write(space, rows, table, result.to_owned()).map_err(failed)?;
                fs::rename(&temporary, &target.path).map_err(failed)?;
                output::result(result)?;
                fs::remove_file(&spool).map_err(failed)?;
            }
            Some(Format::Csv | Format::JsonLines) => output::result(result)?,
        }
        fs::remove_file(target.checkpoint()).map_err(failed)
    }
}

/// Opens a file of rows and cuts off what no checkpoint knows; a new one gets its header.
fn open_rows(path: &Path, bytes: &mut u64, header: &[u8]) -> io::Result<File> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.len() < *bytes {
        return Err(io::Error::other("it is shorter than its checkpoint says"));
    }
    let mut first = vec![0; header.len().min(usize::try_from(*bytes).unwrap_or(usize::MAX))];
    file.read_exact(&mut first)?;
    if *bytes > 0 && first != header {
        return Err(io::Error::other(
            "its columns are those of another version of Moescape: end the sweep with that one, or \
             remove file and checkpoint and start anew",
        ));
    }
    file.set_len(*bytes)?;
    file.seek(SeekFrom::End(0))?;
    if *bytes == 0 {
        file.write_all(header)?;
        *bytes = header.len() as u64;
    }
    Ok(file)
}

/// Puts a file in the place of another in one step.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.to_owned().into_os_string();
    temporary.push(".new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&temporary, path)
}

fn checkpoint(space: &Space, progress: &Progress, places: &Range<u64>, bytes: u64) -> String {
    let part = sweep::result(space, progress, None).part.said();
    let tree = Tree::map([
        ("places", Tree::list([places.start, places.end])),
        ("bytes", Tree::Unsigned(bytes)),
        ("part", part),
    ]);
    json::print(&tree)
}

/// Progress in a checkpoint, and the number of bytes of rows that belong to it.
fn read_checkpoint(
    text: &str,
    space: &Space,
    places: &Range<u64>,
) -> Result<(Progress, u64), String> {
    let tree = json::parse(text).map_err(|error| error.to_string())?;
    let part = sweep::part(text)?;
    if part.space.spec().digest() != space.spec().digest() {
        return Err("it is of another spec".to_owned());
    }
    if tree.get("places") != Some(&Tree::list([places.start, places.end])) {
        return Err("it is of another shard".to_owned());
    }
    let Some(Tree::Unsigned(bytes)) = tree.get("bytes") else {
        return Err("it doesn't say how many bytes of the rows are its own".to_owned());
    };
    Ok((part.progress, *bytes))
}

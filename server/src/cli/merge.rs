//! `moescape merge`: the results of a sweep's parts as one.

use std::path::PathBuf;

use sweep::Part;

use super::sweep::text::read_text;
use super::sweep::{MAX_RESULT_LEN, finished};
use super::{Failure, output};

/// What to put together.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Results of `moescape sweep --shard` of one spec, JSON
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
}

/// Prints the result of all parts. It is that of the whole sweep when every part is there.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut whole: Option<Part> = None;
    for path in &arguments.files {
        let shown = path.display();
        let refused = |why: String| Failure::user(format!("{shown}: {why}"));
        let text = read_text(&path.to_string_lossy(), MAX_RESULT_LEN)?;
        let part = sweep::part(&text).map_err(refused)?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                if whole.space.spec().digest() != part.space.spec().digest() {
                    return Err(refused("it is of another spec than the first".to_owned()));
                }
                let joined = whole.progress.join(&whole.space, part.progress);
                joined.map_err(|overlap| refused(overlap.to_string()))?;
            }
        }
    }
    let Some(whole) = whole else { return Err(Failure::user("there is no file to merge")) };
    let (done, asked) = (whole.progress.num_points(), whole.space.num_points());
    if done < asked {
        output::message(&format!("parts are missing: {done} of {asked} designs are there"));
    }
    output::result(&finished(&whole.space, &whole.progress))
}

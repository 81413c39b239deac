//! The space of a sweep: of a file, of one that comes with the program, or of a spec in the call.

use std::path::Path;

use model::design::file::Tree;
use model::ground::knob::KnobError;
use schemars::JsonSchema;
use serde::Deserialize;
use sweep::{Space, Spec, published};

use crate::caller::Caller;
use crate::files;
use crate::refusal::Refusal;

/// Maximum number of bytes of a spec.
const MAX_SPEC_BYTES: u64 = 1 << 20;

/// Arguments of the verb.
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "SweepInput")]
pub struct Input {
    /// Path or name of a spec, at a terminal.
    #[arg(
        value_name = "SPEC",
        required = true,
        help = "Spec, JSON or TOML (`-` reads stdin), or the name of one that comes with the \
                program: pangu-strategy, pangu-architecture, pangu-pro-800i-a2, pangu-pro-300i-duo"
    )]
    #[serde(skip)]
    file: Option<String>,
    /// The space: `{"schema": 1, "name": "...", "design": {"preset": "..."}, "space": {"parallel":
    /// {"tensor_model_parallel_size": [1, 2, 4, 8]}}, "objectives": ["mfu max"], "constraints":
    /// ["fits"]}`; of a large one a sample by `"sampling": {"method": "random", "count": 100000,
    /// "seed": 1}`. See `moescape://guide/sweeps`.
    #[arg(skip)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    spec: Option<Tree>,
    /// In place of `spec` one that comes with the program: pangu-strategy, pangu-architecture,
    /// pangu-pro-800i-a2, pangu-pro-300i-duo.
    #[arg(skip)]
    name: Option<String>,
}

impl Input {
    /// The spec with its designs numbered.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn space(&self, caller: &dyn Caller) -> Result<Space, Refusal> {
        let spec = match (&self.file, &self.spec, &self.name) {
            (Some(file), None, None) => of_file(file, caller)?,
            (None, Some(spec), None) => Spec::from_tree(spec),
            (None, None, Some(name)) => of_name(name).ok_or_else(|| {
                let detail = format!("there is no such sweep; there are {}", names());
                Refusal::new("unknown_name", "name", detail)
            })?,
            _ => {
                let detail = "give a `spec` or the `name` of one that comes with the program";
                return Err(Refusal::new("missing_spec", "spec", detail));
            }
        };
        let space = spec.and_then(|spec| Space::new(spec).map_err(|error| vec![error]));
        space.map_err(Refusal::from)
    }
}

type Read = Result<Spec, Vec<KnobError>>;

/// The spec of that name which comes with the program.
fn of_name(name: &str) -> Option<Read> {
    let known = published().iter().find(|spec| spec.name == name)?;
    Some(Spec::from_toml(known.text))
}

/// The spec of a path or name; the outer error is about the file, the inner one about its content.
fn of_file(name: &str, caller: &dyn Caller) -> Result<Read, Refusal> {
    if let Some(spec) = of_name(name) {
        return Ok(spec);
    }
    let path = Path::new(name);
    if !caller.has_file(path) && name != "-" {
        let shown: String = name.chars().take(200).collect();
        let detail = format!("there is no file {shown}; specs by name: {}", names());
        return Err(Refusal::new("missing_spec", "", detail));
    }
    let text = files::utf_8(path, caller.bytes(path, MAX_SPEC_BYTES)?)?;
    let is_toml = files::is_toml(path, &text, &['{']);
    Ok(if is_toml { Spec::from_toml(&text) } else { Spec::from_json(&text) })
}

/// Names of the specs that come with the program.
fn names() -> String {
    let names: Vec<&str> = published().iter().map(|spec| spec.name).collect();
    names.join(", ")
}

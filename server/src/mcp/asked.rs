//! The design that a call is about.

use model::design::file::json;
use model::design::link;
use model::design::{Design, KnobId};
use model::ground::knob::KnobError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::said::{MAX_ERRORS, Refusal};
use crate::answers::names::Names;

/// Settings of one design, at most.
const MAX_SETTINGS: usize = 1_000;

/// A design: one of `preset`, `design` and `link`, and what is set on top of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct DesignAsked {
    /// The id of a preset to start from, such as `pangu-ultra-moe-6k@2` or `qwen3-30b-a3b`; see
    /// `moescape://presets`.
    pub(super) preset: Option<String>,
    /// Knobs to set on top, each `knob=value`, by id or short name: `["tp=8",
    /// "training.micro_batch_size=2"]`; the last one wins. See `moescape://knobs`.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// A design file in place of a preset: `{"schema": 1, "preset": "...", "parallel": {...}}`.
    pub(super) design: Option<Map<String, Value>>,
    /// The link of a design in place of a preset: `https://.../?v=1&preset=...`.
    pub(super) link: Option<String>,
}

impl DesignAsked {
    /// The design, or everything that is wrong with it.
    pub(super) fn read(&self, names: Names) -> Result<(Design, Vec<KnobId>), Refusal> {
        let mut design = self.start()?;
        if self.set.len() > MAX_SETTINGS {
            let count = self.set.len();
            let detail = format!("`set` takes at most {MAX_SETTINGS} settings, not {count}");
            return Err(Refusal::new("too_many_settings", "set", detail));
        }
        let (mut errors, mut set) = (vec![], vec![]);
        let follows = |setting: &&String| {
            let name = setting.split_once('=').map_or("", |(name, _)| name.trim());
            names.find(name).is_ok_and(KnobId::follows)
        };
        let (last, first): (Vec<_>, Vec<_>) = self.set.iter().partition(follows);
        for setting in first.into_iter().chain(last) {
            match put(&mut design, setting, names) {
                Ok(knob) => set.push(knob),
                Err(error) => errors.push(error),
            }
            // One more than is listed: the nearest knob is looked for each time.
            if errors.len() > MAX_ERRORS {
                break;
            }
        }
        if errors.is_empty() { Ok((design, set)) } else { Err(errors.into()) }
    }

    fn start(&self) -> Result<Design, Refusal> {
        let given =
            [self.preset.is_some(), self.design.is_some(), self.link.is_some()].map(u8::from);
        match given.iter().sum::<u8>() {
            1 => {}
            0 => {
                let detail = "say which design: a `preset` (moescape://presets lists them), a \
                              `design` file or a `link`; ask for it rather than guess";
                return Err(Refusal::new("missing_design", "preset", detail));
            }
            _ => {
                let detail = "give one of `preset`, `design` and `link`, and the rest by `set`";
                return Err(Refusal::new("several_designs", "preset", detail));
            }
        }
        if let Some(id) = &self.preset {
            return Design::from_preset(id).map_err(Refusal::from);
        }
        if let Some(file) = &self.design {
            let text = serde_json::to_string(file).unwrap_or_default();
            return json::read(&text).map_err(Refusal::from);
        }
        let link = self.link.as_deref().unwrap_or_default();
        link::of_address(link).map_err(Refusal::from)
    }
}

/// Applies `knob=value`.
fn put(design: &mut Design, setting: &str, names: Names) -> Result<KnobId, KnobError> {
    let (name, value) = setting.split_once('=').ok_or_else(|| KnobError {
        rule: "missing_value",
        knob: setting.chars().take(80).collect(),
        detail: "a setting is knob=value, such as tp=8".to_owned(),
        nearest: vec![],
    })?;
    let knob = names.find(name.trim())?;
    design.set_text(knob, value)?;
    Ok(knob)
}

//! Stored designs as programs read them.

use model::{MODEL_VERSION, design::link};
use reports::typed::{DesignFile, MetricSaid, Named};
use schemars::JsonSchema;

use super::result::metrics;
use super::stored::{Entry, StoredDesign};

reports::said! {
    /// A design under a short link.
    #[derive(JsonSchema)]
    #[schemars(rename = "StoredDesign")]
    pub(crate) struct StoredAnswer {
        id: String,
        /// Its short link on this server; with the tag that shows name and note to others, where
        /// there are some.
        address: String,
        /// The whole design as a link on this server.
        link: String,
        name: String,
        note: String,
        /// Whether it is the asker's.
        mine: bool,
        /// Seconds since 1970.
        created_at_secs: u64,
        /// The model that gave `metrics`.
        model_version: String,
        /// The model of this server.
        current_model_version: &'static str,
        /// The headline metrics by their ids, as they were when it was stored; null for a design
        /// that broke rules.
        metrics: Option<Named<MetricSaid>>,
        /// The design file; null where this version can't read it.
        design: Option<DesignFile>,
    }

    /// Designs of one owner, newest first.
    #[derive(JsonSchema)]
    pub(crate) struct StoredDesigns {
        designs: Vec<StoredAnswer>,
    }
}

impl StoredAnswer {
    /// A stored design with what is said of it, and whether it is the asker's.
    pub(crate) fn new(stored: &StoredDesign, entry: Option<&Entry>, mine: bool) -> Self {
        let text = |read: fn(&Entry) -> &str| entry.map_or("", read).to_owned();
        Self {
            id: stored.id.clone(),
            address: entry.map_or_else(|| format!("/d/{}", stored.id), |it| it.address(&stored.id)),
            link: format!("/?{}", stored.link),
            name: text(|entry| &entry.name),
            note: text(|entry| &entry.note),
            mine,
            created_at_secs: stored.created_at_secs,
            model_version: stored.model_version.clone(),
            current_model_version: MODEL_VERSION,
            metrics: stored.result.as_deref().and_then(metrics).map(Named),
            design: link::decode(&stored.link).ok().map(|it| DesignFile::changes_of(&it)),
        }
    }
}

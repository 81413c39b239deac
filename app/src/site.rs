//! The pages of the site, one row each: everything that knows all pages walks these rows.

pub mod chosen;
pub(crate) mod parameters;

use model::design::Design;
use model::link;

/// A module of the site, which takes pages over in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// The explorer's.
    Explorer,
    /// The one of most pages beside it.
    Pages,
    /// The one of sweeps.
    Sweeps,
    /// The one of review sessions.
    Reviews,
}

/// The rows become an enum, and a function for each column: a module of the browser is no larger
/// for the columns that it doesn't read.
macro_rules! pages {
    ($($(#[$doc:meta])* $Name:ident {
        path: $path:literal,
        label: $label:expr,
        module: $module:expr,
        $(title: $title:literal,)?
        $(about: $about:literal,)?
    })+) => {
        /// A page of the site.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Page { $($(#[$doc])* $Name,)+ }

        impl Page {
            /// All of them; those that the header names in its order.
            pub const ALL: &[Self] = &[$(Self::$Name,)+];

            /// The path, in front of the id where each page has one.
            #[must_use]
            pub const fn path(self) -> &'static str {
                match self { $(Self::$Name => $path,)+ }
            }

            /// The name in the header; none for a page that it doesn't lead to.
            #[must_use]
            pub const fn label(self) -> Option<&'static str> {
                match self { $(Self::$Name => $label,)+ }
            }

            /// The module that takes the page over; none where the server alone writes it.
            #[must_use]
            pub const fn module(self) -> Option<Module> {
                match self { $(Self::$Name => $module,)+ }
            }

            /// The title; empty where it follows from what the page shows.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$Name => concat!($($title)?),)+ }
            }

            /// The description for search engines and previews of shared links; empty where it
            /// follows from what the page shows.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$Name => concat!($($about)?),)+ }
            }
        }
    };
}

pages! {
    /// The explorer.
    #[default]
    Explorer {
        path: "/",
        label: Some("Explore"),
        module: Some(Module::Explorer),
        about: "Explore how a mixture-of-experts model trains on a cluster",
    }
    /// Searches layouts for a model on a machine.
    Find {
        path: "/find",
        label: Some("Find"),
        module: None,
        title: "Find a layout",
        about: "Which layout should a model run with on a cluster: the fastest, the safest and \
                the simplest, each with its reasons and its margin",
    }
    /// The gallery of presets.
    Presets {
        path: "/presets",
        label: Some("Presets"),
        module: None,
    }
    /// The tour of the paper's recipe.
    Tour {
        path: "/tour",
        label: Some("Tour"),
        module: None,
    }
    /// Builds a sweep.
    Sweep {
        path: "/sweep",
        label: Some("Sweep"),
        module: Some(Module::Sweeps),
        title: "Build a sweep",
        about: "Let knobs vary, say what a design must keep to and what is best, and see every \
                design that is worth building",
    }
    /// Designs beside each other.
    Compare {
        path: "/compare",
        label: Some("Compare"),
        module: Some(Module::Pages),
        title: "Compare designs",
        about: "Up to four training designs beside each other: what differs, what it does to every \
                metric, and whether the difference is larger than the error",
    }
    /// Pipeline schedules alone.
    Schedule {
        path: "/schedule",
        label: Some("Schedules"),
        module: Some(Module::Pages),
        title: "Pipeline schedules",
        about: "Any pipeline schedule on any task times, simulated task by task: step time, \
                bubble, micro-batches in flight, and the timeline",
    }
    /// A published run from its baseline on, one change at a time.
    Ladder {
        path: "/ladder",
        label: Some("Ladder"),
        module: Some(Module::Pages),
        title: "From 18.9 % over 30.0 % to 41 % MFU",
        about: "Pangu Ultra MoE from its baseline to its final run, one change at a time: what \
                each is predicted to gain beside what is published of it",
    }
    /// Published runs beside their predictions.
    Trust {
        path: "/trust",
        label: Some("Trust"),
        module: Some(Module::Pages),
        title: "How far to trust the numbers",
    }
    /// The guide.
    Guide {
        path: "/guide",
        label: Some("Guide"),
        module: None,
    }
    /// Which model computes the numbers, and what it rests on.
    About {
        path: "/about",
        label: None,
        module: None,
        title: "About the numbers",
        about: "Which model computes the numbers, what it covers, and every source that they rest \
                on",
    }
    /// Language, units, theme and keys.
    Settings {
        path: "/settings",
        label: None,
        module: None,
    }
    /// A sweep's results.
    Results {
        path: "/s",
        label: None,
        module: Some(Module::Sweeps),
    }
    /// A review session, or the form that begins one.
    Review {
        path: "/r",
        label: None,
        module: Some(Module::Reviews),
        about: "Look at a training design together: turn its knobs, talk, decide",
    }
}

/// The path where a design's query string leads to its schedule.
pub const SCHEDULE_OF_DESIGN_PATH: &str = "/schedule/of";

impl Page {
    /// The page at a path; the explorer, which says what is wrong, at any other.
    #[must_use]
    pub fn at(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        let is_at = |page: &&Self| match path.strip_prefix(page.path()) {
            Some(rest) if page.has_id() => rest.starts_with('/'),
            Some(rest) => rest.is_empty(),
            None => false,
        };
        Self::ALL.iter().find(is_at).copied().unwrap_or_default()
    }

    /// Whether an id follows the path.
    const fn has_id(self) -> bool {
        matches!(self, Self::Results | Self::Review)
    }

    /// Whether the header's link to the page takes the explorer's design along.
    #[must_use]
    pub const fn takes_design(self) -> bool {
        matches!(self, Self::Find | Self::Sweep)
    }
}

/// The address where layouts of a design are searched.
#[must_use]
pub fn find_address(design: &Design) -> String {
    format!("{}?{}", Page::Find.path(), link::encode(design))
}

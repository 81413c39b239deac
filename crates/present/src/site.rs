//! The pages of the site, one row each: everything that knows all pages walks these rows.

pub mod parameters;
pub mod chosen;

use model::design::Design;
use model::design::link;

/// The rows become an enum with a name for each.
macro_rules! modules {
    ($($(#[$doc:meta])* $Name:ident: $name:literal,)+) => {
        /// A module of the site, which takes pages over in the browser: the crate `module-NAME`, in
        /// `app/modules`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Module { $($(#[$doc])* $Name,)+ }

        impl Module {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Name,)+];

            /// The name of its directory, and of its files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Name => $name,)+ }
            }
        }
    };
}

modules! {
    /// The explorer's.
    Explorer: "explorer",
    /// The one of most pages beside it.
    Pages: "pages",
    /// The one of sweeps.
    Sweeps: "sweeps",
    /// The one of serving.
    Serving: "serving",
    /// The one of budgets.
    Budget: "budget",
    /// The one of review sessions.
    Reviews: "reviews",
}

/// A place of the site: the header of every page names these, and below it the pages of the current
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One design: its knobs and all that follows from them.
    Explore,
    /// Many designs: layouts for a machine, spaces of knobs, and layouts that serve.
    Search,
    /// Designs beside each other, and talk about one.
    Compare,
    /// Reading: methods, results, and how far to trust them.
    Learn,
}

impl Place {
    /// All of them, in the order of the header.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Search, Self::Compare, Self::Learn];

    /// The name in the header; a narrow screen shows the first word alone.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Explore => "Explore",
            Self::Search => "Search",
            Self::Compare => "Compare & review",
            Self::Learn => "Learn",
        }
    }

    /// The page that the header leads to.
    #[must_use]
    pub const fn first(self) -> Page {
        match self {
            Self::Explore => Page::Explorer,
            Self::Search => Page::Find,
            Self::Compare => Page::Compare,
            Self::Learn => Page::Learn,
        }
    }

    /// The place's own name as an address: that of its first page, or one that leads there.
    #[must_use]
    pub const fn address(self) -> &'static str {
        match self {
            Self::Explore => "/explore",
            Self::Search => "/search",
            Self::Compare => "/review",
            Self::Learn => "/learn",
        }
    }

    /// Its pages with a name, in their order.
    pub fn pages(self) -> impl Iterator<Item = (Page, &'static str)> {
        let here = Page::ALL.iter().copied().filter(move |page| page.place() == Some(self));
        here.filter_map(|page| Some((page, page.label()?)))
    }
}

/// The rows become an enum, and a function for each column: a module of the browser is no larger
/// for the columns that it doesn't read.
macro_rules! pages {
    ($($(#[$doc:meta])* $Name:ident {
        path: $path:literal,
        place: $place:expr,
        label: $label:expr,
        module: $module:expr,
        $(title: $title:literal,)?
        $(about: $about:literal,)?
    })+) => {
        /// A page of the site.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Page { $($(#[$doc])* $Name,)+ }

        impl Page {
            /// All of them; those of a place in its order.
            pub const ALL: &[Self] = &[$(Self::$Name,)+];

            /// The path, in front of the id where each page has one.
            #[must_use]
            pub const fn path(self) -> &'static str {
                match self { $(Self::$Name => $path,)+ }
            }

            /// The place that it belongs to.
            #[must_use]
            pub const fn place(self) -> Option<Place> {
                match self { $(Self::$Name => $place,)+ }
            }

            /// The name among the pages of its place; none for a page that isn't named there.
            #[must_use]
            pub const fn label(self) -> Option<&'static str> {
                match self { $(Self::$Name => $label,)+ }
            }

            /// The module that takes the page over; `None` if the server alone writes it.
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
        place: Some(Place::Explore),
        label: Some("Explore"),
        module: Some(Module::Explorer),
        about: "Explore how a mixture-of-experts model trains on a cluster",
    }
    /// Searches layouts for a model on a machine.
    Find {
        path: "/find",
        place: Some(Place::Search),
        label: Some("Find"),
        module: None,
        title: "Find a layout",
        about: "Which layout should a model run with on a cluster: the fastest, the safest and \
                the simplest, each with its reasons and its margin",
    }
    /// The gallery of presets.
    Presets {
        path: "/presets",
        place: Some(Place::Explore),
        label: None,
        module: None,
    }
    /// Builds a sweep.
    Sweep {
        path: "/sweep",
        place: Some(Place::Search),
        label: Some("Sweeps"),
        module: Some(Module::Sweeps),
        title: "Build a sweep",
        about: "Vary knobs, set constraints and objectives, and see every design worth building",
    }
    /// Serving of a design: tokens per second, latency and requests.
    Serving {
        path: "/serving",
        place: Some(Place::Search),
        label: Some("Serving"),
        module: Some(Module::Serving),
        title: "Serving",
        about: "How a model answers on NPUs and GPUs: tokens a second, latency and the requests \
                that memory holds, with the best layouts and the command that starts them",
    }
    /// Budget of a training run: days, device-hours, money and energy.
    Budget {
        path: "/budget",
        place: Some(Place::Search),
        label: Some("Budget"),
        module: Some(Module::Budget),
        title: "Budget of a run",
        about: "What a training run costs: days, device-hours, money and energy, goodput under \
                failures, and what published laws say of the loss beside a baseline",
    }
    /// Designs beside each other.
    Compare {
        path: "/compare",
        place: Some(Place::Compare),
        label: Some("Compare"),
        module: Some(Module::Pages),
        title: "Compare designs",
        about: "Up to four training designs beside each other: what differs, what it does to every \
                metric, and whether the difference is larger than the error",
    }
    /// Overview of what the site teaches.
    Learn {
        path: "/learn",
        place: Some(Place::Learn),
        label: Some("Overview"),
        module: None,
        title: "Learn",
        about: "What made Pangu Ultra MoE fast, how far the predictions are off, how pipeline \
                schedules differ, and how to work with Moescape",
    }
    /// The tour of the paper's recipe.
    Tour {
        path: "/tour",
        place: Some(Place::Learn),
        label: Some("Tour"),
        module: None,
    }
    /// A published run from its baseline on, one change at a time.
    Ladder {
        path: "/ladder",
        place: Some(Place::Learn),
        label: Some("Ladder"),
        module: Some(Module::Pages),
        title: "From 18.9 % over 30.0 % to 41 % MFU",
        about: "Pangu Ultra MoE from its baseline to its final run, one change at a time: what \
                each is predicted to gain beside what is published of it",
    }
    /// Published runs beside their predictions.
    Trust {
        path: "/trust",
        place: Some(Place::Learn),
        label: Some("Trust"),
        module: Some(Module::Pages),
        title: "How far to trust the numbers",
    }
    /// Runs of one's own, and what they say of one's software.
    Calibrate {
        path: "/calibrate",
        place: Some(Place::Learn),
        label: Some("Calibrate"),
        module: None,
        title: "Calibrate to your own runs",
        about: "Tables and logs of a few training runs become the state of your software: a \
                profile of a few knobs, with how far the runs agree and what they don't tell",
    }
    /// Pipeline schedules alone.
    Schedule {
        path: "/schedule",
        place: Some(Place::Learn),
        label: Some("Schedules"),
        module: Some(Module::Pages),
        title: "Pipeline schedules",
        about: "Any pipeline schedule on any task times, simulated task by task: step time, \
                bubble, micro-batches in flight, and the timeline",
    }
    /// The guide.
    Guide {
        path: "/guide",
        place: Some(Place::Learn),
        label: Some("Guide"),
        module: None,
    }
    /// Version and sources of the model that computes the numbers.
    About {
        path: "/about",
        place: Some(Place::Learn),
        label: Some("About"),
        module: None,
        title: "About the numbers",
        about: "Which model computes the numbers, what it covers, and every source that they rest \
                on",
    }
    /// Language, units, theme and keys.
    Settings {
        path: "/settings",
        place: None,
        label: None,
        module: None,
    }
    /// A sweep's results.
    Results {
        path: "/s",
        place: Some(Place::Search),
        label: None,
        module: Some(Module::Sweeps),
    }
    /// A review session, or the form that begins one.
    Review {
        path: "/r",
        place: Some(Place::Compare),
        label: Some("Review"),
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

    /// Whether the page is one of those that a module takes over; the module is given by its place
    /// in [`Module::ALL`], as a constant of a function can be a number alone.
    #[must_use]
    pub const fn is_of(self, module: usize) -> bool {
        matches!(self.module(), Some(own) if own as usize == module)
    }

    /// Whether an id follows the path.
    #[must_use]
    pub const fn has_id(self) -> bool {
        matches!(self, Self::Results | Self::Review)
    }

    /// The address that a link to the page has: the form that begins one where each has an id.
    #[must_use]
    pub const fn entrance(self) -> &'static str {
        if matches!(self, Self::Review) { "/r/new" } else { self.path() }
    }

    /// The page that stands for it among those of its place.
    #[must_use]
    pub const fn named(self) -> Self {
        if matches!(self, Self::Results) { Self::Sweep } else { self }
    }

    /// Whether the header's link to the page takes the current design along.
    #[must_use]
    pub const fn takes_design(self) -> bool {
        matches!(self, Self::Explorer | Self::Find | Self::Sweep | Self::Serving | Self::Budget)
    }
}

/// The address where layouts of a design are searched.
#[must_use]
pub fn find_address(design: &Design) -> String {
    format!("{}?{}", Page::Find.path(), link::encode(design))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_page_is_of_one_place_and_every_place_leads_to_its_first() {
        let named: usize = Place::ALL.into_iter().map(|place| place.pages().count()).sum();
        assert_eq!(named, Page::ALL.iter().filter(|page| page.label().is_some()).count());
        for place in Place::ALL {
            assert_eq!(place.pages().next().map(|(page, _)| page), Some(place.first()));
            // No other page has its name.
            let named = Page::ALL.iter().filter(|page| page.path() == place.address());
            assert!(named.copied().all(|page| page == place.first()));
        }
        for page in Page::ALL {
            assert!(
                page.named().label().is_some() || matches!(page, Page::Presets | Page::Settings)
            );
            let is_listed = page.label().is_some();
            assert!(!is_listed || Page::at(page.entrance()) == *page, "{page:?}");
        }
    }
}

//! The chapters of the guide, in the order in which they are read.

/// Where the guide is.
pub const PATH: &str = present::site::Page::Guide.path();

/// A file of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Path in the repository.
    pub file: &'static str,
    /// Source of the text.
    pub markdown: &'static str,
}

/// A chapter, in the languages that it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The last part of its address; empty for the first page.
    pub name: &'static str,
    /// English text, as it is written.
    pub english: Text,
    /// Chinese text, its generated parts left empty; `None` for what is in English alone.
    pub chinese: Option<Text>,
}

macro_rules! text {
    ($directory:literal $file:literal) => {
        Text {
            file: concat!($directory, $file),
            markdown: include_str!(concat!("../../../../", $directory, $file)),
        }
    };
}

macro_rules! chapters {
    ($($name:literal $file:literal $($chinese:literal)?;)+) => {
        /// Every chapter, in the order in which they are read; the first one is the table of
        /// contents.
        pub static CHAPTERS: &[Chapter] = &[$(Chapter {
            name: $name,
            english: text!("docs/" $file),
            chinese: chapters!(@chinese $file $($chinese)?),
        },)+];
    };
    (@chinese $file:literal $chinese:literal) => { Some(text!($chinese $file)) };
    (@chinese $file:literal) => { None };
}

chapters! {
    "" "guide/README.md" "docs/zh/";
    "start" "guide/start.md" "docs/zh/";
    "find" "guide/find.md" "docs/zh/";
    "views" "guide/views.md" "docs/zh/";
    "serving" "guide/serving.md" "docs/zh/";
    "budget" "guide/budget.md" "docs/zh/";
    "metrics" "guide/metrics.md" "docs/zh/";
    "knobs" "guide/knobs.md" "docs/zh/";
    "conventions" "guide/conventions.md" "docs/zh/";
    "modelled" "guide/modelled.md" "docs/zh/";
    "trust" "guide/trust.md" "docs/zh/";
    "questions" "guide/questions.md" "docs/zh/";
    "calibrate" "guide/calibrate.md" "docs/zh/";
    "sharing" "guide/sharing.md" "docs/zh/";
    "operate" "guide/operate.md" "docs/zh/";
    "sweeps" "guide/sweeps.md" "docs/zh/";
    "exchange" "guide/exchange.md" "docs/zh/";
    "frameworks" "guide/frameworks.md" "docs/zh/";
    "python" "guide/python.md" "docs/zh/";
    "agents" "guide/agents.md" "docs/zh/";
    "troubleshooting" "guide/troubleshooting.md" "docs/zh/";
    "designs" "designs.md" "docs/zh/";
    // What the program prints is English, and so is its reference.
    "cli" "cli.md";
    "api" "api.md" "docs/zh/";
}

impl Chapter {
    /// The chapter of that name, with its place.
    #[must_use]
    pub fn find(name: &str) -> Option<(usize, &'static Self)> {
        CHAPTERS.iter().enumerate().find(|(_, chapter)| chapter.name == name)
    }

    /// Its address on the site.
    #[must_use]
    pub fn address(&self) -> String {
        if self.name.is_empty() { PATH.to_owned() } else { format!("{PATH}/{}", self.name) }
    }

    /// The chapter that a file is of, in either language.
    pub(super) fn of_file(file: &str) -> Option<&'static Self> {
        CHAPTERS.iter().find(|chapter| {
            let chinese = chapter.chinese.map(|text| text.file);
            chapter.english.file == file || chinese == Some(file)
        })
    }
}

//! Log levels and formats: one line on stderr for each event.

use std::io;

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Targets whose lines hide what opens something. Others show at their lowest levels all that they
/// are handed, addresses too: theirs end at `info`.
const OURS: [&str; 2] = [env!("CARGO_CRATE_NAME"), "tower_http::trace"];

/// What is logged.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    const fn filter(self) -> LevelFilter {
        match self {
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// How a line is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs: an object in each line
    Json,
}

/// How a program that runs for long tells what it does.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Arguments {
    /// The least that is logged
    #[arg(long, value_name = "LEVEL", env = "MOESCAPE_LOG_LEVEL", default_value = "info")]
    log_level: Level,
    /// How the log's lines are written, on stderr
    #[arg(long, value_name = "FORMAT", env = "MOESCAPE_LOG_FORMAT", default_value = "text")]
    log_format: Format,
}

impl Arguments {
    /// Logs from now on.
    pub(super) fn begin(self) {
        let level = self.log_level.filter();
        let targets = Targets::new().with_default(level.min(LevelFilter::INFO));
        let targets = OURS.iter().fold(targets, |targets, ours| targets.with_target(*ours, level));
        let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
        let registry = tracing_subscriber::registry();
        match self.log_format {
            Format::Text => registry.with(lines.with_filter(targets)).init(),
            Format::Json => {
                let lines = lines.json().flatten_event(true).with_span_list(false);
                registry.with(lines.with_filter(targets)).init();
            }
        }
    }
}

//! The time since a task was asked for, the compilation of this program included.

use std::fs;

/// Ticks of Linux's clock of processes, which is the same on all machines.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds since the command was given; Linux alone tells. The command is the cargo that compiled
/// this program and runs it, or this program where no cargo does.
pub(crate) fn seconds_ago() -> Option<f64> {
    let stat = |process: &str| fs::read_to_string(format!("/proc/{process}/stat")).ok();
    let own = stat("self")?;
    let parent = stat(fields(&own)?.nth(1)?).filter(|it| it.contains("(cargo)"));
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let now: f64 = uptime.split(' ').next()?.parse().ok()?;
    Some(now - started(parent.as_deref().unwrap_or(&own))?)
}

/// Seconds after the machine's start at which a process began.
fn started(stat: &str) -> Option<f64> {
    let ticks: f64 = fields(stat)?.nth(19)?.parse().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}

/// The fields behind the name of a process, which stands in brackets and may hold anything: state,
/// parent, and so on.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_stands_in_the_twentieth_field_behind_the_name() {
        let stat = "17 (a (b) c) S 4 17 17 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 12345 6 7";
        assert_eq!(started(stat).map(|it| it * TICKS_PER_SECOND), Some(12_345.0));
        assert_eq!(fields(stat).and_then(|mut it| it.nth(1)), Some("4"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_test_was_asked_for_some_time_ago() {
        assert!(seconds_ago().is_some_and(|seconds| seconds >= 0.0));
    }
}

//! What a key does while a picture has the focus. The letters are those of Perfetto.

/// Command to a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Shows less time.
    ZoomIn,
    /// Shows more time.
    ZoomOut,
    /// Moves the window towards the start.
    Earlier,
    /// Moves the window towards the end.
    Later,
    /// Shows everything.
    Fit,
    /// Selects the previous block of the lane.
    Previous,
    /// Selects the next block of the lane.
    Next,
    /// Selects the block at the same time on the lane above.
    Above,
    /// Selects the block at the same time on the lane below.
    Below,
    /// Selects the first block of the lane.
    First,
    /// Selects the last block of the lane.
    Last,
    /// Opens the details of what is selected.
    Open,
    /// Closes the details, then drops the selection.
    Clear,
}

/// The command of a key, as the browser names it.
pub fn command(key: &str) -> Option<Command> {
    Some(match key {
        "w" | "W" | "+" | "=" => Command::ZoomIn,
        "s" | "S" | "-" => Command::ZoomOut,
        "a" | "A" => Command::Earlier,
        "d" | "D" => Command::Later,
        "f" | "F" | "0" => Command::Fit,
        "," | "ArrowLeft" => Command::Previous,
        "." | "ArrowRight" => Command::Next,
        "ArrowUp" => Command::Above,
        "ArrowDown" => Command::Below,
        "Home" => Command::First,
        "End" => Command::Last,
        "Enter" => Command::Open,
        "Escape" => Command::Clear,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_work_with_caps_lock_too_and_others_are_left_to_the_page() {
        assert_eq!(command("w"), command("W"));
        assert_eq!(command("Escape"), Some(Command::Clear));
        for key in ["/", "?", "t", "Tab", " ", "Shift", "F5", "PageDown"] {
            assert_eq!(command(key), None, "{key}");
        }
    }
}

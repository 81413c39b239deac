//! Measured loads beside the layouts, as the server sends them: a line each.

use model::ground::decimal;

/// A measured load.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Output tokens a second of a user.
    pub per_user: f64,
    /// Output tokens a second of a device.
    pub per_device: f64,
    /// Engine and source.
    pub name: String,
    /// Its design as a link's query.
    pub link: String,
}

/// The measured loads of a model and an accelerator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Loads of about the requested lengths.
    pub points: Vec<Point>,
    /// Number of loads of other lengths.
    pub others: usize,
}

impl Measured {
    /// As text: how many others, then a line for each load.
    #[must_use]
    pub fn write(&self) -> String {
        let line =
            |it: &Point| format!("{}\t{}\t{}\t{}\n", it.per_user, it.per_device, it.name, it.link);
        let lines: String = self.points.iter().map(line).collect();
        format!("{}\n{lines}", self.others)
    }

    /// Reads what [`Self::write`] wrote; lines that aren't of it are left out.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let others = lines.next().and_then(|line| line.parse().ok()).unwrap_or(0);
        let point = |line: &str| {
            let mut parts = line.split('\t');
            Some(Point {
                per_user: decimal::parse(parts.next()?)?,
                per_device: decimal::parse(parts.next()?)?,
                name: parts.next()?.to_owned(),
                link: parts.next()?.to_owned(),
            })
        };
        Self { points: lines.filter_map(point).collect(), others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_other_lines_are_left_out() {
        let point = Point {
            per_user: 31.25,
            per_device: 412.0,
            name: "vLLM 0.11, a-1".to_owned(),
            link: "v=1&preset=a".to_owned(),
        };
        let measured = Measured { points: vec![point], others: 7 };
        assert_eq!(Measured::read(&measured.write()), measured);
        assert_eq!(Measured::read(&format!("{}half a line\n", measured.write())), measured);
        assert_eq!(Measured::read("<html>"), Measured::default());
    }
}

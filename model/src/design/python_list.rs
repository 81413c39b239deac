//! One number for each layer, as a Python list expression: `([0]*3+[1]*58)`.

use alloc::vec::Vec;

/// Layers of the longest list.
const MAX_LEN: usize = 10_000;

/// Brackets inside each other, at most.
const MAX_DEPTH: u32 = 8;

/// The numbers of an expression over these: lists of them, added with `+`, repeated with `*`, and
/// grouped by round brackets, as in `([1]*3+[0])*6`.
pub(super) fn read_list(text: &str, numbers: &[&str]) -> Option<Vec<u64>> {
    let text: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut reader = Reader { left: &text, numbers };
    let all = reader.sum(0)?;
    (reader.left.is_empty() && !all.is_empty()).then_some(all)
}

struct Reader<'a> {
    left: &'a [char],
    numbers: &'a [&'a str],
}

impl Reader<'_> {
    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.left.first() == Some(&wanted);
        if is_next {
            self.left = self.left.get(1..).unwrap_or_default();
        }
        is_next
    }

    /// Terms with `+` between them.
    fn sum(&mut self, depth: u32) -> Option<Vec<u64>> {
        let mut all = Vec::new();
        loop {
            let term = self.term(depth)?;
            if all.len() + term.len() > MAX_LEN {
                return None;
            }
            all.extend(term);
            if !self.take('+') {
                return Some(all);
            }
        }
    }

    /// A list or a group, and how often it comes.
    fn term(&mut self, depth: u32) -> Option<Vec<u64>> {
        let once = if self.take('(') {
            let inner = (depth < MAX_DEPTH).then(|| self.sum(depth + 1))??;
            self.take(')').then_some(inner)?
        } else {
            self.list()?
        };
        if !self.take('*') {
            return Some(once);
        }
        let digits = self.left.iter().take_while(|c| c.is_ascii_digit()).count();
        let count: alloc::string::String = self.left.get(..digits)?.iter().collect();
        self.left = self.left.get(digits..)?;
        let count: usize = count.parse().ok().filter(|count| *count > 0)?;
        (once.len().checked_mul(count)? <= MAX_LEN).then(|| once.repeat(count))
    }

    /// `[0,1]`.
    fn list(&mut self) -> Option<Vec<u64>> {
        if !self.take('[') {
            return None;
        }
        let end = self.left.iter().position(|c| *c == ']')?;
        let inside: alloc::string::String = self.left.get(..end)?.iter().collect();
        self.left = self.left.get(end + 1..)?;
        let number = |item: &str| self.numbers.contains(&item).then(|| item.parse().ok())?;
        inside.split(',').map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::read_list;

    #[test]
    fn groups_are_repeated_as_python_does() {
        let read = |text| read_list(text, &["0", "1"]);
        assert_eq!(read("([1]*3+[0])*2"), Some(vec![1, 1, 1, 0, 1, 1, 1, 0]));
        assert_eq!(read("[0] + ([1]*2 + [0])*2"), Some(vec![0, 1, 1, 0, 1, 1, 0]));
        assert_eq!(read("([0]*3+[1]*2)"), Some(vec![0, 0, 0, 1, 1]));
        assert_eq!(read("([0,1])*2"), Some(vec![0, 1, 0, 1]));
    }

    #[test]
    fn what_is_no_list_or_too_long_a_one_is_none() {
        let deep = "(".repeat(10_000) + "[0]";
        for text in [
            "",
            "()",
            "[]",
            "[2]",
            "[0",
            "([0]",
            "[0])",
            "[0]*0",
            "[0]*",
            "[0]++[1]",
            "2*[0]",
            "[0]*10001",
            "([0]*9999+[1])*2",
            "[0]*99999999999999999999",
            &deep,
        ] {
            assert_eq!(read_list(text, &["0", "1"]), None, "{}", &text[..text.len().min(40)]);
        }
    }
}

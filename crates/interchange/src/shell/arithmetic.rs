//! Integer arithmetic of `$((..))`.

/// Brackets and signs within each other, at most.
const MAX_DEPTH: u32 = 64;

/// The value of an expression; `None` where it is no arithmetic, overflows, or divides by zero.
pub(super) fn value(text: &str, variable: &mut dyn FnMut(&str) -> Option<i64>) -> Option<i64> {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace() && *c != '$').collect();
    let mut reader = Reader { letters: &letters, at: 0, variable };
    let value = reader.sum(0)?;
    (reader.at == letters.len()).then_some(value)
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    variable: &'a mut dyn FnMut(&str) -> Option<i64>,
}

impl Reader<'_> {
    fn next_if(&mut self, wanted: &[char]) -> Option<char> {
        let letter = self.letters.get(self.at).copied().filter(|c| wanted.contains(c))?;
        self.at += 1;
        Some(letter)
    }

    fn sum(&mut self, depth: u32) -> Option<i64> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.next_if(&['+', '-']) {
            let next = self.product(depth)?;
            value = if sign == '+' { value.checked_add(next) } else { value.checked_sub(next) }?;
        }
        Some(value)
    }

    fn product(&mut self, depth: u32) -> Option<i64> {
        let mut value = self.factor(depth)?;
        while let Some(sign) = self.next_if(&['*', '/', '%']) {
            let next = self.factor(depth)?;
            value = match sign {
                '*' => value.checked_mul(next),
                '/' => value.checked_div(next),
                _ => value.checked_rem(next),
            }?;
        }
        Some(value)
    }

    fn factor(&mut self, depth: u32) -> Option<i64> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.next_if(&['-']).is_some() {
            return self.factor(depth + 1)?.checked_neg();
        }
        if self.next_if(&['(']).is_some() {
            let value = self.sum(depth + 1)?;
            return self.next_if(&[')']).map(|_| value);
        }
        // `${NAME}` has lost its dollar already.
        let braced = self.next_if(&['{']).is_some();
        let start = self.at;
        while self.letters.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let name: String = self.letters.get(start..self.at)?.iter().collect();
        if braced {
            self.next_if(&['}'])?;
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.parse().ok()
        } else if name.is_empty() {
            None
        } else {
            (self.variable)(&name)
        }
    }
}

//! Texts that are meant as a whole and stand in their test.

pub use expect_test::expect;

/// Columns of a line in a test, less its indentation there.
const MAX_COLUMNS: usize = 84;

/// Checks a text against the one in the test; `UPDATE_EXPECT=1` writes that anew. Longer lines go
/// on in the next one, indented.
#[track_caller]
pub fn assert_text(found: &str, expected: expect_test::Expect) {
    let lines = found.lines().map(|line| folded(line) + "\n");
    expected.assert_eq(&lines.collect::<String>());
}

/// A line, broken at spaces.
fn folded(line: &str) -> String {
    let (mut text, mut columns) = (String::new(), 0);
    for (index, word) in line.split(' ').enumerate() {
        let width = word.chars().count();
        if index == 0 {
            columns = 0;
        } else if columns + 1 + width > MAX_COLUMNS && columns > 0 {
            text.push_str("\n    ");
            columns = 4;
        } else {
            text.push(' ');
            columns += 1;
        }
        text.push_str(word);
        columns += width;
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_in_the_next_one() {
        let found = format!("{}b\n\n  c  d", "aaa ".repeat(24));
        assert_text(
            &found,
            expect![[r#"
                aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa
                    aaa aaa aaa b

                  c  d
            "#]],
        );
    }
}

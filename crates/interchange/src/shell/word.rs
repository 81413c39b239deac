//! Words of a script, whose letters know their lines.

/// Characters and elements that expansions may make, all together.
pub(super) const MAX_EXPANDED: usize = 1 << 22;

/// A character and the line that it was written on.
pub(super) type Mark = (char, u64);

/// Text whose characters know their lines.
pub(super) type Text = Vec<Mark>;

/// A word of a command and its line.
pub(super) type Word = (String, u64);

/// Words of a command that may be commands themselves, by their places, with the lines of their
/// letters.
pub(super) type Strings = Vec<(usize, Text)>;

/// The words of a text, as the shell splits them.
pub(super) fn split(text: &[Mark]) -> Vec<Word> {
    let words = text.split(|(c, _)| c.is_whitespace()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let line = word.first().map_or(0, |(_, line)| *line);
            (word.iter().map(|(c, _)| *c).collect(), line)
        })
        .collect()
}

/// Words in the making.
pub(super) struct Made {
    pub(super) words: Vec<Text>,
    pub(super) word: Text,
    /// Whether there is a word, be it empty.
    pub(super) begun: bool,
    pub(super) split: bool,
}

impl Made {
    pub(super) fn new(split: bool) -> Self {
        Self { words: vec![], word: vec![], begun: false, split }
    }

    pub(super) fn push(&mut self, mark: Mark) {
        self.begun = true;
        self.word.push(mark);
    }

    /// A quote makes a word even of nothing.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Text> {
        self.end();
        self.words
    }

    /// Adds what a variable holds.
    pub(super) fn value(&mut self, elements: &[Text], quoted: bool, apart: bool) {
        // `"$@"` of nothing is no word.
        self.begun &= !(apart && elements.is_empty() && self.word.is_empty());
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                // Where there is room for one word alone, elements are joined.
                if self.split && (apart || !quoted) {
                    self.end();
                } else {
                    self.push((' ', element.first().map_or(0, |(_, line)| *line)));
                }
            }
            if quoted && apart {
                self.begin();
            }
            for mark in element {
                if self.split && !quoted && mark.0.is_whitespace() {
                    self.end();
                } else {
                    self.push(*mark);
                }
            }
        }
    }
}

//! The choice and the order of the runs shown: the part of the page that is in its address.

use std::cmp::Ordering;

use validation::report::Row;

use crate::choices::choices;
use crate::site::Page;
use crate::site::parameters::{self, unescape};

/// Runs on a page of the table.
pub const PAGE_SIZE: usize = 25;

/// Characters of the search that count.
const MAX_TEXT_LEN: usize = 100;

choices! {
    /// Something that runs share, by which they are picked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Facet {
        /// The name in the address.
        key: &'static str,
        /// The name that people read.
        label: &'static str;
        /// The accelerator that a run is taken for.
        Accelerator = "accelerator", "Accelerator";
        /// Publisher.
        Source = "source", "Source";
        /// Metric that is compared.
        Metric = "metric", "Metric";
        /// Quality of the measurement.
        Tier = "tier", "Tier";
        /// The precision of the matrix products.
        Precision = "precision", "Precision";
    }
}

impl Facet {
    /// A run's value; empty where it has none.
    #[must_use]
    pub fn value(self, row: &Row) -> &str {
        match self {
            Self::Accelerator => row.accelerator.as_deref().unwrap_or_default(),
            Self::Source => &row.source_id,
            Self::Metric => row.metric.as_deref().unwrap_or_default(),
            Self::Tier => &row.tier,
            Self::Precision => &row.precision,
        }
    }
}

choices! {
    /// Class of runs to choose from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Show {
        /// The name in the address.
        key: &'static str,
        /// The name that people read.
        label: &'static str;
        /// All of the file.
        #[default]
        All = "", "All";
        /// Runs with a prediction beside a measurement.
        Compared = "compared", "Compared";
        /// Runs that count towards the targets.
        Scored = "scored", "Count towards the targets";
        /// Runs that the knobs don't express.
        Refused = "refused", "Not modelled";
    }
}

choices! {
    /// The column that orders the table.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Sort {
        /// The name in the address.
        key: &'static str,
        /// The name that people read.
        label: &'static str;
        /// The file's own order.
        #[default]
        File = "", "";
        /// The run's id.
        Run = "run", "Run";
        /// The accelerator, then the number of devices.
        Hardware = "hardware", "Hardware";
        /// The tier.
        Tier = "tier", "Tier";
        /// The metric, then the published value.
        Measured = "measured", "Measured";
        /// The metric, then the predicted value.
        Predicted = "predicted", "Predicted";
        /// The size of the error.
        Error = "error", "Error";
    }
}

/// The runs shown, their order, and which page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Wanted values in the order of [`Facet::ALL`]; empty takes any.
    pub facets: [String; Facet::ALL.len()],
    /// Class of runs to choose from.
    pub show: Show,
    /// Words that all have to occur in a run.
    pub text: String,
    /// The column that orders them.
    pub sort: Sort,
    /// Whether the largest are first.
    pub descending: bool,
    /// The page, from zero.
    pub page: usize,
}

impl Filter {
    /// Filter of a query string; what it omits or gives in an unknown form is left open. A plus is
    /// a space, as forms write it.
    #[must_use]
    pub fn from_query(raw: &str) -> Self {
        let mut filter = Self::default();
        for pair in raw.strip_prefix('?').unwrap_or(raw).split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value);
            if let Some(facet) = Facet::ALL.into_iter().find(|facet| facet.key() == key) {
                filter.facets[facet as usize] = value;
                continue;
            }
            match key {
                "show" => {
                    let show = Show::ALL.into_iter().find(|show| show.key() == value);
                    filter.show = show.unwrap_or_default();
                }
                "q" => filter.text = value.chars().take(MAX_TEXT_LEN).collect(),
                "sort" => {
                    let key = value.strip_prefix('-');
                    let name = key.unwrap_or(&value);
                    let sort = Sort::ALL.into_iter().find(|sort| sort.key() == name);
                    filter.sort = sort.unwrap_or_default();
                    filter.descending = key.is_some() && filter.sort != Sort::File;
                }
                "page" => filter.page = value.parse::<usize>().unwrap_or(1).max(1) - 1,
                _ => {}
            }
        }
        filter
    }

    /// The query string, without the question mark; empty when everything is left open.
    #[must_use]
    pub fn query(&self) -> String {
        let mut query = String::new();
        let mut put = |key: &str, value: &str| parameters::put(&mut query, key, value, b"");
        for (facet, value) in Facet::ALL.iter().zip(&self.facets) {
            put(facet.key(), value);
        }
        put("show", self.show.key());
        put("q", &self.text);
        let sign = if self.descending { "-" } else { "" };
        put("sort", &format!("{sign}{}", self.sort.key()));
        if self.page > 0 {
            put("page", &(self.page + 1).to_string());
        }
        query
    }

    /// The address of the page in this state.
    #[must_use]
    pub fn address(&self) -> String {
        let query = self.query();
        let joint = if query.is_empty() { "" } else { "?" };
        format!("{}{joint}{query}", Page::Trust.path())
    }

    /// The wanted value of a facet; empty takes any.
    #[must_use]
    pub fn facet(&self, facet: Facet) -> &str {
        &self.facets[facet as usize]
    }

    /// Filter with another wanted value, on the first page.
    #[must_use]
    pub fn with_facet(&self, facet: Facet, value: &str) -> Self {
        let mut filter = Self { page: 0, ..self.clone() };
        value.clone_into(&mut filter.facets[facet as usize]);
        filter
    }

    /// Filter with the order by a column: errors largest first, the others smallest first; if it is
    /// ordered by it already, the other way round. On the first page.
    #[must_use]
    pub fn sorted_by(&self, sort: Sort) -> Self {
        let descending = if self.sort == sort { !self.descending } else { sort == Sort::Error };
        Self { sort, descending, page: 0, ..self.clone() }
    }

    /// Whether it leaves everything open that narrows the runs.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        self.show == Show::All
            && self.text.trim().is_empty()
            && self.facets.iter().all(String::is_empty)
    }

    /// The runs that it takes, by their places in `rows`, in its order.
    #[must_use]
    pub fn select(&self, rows: &[Row]) -> Vec<usize> {
        let text = self.text.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut found: Vec<usize> =
            (0..rows.len()).filter(|index| self.takes(&rows[*index], &words)).collect();
        if self.sort != Sort::File {
            found.sort_by(|left, right| self.compare(&rows[*left], &rows[*right]));
        }
        found
    }

    fn takes(&self, row: &Row, words: &[&str]) -> bool {
        let is_shown = match self.show {
            Show::All => true,
            Show::Compared => row.error.is_some(),
            Show::Scored => row.scored,
            Show::Refused => row.refused.is_some(),
        };
        let mut facets = Facet::ALL.iter().zip(&self.facets);
        is_shown
            && facets.all(|(facet, wanted)| wanted.is_empty() || facet.value(row) == wanted)
            && (words.is_empty() || {
                let text = searched(row);
                words.iter().all(|word| text.contains(word))
            })
    }

    /// Runs without a value come last in both directions.
    fn compare(&self, left: &Row, right: &Row) -> Ordering {
        let texts = |of: fn(&Row) -> &str| of(left).cmp(of(right));
        let metric = |row: &Row| row.metric.is_none();
        let (gap, order) = match self.sort {
            Sort::File => (Ordering::Equal, Ordering::Equal),
            Sort::Run => (Ordering::Equal, texts(|row| &row.id)),
            Sort::Tier => (Ordering::Equal, texts(|row| &row.tier)),
            Sort::Hardware => {
                let of = |row: &Row| row.accelerator.is_none();
                let order = texts(|row| row.accelerator.as_deref().unwrap_or(""));
                (of(left).cmp(&of(right)), order.then(left.num_devices.cmp(&right.num_devices)))
            }
            Sort::Measured => {
                let (gap, order) = numbers(left.measured, right.measured);
                let names = texts(|row| row.metric.as_deref().unwrap_or(""));
                (metric(left).cmp(&metric(right)).then(gap), names.then(order))
            }
            Sort::Predicted => {
                let (gap, order) = numbers(left.predicted, right.predicted);
                let names = texts(|row| row.metric.as_deref().unwrap_or(""));
                (gap, names.then(order))
            }
            Sort::Error => numbers(left.error.map(f64::abs), right.error.map(f64::abs)),
        };
        gap.then(if self.descending { order.reverse() } else { order })
    }
}

/// Order of two numbers: by which is missing, and by value.
fn numbers(left: Option<f64>, right: Option<f64>) -> (Ordering, Ordering) {
    let order = left.unwrap_or(0.0).total_cmp(&right.unwrap_or(0.0));
    (left.is_none().cmp(&right.is_none()), order)
}

/// Everything that a search looks at, in lower case.
fn searched(row: &Row) -> String {
    let optional = [&row.accelerator, &row.framework, &row.refused];
    let texts = [&row.id, &row.model, &row.hardware, &row.source_id, &row.source, &row.locator];
    let optional = optional.into_iter().filter_map(Option::as_ref);
    let mut all = String::new();
    for text in texts.into_iter().chain(optional).chain(&row.assumed) {
        all.push_str(text);
        all.push('\n');
    }
    all.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |id: &str, accelerator: &str, error: Option<f64>| Row {
            id: id.to_owned(),
            accelerator: Some(accelerator.to_owned()),
            error,
            refused: error.is_none().then(|| "a Mamba hybrid".to_owned()),
            model: format!("Qwen {id}{id}"),
            ..Row::default()
        };
        vec![
            row("b", "h100", Some(-0.3)),
            row("a", "b200", Some(0.1)),
            row("c", "h100", None),
            row("d", "h100", Some(0.2)),
        ]
    }

    fn shown(query: &str) -> String {
        let rows = rows();
        let found = Filter::from_query(query).select(&rows);
        found.into_iter().map(|index| rows[index].id.as_str()).collect()
    }

    #[test]
    fn a_filter_comes_back_from_its_own_address() {
        let query =
            "accelerator=h100&metric=mfu&show=refused&q=a%20%26%20%C3%A9&sort=-error&page=3";
        let filter = Filter::from_query(query);
        assert_eq!(filter.text, "a & é");
        assert_eq!((filter.sort, filter.descending, filter.page), (Sort::Error, true, 2));
        assert_eq!(filter.query(), query);
        assert_eq!(Filter::default().address(), "/trust");
    }

    #[test]
    fn an_address_written_by_hand_is_never_an_error() {
        for query in ["?", "&&=", "page=0", "page=-1", "sort=-", "sort=--error", "q=%zz%", "q=%ff"]
        {
            let filter = Filter::from_query(query);
            assert_eq!((filter.page, filter.sort), (0, Sort::File), "{query}");
        }
        assert_eq!(Filter::from_query("q=%zz+%4").text, "%zz %4");
    }

    #[test]
    fn runs_are_picked_by_all_that_is_asked() {
        assert_eq!(shown(""), "bacd");
        assert_eq!(shown("accelerator=h100"), "bcd");
        assert_eq!(shown("accelerator=h100&show=refused"), "c");
        assert_eq!(shown("q=mamba+HYBRID"), "c");
        assert_eq!(shown("q=qwen+DD&show=compared"), "d");
        assert_eq!(shown("accelerator=no-such"), "");
    }

    #[test]
    fn errors_are_ordered_by_size_and_what_has_none_comes_last() {
        assert_eq!(shown("sort=error"), "adbc");
        assert_eq!(shown("sort=-error"), "bdac");
        assert_eq!(shown("sort=-run"), "dcba");
        assert_eq!(shown("sort=hardware"), "abcd");
    }

    #[test]
    fn the_same_column_again_turns_the_order_round() {
        let first = Filter { page: 4, ..Filter::default() }.sorted_by(Sort::Error);
        assert_eq!((first.descending, first.page), (true, 0));
        assert!(!first.sorted_by(Sort::Error).descending);
        assert!(!first.sorted_by(Sort::Run).descending);
    }
}

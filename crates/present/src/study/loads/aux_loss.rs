//! What each auxiliary loss looks at: how many tokens it evens out, and what ranks add up for it.

use maud::{Markup, html};
use model::ground::choice::AuxLoss;
use model::routing::aux_loss::strictness;

use crate::format;
use crate::html::design_address;
use crate::insight::numbers::Numbers;

/// The losses, the strictest first, and their names.
const LOSSES: [(AuxLoss, &str); 5] = [
    (AuxLoss::Sequence, "Sequence"),
    (AuxLoss::MicroBatch, "Micro-batch"),
    (AuxLoss::EpGroup, "EP group"),
    (AuxLoss::DpGroup, "DP group"),
    (AuxLoss::None, "None"),
];

const HEADER: [&str; 5] = [
    "Loss of each",
    "Strictness",
    "Tokens it evens out",
    "Ranks that add up counts",
    "A rank sends, bytes per layer and micro-batch",
];

/// The table, with a link to the design under each other loss; nothing for a dense model.
pub(super) fn html(numbers: &Numbers) -> Markup {
    if numbers.plan.design().transformer.num_moe_experts.is_none() {
        return Markup::default();
    }
    html! {
        section.figure.card #aux-loss aria-labelledby="aux-loss-title" {
            h2 #aux-loss-title { "What an auxiliary loss evens out" }
            div.scroll-x role="region" tabindex="0" aria-label="Auxiliary losses, table" {
                table {
                    thead { tr { @for title in HEADER { th scope="col" { (title) } } } }
                    tbody { @for (loss, name) in LOSSES { (row(numbers, loss, name)) } }
                }
            }
            p {
                button type="button" class="text-button" data-save="aux-loss" { "Save as CSV" }
            }
            p.muted {
                "The fewer the tokens, the stricter the loss, and the less micro-batches vary. The "
                "order is that of Pangu Ultra MoE (arXiv 2505.04519); counts are added up over "
                "ranks as by Qiu et al. 2025 (arXiv 2501.11873), in an all-reduce that the "
                "estimate holds. Bytes are derived: four for the count of each expert."
            }
        }
    }
}

fn row(numbers: &Numbers, loss: AuxLoss, name: &str) -> Markup {
    let design = numbers.plan.design();
    let scope = numbers.plan.scope_of(loss);
    let is_own = loss == design.routing.aux_loss;
    let mut other = design.clone();
    other.routing.aux_loss = loss;
    let place = strictness(loss).map(|place| (u64::from(place) + 1).to_string());
    // A loss that nobody computes looks at nothing.
    let whole = |number: f64| place.as_ref().map(|_| format::decimals(number, 0));
    let cells = [place.clone(), whole(scope.tokens), whole(scope.ranks), whole(scope.bytes)];
    html! {
        tr aria-current=[is_own.then_some("true")] {
            th scope="row" {
                @if is_own { strong { (name) ", this design" } }
                @else {
                    a href=(design_address(&other)) data-step={ (name) ", auxiliary loss" } {
                        (name)
                    }
                }
            }
            @for cell in cells { td { (cell.as_deref().unwrap_or("none")) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::design::link;

    use super::*;

    #[track_caller]
    fn table(query: &str) -> String {
        let design = link::decode(query).expect("a link that decodes");
        html(&Numbers::of(&design).expect("a legal design")).into_string()
    }

    #[test]
    fn losses_stand_in_their_order_with_the_tokens_that_each_evens_out() {
        let text = table("?routing.aux_loss=ep_group");
        let places: Vec<usize> =
            LOSSES.iter().filter_map(|(_, name)| text.find(&format!("{name}<"))).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains("<strong>EP group, this design</strong>"), "{text}");
        assert_eq!(text.matches("data-step").count(), LOSSES.len() - 1);
        // Two sequences of 8,192 tokens in a micro-batch, and four bytes for each of 256 experts.
        assert!(text.contains("<td>1</td><td>8,192</td>"), "{text}");
        assert!(text.contains("<td>2</td><td>16,384</td><td>8</td><td>1,024</td>"), "{text}");
    }

    #[test]
    fn a_dense_model_has_no_such_loss() {
        let query = "?transformer.num_moe_experts=none&parallel.expert_model_parallel_size=1\
                     &routing.balance=uniform&routing.planner=none";
        let design = link::decode(query).ok();
        if let Some(numbers) = design.as_ref().and_then(Numbers::of) {
            assert_eq!(html(&numbers).into_string(), "");
        }
    }
}

//! The metrics of a comparison with a baseline, in the order in which tables show them.

use crate::ground::source::{DERIVED, LING_LEVERAGE};
use crate::metric::{Basis, Better, Metric, Words, metrics};

const NEITHER: Option<Better> = None;
const LOWER: Option<Better> = Some(Better::Lower);

metrics! {
    QualityMetric:
    loss_difference: "Loss beside the baseline", "nats", LOWER, Derived,
        "Loss less that of the baseline, each after its own tokens, as published laws expect it: \
         the median of four members; below zero is better",
        "median of L(design) - L(baseline)", LING_LEVERAGE;
    loss_difference_min: "Loss difference, lowest law", "nats", LOWER, Derived,
        "The least difference of the four members", "min of L(design) - L(baseline)",
        LING_LEVERAGE;
    loss_difference_max: "Loss difference, highest law", "nats", LOWER, Derived,
        "The largest difference of the four members", "max of L(design) - L(baseline)",
        LING_LEVERAGE;
    loss_difference_is_tie: "Loss not told apart", "", NEITHER, Derived,
        "1 where laws call neither better: the median is below 0.005 nats, signs differ, or the \
         models differ by depth or width alone; else 0",
        "|median| < 0.005 or min < 0 < max or depth or width alone", DERIVED;
    tokens_to_equal_loss: "Tokens to equal loss", "", LOWER, Derived,
        "Tokens for the baseline's loss over the baseline's own, the median of three members",
        "D(L baseline) / D baseline", LING_LEVERAGE;
    tokens_to_equal_loss_min: "Tokens to equal loss, lowest law", "", LOWER, Derived,
        "The least of the three members", "min of D(L baseline) / D baseline", LING_LEVERAGE;
    tokens_to_equal_loss_max: "Tokens to equal loss, highest law", "", LOWER, Derived,
        "The largest of the three members", "max of D(L baseline) / D baseline", LING_LEVERAGE;
    time_to_equal_loss: "Time to equal loss", "", LOWER, Derived,
        "Time to the baseline's loss over the baseline's own time, goodput among it where it is \
         known",
        "tokens to equal loss x tokens per second of the baseline / of the design", DERIVED;
    cost_to_equal_loss: "Cost to equal loss", "", LOWER, Derived,
        "Money to the baseline's loss over the baseline's own: device-hours where a price isn't \
         known",
        "time to equal loss x devices x price / those of the baseline", DERIVED;
    loss_difference_at_equal_time: "Loss in the same days", "nats", LOWER, Derived,
        "Loss less that of the baseline where the design trains as long as the baseline",
        "median of L(design, D x tokens per second / of the baseline) - L(baseline, D)", DERIVED;
    loss_difference_at_equal_cost: "Loss for the same money", "nats", LOWER, Derived,
        "Loss less that of the baseline where the design trains for the baseline's money",
        "median of L(design, D x tokens per unit of money / of the baseline) - L(baseline, D)",
        DERIVED;
}

//! A budget in words, for terminals.

use model::MODEL_VERSION;
use model::design::link;
use model::ground::units::Seconds;
use model::run::budget::Assessment;
use model::run::quality::CAVEAT;
use present::format;
use present::page::budget as page;

use crate::columns::{metrics, table};

/// The budget for people.
pub(super) fn of(assessment: &Assessment) -> String {
    let own = &assessment.own;
    let design = own.plan.design();
    let mut sections = vec![format!(
        "{}, trained on {} x {}\n  link /?{}\n  model {MODEL_VERSION}\n",
        design.preset.title,
        format::whole(design.cluster.num_devices),
        design.cluster.accelerator.row().title,
        link::encode(design)
    )];
    sections.push(numbers(assessment));
    if let Some(outcomes) = own.budget.outcomes {
        let [early, late] = [outcomes.early, outcomes.late].map(Seconds::to_days);
        sections.push(format!(
            "Of ten equal runs one ends within {} days and nine within {} days\n",
            format::significant(early, 4),
            format::significant(late, 4)
        ));
    }
    sections.extend(gains(assessment));
    sections.extend(quality(assessment));
    let said = own.budget.warnings.iter().chain(&own.budget.assumed);
    let said: Vec<String> = said.map(|line| format!("  {line}\n")).collect();
    if !said.is_empty() {
        sections.push(format!("To know\n{}", said.concat()));
    }
    sections.join("\n")
}

fn numbers(assessment: &Assessment) -> String {
    metrics(&assessment.own.answer(), "")
}

fn gains(assessment: &Assessment) -> Option<String> {
    let gains = &assessment.own.budget.gains;
    let row = |gain: &model::run::budget::Gain| {
        vec![
            gain.title.to_owned(),
            format!("{} days less", format::significant(gain.days, 3)),
            format!("{} device-hours", format::significant(gain.device_hours, 4)),
        ]
    };
    let rows: Vec<_> = gains.iter().map(row).collect();
    (!rows.is_empty()).then(|| format!("What changes are worth\n{}", table("lrr", &rows)))
}

fn quality(assessment: &Assessment) -> Option<String> {
    let judged = assessment.judged.as_ref()?;
    let lines = match &judged.comparison {
        Ok(comparison) => {
            let loss = &comparison.loss_difference;
            let mut text = format!(
                "  {} Difference {} nats per token [{}, {}]\n",
                page::verdict(comparison),
                format::signed(loss.median, 4),
                format::signed(loss.min, 4),
                format::signed(loss.max, 4)
            );
            if let Some(tokens) = &comparison.tokens_to_equal_loss {
                let [median, min, max] = [tokens.median, tokens.min, tokens.max]
                    .map(|times| format::significant(times, 3));
                text.push_str(&format!("  {median} x tokens to equal loss [{min}, {max}]\n"));
            }
            let flags = comparison.flags.iter().map(|flag| format!("  {}\n", flag.words()));
            text.extend(flags);
            text
        }
        Err(refusals) => refusals.iter().map(|it| format!("  {}\n", it.words())).collect(),
    };
    Some(format!("Loss beside the baseline\n{lines}  {CAVEAT}\n"))
}

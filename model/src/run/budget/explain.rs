//! A metric of a run as a tree of named terms, from what its budget is counted from.

mod quality;

use alloc::vec;
use alloc::vec::Vec;

use super::recovery::Recovery;
use super::run::{Budget, Paced};
use crate::ground::source::{BYTECHECKPOINT, DALY_2006, DERIVED, RESEARCH_CLUSTERS};
use crate::ground::units::Seconds;
use crate::metric::breakdown::{Breakdown, How, Terms};
use crate::metric::{BudgetMetrics, MetricId, Unit};
use crate::training::plan::Plan;

impl Budget {
    /// A metric opened down to its terms; none where it isn't known, or isn't of a budget.
    pub(crate) fn explain(&self, plan: &Plan, id: MetricId) -> Option<Breakdown> {
        Opened { plan, budget: self }.opened(id)
    }
}

/// Plan and budget that terms are made of.
struct Opened<'a> {
    plan: &'a Plan,
    budget: &'a Budget,
}

/// Terms of each metric.
const TERMS: BudgetMetrics<fn(&Opened<'_>) -> Terms> = BudgetMetrics {
    days_to_train: |of| {
        let alone = of.metric(MetricId::training_days);
        match of.opened(MetricId::goodput_ratio) {
            Some(goodput) => (How::Quotient, vec![alone, goodput]),
            None => (How::Sum, vec![alone]),
        }
    },
    training_days: |of| of.training(),
    device_hours: |of| {
        let hours = Breakdown::given("hours of a day", 24.0, Unit::Count);
        (How::Product, vec![of.metric(MetricId::days_to_train), hours, of.devices()])
    },
    cost: |of| {
        let price = of.plan.design().run.price_per_device_hour.unwrap_or_default();
        let price = Breakdown::given("price of a device-hour", price, Unit::Money);
        (How::Product, vec![of.metric(MetricId::device_hours), price])
    },
    energy_kwh: |of| of.energy(),
    goodput_ratio: |of| of.recovered(Opened::goodput),
    checkpoint_stall_ratio: |of| {
        of.recovered(|of, recovery| {
            let stall = of.stall(recovery);
            let terms = vec![of.metric(MetricId::goodput_ratio), stall];
            let stalled = Breakdown::product("goodput x stall", Unit::Seconds, terms)
                .by("goodput x stall of a checkpoint", DERIVED);
            (How::Quotient, vec![stalled, of.interval()])
        })
    },
    lost_work_ratio: |of| {
        let rest =
            [MetricId::goodput_ratio, MetricId::checkpoint_stall_ratio, MetricId::restart_ratio];
        let all = Breakdown::given("wall clock", 1.0, Unit::Ratio(1));
        (How::Difference, core::iter::once(all).chain(rest.map(|id| of.metric(id))).collect())
    },
    restart_ratio: |of| {
        of.recovered(|of, recovery| {
            (How::Given, vec![restart(recovery), of.between_failures(recovery)])
        })
    },
    failures_expected: |of| {
        of.recovered(|of, recovery| {
            let terms = vec![of.metric(MetricId::days_to_train), day()];
            let run = Breakdown::product("the run", Unit::Seconds, terms)
                .by("days x seconds of a day", DERIVED);
            (How::Quotient, vec![run, of.between_failures(recovery)])
        })
    },
    checkpoint_bytes: |of| of.checkpoint(),
    checkpoint_seconds: |of| {
        of.recovered(|of, recovery| (How::Sum, vec![of.stall(recovery), of.behind(recovery)]))
    },
    optimal_checkpoint_interval_seconds: |of| {
        of.recovered(|of, recovery| {
            let shortest = recovery.shortest_interval().get();
            let shortest = Breakdown::given("shortest interval", shortest, Unit::Seconds)
                .by("a step, and no less than the last checkpoint is written in", DERIVED);
            (How::Given, vec![of.stall(recovery), of.between_failures(recovery), shortest])
        })
    },
};

impl Opened<'_> {
    fn opened(&self, id: MetricId) -> Option<Breakdown> {
        let (value, terms) = (self.budget.get(id)?, TERMS.get(id)?);
        let words = BudgetMetrics::WORDS.get(id)?;
        Some(Breakdown::of_metric(id, words, value, terms(self)))
    }

    /// A metric as a term of another.
    fn metric(&self, id: MetricId) -> Breakdown {
        Breakdown::or_unknown(id, self.opened(id))
    }

    /// Terms that need to know how the run recovers.
    fn recovered(&self, terms: impl Fn(&Self, &Recovery) -> Terms) -> Terms {
        self.budget.recovery.as_ref().map_or((How::Given, Vec::new()), |of| terms(self, of))
    }

    fn training(&self) -> Terms {
        let mut terms = Vec::new();
        if let Some(paced) = &self.budget.paced {
            let Paced { warm_up_tokens, warm_up, tokens } = *paced;
            if warm_up_tokens > 0.0 {
                terms.push(
                    Breakdown::given("batch's warm-up", warm_up.get(), Unit::Seconds)
                        .by("sum over its batches of tokens / tokens per second", DERIVED)
                        .beside(vec![Breakdown::given("tokens", warm_up_tokens, Unit::Tokens)]),
                );
            }
            let rate = self.budget.tokens_per_second;
            let parts = vec![
                Breakdown::given("tokens", tokens, Unit::Tokens),
                Breakdown::given("tokens per second", rate, Unit::TokensPerSecond)
                    .by("global batch x sequence length / step time", DERIVED),
            ];
            terms.push(
                Breakdown::made("whole batch", Unit::Seconds, How::Quotient, parts)
                    .by("tokens / tokens per second", DERIVED),
            );
        }
        let steps = Breakdown::sum("steps", Unit::Seconds, terms).by("sum of its parts", DERIVED);
        (How::Quotient, vec![steps, day()])
    }

    /// All devices that are paid for.
    fn devices(&self) -> Breakdown {
        let design = self.plan.design();
        let devices = design.cluster.num_devices as f64;
        let devices = Breakdown::given("devices", devices, Unit::Count);
        let spares = design.run.spare_devices as f64;
        let spares = Breakdown::given("spare devices", spares, Unit::Count);
        Breakdown::sum("devices and spares", Unit::Count, vec![devices, spares])
            .by("devices + spare devices", DERIVED)
    }

    fn energy(&self) -> Terms {
        let watts = Breakdown::given(
            "power of a device",
            self.budget.watts.unwrap_or_default(),
            Unit::Watts,
        );
        let pue = self.plan.design().run.pue.unwrap_or(1.0);
        let pue = Breakdown::given("PUE", pue, Unit::Factor).by("1 where nothing is said", DERIVED);
        let terms = vec![self.metric(MetricId::device_hours), watts, pue];
        let energy = Breakdown::product("watt-hours", Unit::Count, terms)
            .by("device-hours x power of a device x PUE", DERIVED);
        let kilo = Breakdown::given("watts of a kilowatt", 1e3, Unit::Count);
        (How::Quotient, vec![energy, kilo])
    }

    /// The checkpoints that get safe between two failures, each worth an interval.
    fn goodput(&self, recovery: &Recovery) -> Terms {
        let mean = recovery.between_failures;
        let interval = self.budget.interval.unwrap_or_default();
        let cycle = (interval + recovery.stall) / mean;
        let first = Breakdown::given(
            "the first one's chance",
            libm::exp(-cycle - recovery.behind / mean),
            Unit::Count,
        )
        .by("e^(-(t + d + w)/M)", DALY_2006)
        .beside(vec![self.interval(), self.stall(recovery), self.behind(recovery)]);
        let further = Breakdown::given(
            "chance of a failure before a further one",
            -libm::expm1(-cycle),
            Unit::Count,
        )
        .by("1 - e^(-(t + d)/M)", DALY_2006)
        .beside(vec![self.interval(), self.stall(recovery)]);
        let safe = Breakdown::made(
            "checkpoints that get safe between two failures",
            Unit::Count,
            How::Quotient,
            vec![first, further],
        )
        .by("e^(-(t + d + w)/M) / (1 - e^(-(t + d)/M))", DALY_2006);
        let running = Breakdown::given(
            "restarts that don't fail",
            libm::exp(-(recovery.restart / mean)),
            Unit::Count,
        )
        .by("e^(-R/M)", DALY_2006)
        .beside(vec![restart(recovery)]);
        let terms = vec![safe, running, self.interval()];
        let kept = Breakdown::product("kept training between two failures", Unit::Seconds, terms)
            .by("checkpoints x restarts that don't fail x t", DALY_2006);
        (How::Quotient, vec![kept, self.between_failures(recovery)])
    }

    fn interval(&self) -> Breakdown {
        let interval = self.budget.interval.unwrap_or_default().get();
        let given = Breakdown::given("t, training between checkpoints", interval, Unit::Seconds);
        given.by("the best interval, or what is asked for", DALY_2006)
    }

    fn between_failures(&self, recovery: &Recovery) -> Breakdown {
        let design = self.plan.design();
        let hours = design.run.mtbf_device_hours.unwrap_or_default();
        let devices = design.cluster.num_devices as f64;
        let terms = vec![
            Breakdown::given("device-hours between failures", hours, Unit::DeviceHours),
            Breakdown::given("seconds of an hour", 3_600.0, Unit::Count),
        ];
        let seconds = Breakdown::product("device-seconds between failures", Unit::Seconds, terms);
        let devices = Breakdown::given("devices", devices, Unit::Count);
        let terms = vec![seconds.by("device-hours x 3600", DERIVED), devices];
        Breakdown {
            value: recovery.between_failures.get(),
            ..Breakdown::made("M, time between failures", Unit::Seconds, How::Quotient, terms)
                .by("device-hours between failures / devices", RESEARCH_CLUSTERS)
        }
    }

    /// Time for which a checkpoint stops the training.
    fn stall(&self, recovery: &Recovery) -> Breakdown {
        let name = "d, stall of a checkpoint";
        if self.plan.design().run.checkpoint_async {
            let checkpoint = &self.budget.checkpoint;
            let terms = vec![
                self.metric(MetricId::checkpoint_bytes),
                Breakdown::given(
                    "fullest writer over the mean",
                    checkpoint.unevenness,
                    Unit::Factor,
                ),
            ];
            let bytes =
                Breakdown::product("bytes as if all wrote as much", Unit::MemoryBytes, terms)
                    .by("bytes x fullest writer / mean", DERIVED);
            let writers = Breakdown::given("writers", checkpoint.writers, Unit::Count);
            let host = checkpoint.host.get();
            let host = Breakdown::given("bandwidth to the host", host, Unit::BytesPerSecond);
            return Breakdown::made(name, Unit::Seconds, How::Quotient, vec![bytes, writers, host])
                .by("bytes of the fullest writer / bandwidth to the host", BYTECHECKPOINT);
        }
        self.written(name, recovery.stall)
    }

    /// Time in which a checkpoint is written beside the training.
    fn behind(&self, recovery: &Recovery) -> Breakdown {
        let name = "w, writing behind the training";
        if self.plan.design().run.checkpoint_async {
            return self.written(name, recovery.behind);
        }
        Breakdown::given(name, recovery.behind.get(), Unit::Seconds)
    }

    fn written(&self, name: &str, time: Seconds) -> Breakdown {
        let rate = self.plan.design().run.checkpoint_gb_per_sec.unwrap_or_default() * 1e9;
        let rate = Breakdown::given("rate of checkpoints", rate, Unit::BytesPerSecond);
        let terms = vec![self.metric(MetricId::checkpoint_bytes), rate];
        Breakdown {
            value: time.get(),
            ..Breakdown::made(name, Unit::Seconds, How::Quotient, terms).by("bytes / rate", DERIVED)
        }
    }

    fn checkpoint(&self) -> Terms {
        let plan = self.plan;
        let params = plan.params_trained();
        let params = Breakdown::given("trained parameters", params, Unit::Parameters)
            .by("all that are trained, those of MTP among them", BYTECHECKPOINT);
        let weights =
            if plan.optimizer.reuses_main_params { 0.0 } else { plan.deployment.element_bytes() };
        let terms = vec![
            Breakdown::given("a stored weight", weights, Unit::Count)
                .by("bytes; none where it is the upper half of the main copy", BYTECHECKPOINT),
            Breakdown::given("its states", plan.optimizer.per_param, Unit::Count)
                .by("bytes of the main copy and the moments", BYTECHECKPOINT),
        ];
        let each = Breakdown::sum("bytes of a parameter", Unit::Count, terms)
            .by("weight + main copy + moments", BYTECHECKPOINT);
        (How::Product, vec![params, each])
    }
}

fn day() -> Breakdown {
    Breakdown::given("seconds of a day", 86_400.0, Unit::Count)
}

fn restart(recovery: &Recovery) -> Breakdown {
    Breakdown::given("R, restart", recovery.restart.get(), Unit::Seconds)
}

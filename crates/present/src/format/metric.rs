//! A metric's number in its unit: what pages, axes, tables, the command line and MCP say of it.

use model::ground::units::{Bytes, Seconds};
use model::metric::{MetricId, MetricValue, Unit};

use super::{
    MemoryUnit, Quantity, count, decimals, duration, flops, flops_rate, likelihood, memory,
    percent, places, points, relative, rounded, scaled, signed, significant, token_rate, traffic,
};

/// A metric's value as a number, verdicts as one and zero; not a number where there is none.
#[must_use]
pub fn number(value: Option<MetricValue>) -> f64 {
    value.map_or(f64::NAN, MetricValue::number)
}

/// A metric's value, or that it isn't known.
#[must_use]
pub fn metric(id: MetricId, value: Option<MetricValue>) -> Quantity {
    let unknown = || Quantity::new("not known".to_owned(), "");
    value.map_or_else(unknown, |value| measured(id, value.number()))
}

/// A number of a metric, a verdict's as one or zero.
#[must_use]
pub fn measured(id: MetricId, number: f64) -> Quantity {
    in_unit(number, id.metric().unit)
}

/// A number in its unit: of a metric, and of the terms of an explanation.
#[must_use]
pub fn in_unit(number: f64, unit: Unit) -> Quantity {
    match unit {
        Unit::Ratio(places) => percent(number, places.into()),
        Unit::Likelihood => likelihood(number),
        Unit::Factor => Quantity::new(decimals(number, 2), "×"),
        Unit::Verdict => Quantity::new(if number > 0.5 { "yes" } else { "no" }.to_owned(), ""),
        Unit::Count | Unit::Parameters if number.abs() >= 1e6 => count(number),
        Unit::Money => Quantity::new(rounded(number), ""),
        Unit::DeviceHours => Quantity::new(rounded(number), unit.name()),
        Unit::Seconds | Unit::TokenSeconds => duration(Seconds::new(number)),
        Unit::KilowattHours => energy(number),
        Unit::MemoryBytes => memory(Bytes::new(number)),
        Unit::TrafficBytes | Unit::TokenBytes => traffic(Bytes::new(number)),
        Unit::BytesPerSecond => {
            scaled(number, &[(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")])
        }
        Unit::Flop => flops(number),
        Unit::FlopPerSecond => flops_rate(number),
        Unit::TokensPerSecond => token_rate(number),
        Unit::Count
        | Unit::Parameters
        | Unit::Hours
        | Unit::Days
        | Unit::Watts
        | Unit::Gib
        | Unit::Tflops
        | Unit::Tokens
        | Unit::Sequences
        | Unit::PerSecond
        | Unit::Nats => Quantity::new(significant(number, 4), unit.name()),
    }
}

/// Energy in the largest unit in which it is one or more.
fn energy(kwh: f64) -> Quantity {
    let (size, unit) = match kwh {
        _ if kwh >= 1e6 => (1e6, "GWh"),
        _ if kwh >= 1e3 => (1e3, "MWh"),
        _ => (1.0, "kWh"),
    };
    Quantity::new(significant(kwh / size, 4), unit)
}

/// The unit that an axis of a metric is in: how much one of it is, and its name.
#[must_use]
pub fn axis(id: MetricId) -> (f64, &'static str) {
    let unit = id.metric().unit;
    match unit {
        Unit::Ratio(_) | Unit::Likelihood => (0.01, "%"),
        Unit::Factor => (1.0, "×"),
        Unit::Parameters => (1e9, "B"),
        Unit::TokenSeconds => (1e-3, "ms"),
        Unit::MemoryBytes => {
            let unit = MemoryUnit::chosen();
            (1.0 / unit.count(Bytes::new(1.0)), unit.name())
        }
        Unit::TrafficBytes => (1e9, "GB"),
        Unit::TokenBytes => (1e3, "kB"),
        Unit::Flop => (1e9, "GFLOP"),
        Unit::Verdict
        | Unit::Count
        | Unit::Money
        | Unit::Seconds
        | Unit::Hours
        | Unit::DeviceHours
        | Unit::Days
        | Unit::KilowattHours
        | Unit::Watts
        | Unit::Gib
        | Unit::BytesPerSecond
        | Unit::FlopPerSecond
        | Unit::Tflops
        | Unit::Tokens
        | Unit::TokensPerSecond
        | Unit::Sequences
        | Unit::PerSecond
        | Unit::Nats => (1.0, unit.name()),
    }
}

/// Change of a metric's value: of shares in percentage points, else relative.
#[must_use]
pub fn change(id: MetricId, now: f64, then: f64) -> String {
    if id.metric().unit.is_share() { points(now, then) } else { relative(now, then) }
}

/// Difference of a metric's value from another, in its unit: `−12.3 s`, `+1.4 pt`; to no
/// more decimals than the values have themselves.
#[must_use]
pub fn difference(id: MetricId, now: f64, then: f64) -> String {
    let by = now - then;
    let size = measured(id, by.abs());
    let value = measured(id, now.abs().max(then.abs()));
    let is_plain = size.unit == value.unit && size.unit == id.metric().unit.name();
    let size = if is_plain && places(&value.number) < places(&size.number) {
        Quantity::new(decimals(by.abs(), places(&value.number)), size.unit)
    } else {
        size
    };
    if size.unit == "%" {
        let places = places(&size.number);
        return format!("{} pt", signed(by * 100.0, places));
    }
    let is_zero = size.number.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = match by {
        _ if is_zero => "",
        by if by < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shown: &Quantity, expected: &str) {
        assert_eq!(shown.to_string(), expected);
    }

    #[test]
    fn terms_of_an_explanation_keep_whole_numbers_whole() {
        check(&in_unit(16.0, Unit::Count), "16");
        check(&in_unit(0.123_456, Unit::Count), "0.1235");
        check(&in_unit(294.9, Unit::Tflops), "294.9 TFLOPS");
        check(&in_unit(294.9e12, Unit::FlopPerSecond), "294.9 TFLOP/s");
        check(&in_unit(3.0, Unit::Tflops), "3 TFLOPS");
    }

    #[test]
    fn a_difference_has_no_more_decimals_than_its_values() {
        let said = |id, now, then| difference(id, now, then);
        assert_eq!(said(MetricId::model_tflops_per_device, 119.158_9, 119.9), "−0.7 TFLOPS");
        assert_eq!(said(MetricId::tokens_per_second, 1.46e6, 1.468_170_9e6), "−8,171 tokens/s");
        assert_eq!(said(MetricId::step_time_seconds, 34.3, 31.99), "+2.3 s");
        assert_eq!(said(MetricId::step_time_seconds, 34.3, 34.2875), "+12.5 ms");
    }

    #[test]
    fn a_difference_has_the_metrics_own_unit() {
        let said = |id, now, then| difference(id, now, then);
        assert_eq!(said(MetricId::step_time_seconds, 21.9, 34.2), "−12.3 s");
        assert_eq!(said(MetricId::mfu, 0.302, 0.288), "+1.4 pt");
        assert_eq!(said(MetricId::bubble_ratio, 0.1049, 0.1899), "−8.50 pt");
        assert_eq!(said(MetricId::memory_peak_bytes, 3.0 * 1_073_741_824.0, 0.0), "+3.0 GiB");
        assert_eq!(said(MetricId::imbalance_ratio, 1.0, 1.0), "0.00 ×");
    }

    #[test]
    fn a_share_is_a_percentage_wherever_it_is_told_and_a_factor_is_none() {
        check(&measured(MetricId::goodput_ratio, 0.931_2), "93.1 %");
        check(&measured(MetricId::bubble_ratio, 15.0 / 143.0), "10.49 %");
        check(&measured(MetricId::imbalance_ratio, 1.32), "1.32 ×");
        check(&measured(MetricId::tokens_to_equal_loss, 0.931_2), "0.93 ×");
        check(&measured(MetricId::fits, 1.0), "yes");
        check(&metric(MetricId::goodput_ratio, None), "not known");
        assert_eq!(change(MetricId::goodput_ratio, 0.93, 0.92), "+1.0 pt");
        assert_eq!(change(MetricId::imbalance_ratio, 1.2, 1.0), "+20.0 %");
        for id in MetricId::ALL.iter().copied() {
            let is_percent = axis(id).1 == "%";
            assert_eq!(measured(id, 0.5).unit == "%", is_percent, "{id:?}");
            assert_eq!(id.metric().unit.is_share(), is_percent, "{id:?}");
        }
    }

    #[test]
    fn amounts_of_a_run_are_in_the_unit_that_reads_best() {
        check(&measured(MetricId::device_hours, 12_345_678.0), "12,350,000 h");
        check(&measured(MetricId::energy_kwh, 2_500_000.0), "2.500 GWh");
        check(&measured(MetricId::kv_bytes_per_token, 70_272.0), "70.3 kB");
        check(&measured(MetricId::cost, 1_234.6), "1,235");
        check(&in_unit(100e9, Unit::BytesPerSecond), "100.0 GB/s");
    }
}

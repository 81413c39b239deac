//! Families of accelerators that are close relatives: few enough for a mark each in a chart.

/// A generation of accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Huawei's Ascend 910.
    Ascend,
    /// NVIDIA's A100 and A800.
    Ampere,
    /// NVIDIA's H100, H800, H200 and H20.
    Hopper,
    /// NVIDIA's B200 and B300.
    Blackwell,
    /// NVIDIA's GB200 and GB300 racks.
    GraceBlackwell,
    /// All others.
    Other,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ascend,
        Self::Ampere,
        Self::Hopper,
        Self::Blackwell,
        Self::GraceBlackwell,
        Self::Other,
    ];

    /// The family of an accelerator, by its public id.
    #[must_use]
    pub fn of(accelerator: &str) -> Self {
        const PREFIXES: [(&str, Family); 8] = [
            ("ascend", Family::Ascend),
            ("a100", Family::Ampere),
            ("a800", Family::Ampere),
            ("h", Family::Hopper),
            ("gb", Family::GraceBlackwell),
            ("b200", Family::Blackwell),
            ("b300", Family::Blackwell),
            ("", Family::Other),
        ];
        let found = PREFIXES.into_iter().find(|(prefix, _)| accelerator.starts_with(prefix));
        found.map_or(Self::Other, |(_, family)| family)
    }

    /// Label for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ascend => "Ascend 910",
            Self::Ampere => "A100, A800",
            Self::Hopper => "H100, H200, H800",
            Self::Blackwell => "B200, B300",
            Self::GraceBlackwell => "GB200, GB300",
            Self::Other => "Other",
        }
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::accelerator::AcceleratorId;
    use model::ground::choice::Choice;

    use super::*;

    #[test]
    fn every_accelerator_has_a_family() {
        for name in AcceleratorId::NAMES {
            assert_ne!(Family::of(name), Family::Other, "{name}");
        }
        assert_eq!(Family::of("gb300"), Family::GraceBlackwell);
        assert_eq!(Family::of("b300"), Family::Blackwell);
        assert_eq!(Family::of("tpu"), Family::Other);
    }
}

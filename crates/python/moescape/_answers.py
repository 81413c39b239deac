"""What is answered, with types. `to_dict()` of each is what the command line prints as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Union

from . import _native
from ._errors import InvalidInput, Value, Violation

Number = Union[float, bool, None]
"""A metric's value: a `bool` for verdicts, `None` where it isn't known."""


@dataclass(frozen=True)
class Metric:
    """A metric of the registry: what a number means."""

    id: str
    """The public id, such as `step_time_seconds`."""
    label: str
    """A short name for people."""
    unit: str
    """The unit of its values; empty for counts, ratios and verdicts."""
    regime: str
    """`training`, `serving`, `budget` or `quality`."""
    better: Optional[str]
    """`higher` or `lower`; `None` where neither is by itself."""
    definition: str
    """What it means, in a sentence."""
    formula: str
    """How it is computed."""
    source: str
    """Who defines it so."""


@dataclass(frozen=True)
class Knob:
    """A knob of the registry: what a design says."""

    id: str
    """The public id, `section.name`."""
    label: str
    """A short name for people."""
    unit: str
    """The unit of its values; empty for a bare count."""
    meaning: str
    """What it is, in a line."""
    aliases: tuple[str, ...]
    """Other names that are read, such as `tp`."""
    minimum: Optional[float]
    """The least value, of a number."""
    maximum: Optional[float]
    """The largest value, of a number."""
    values: Optional[tuple[str, ...]]
    """The values of a choice."""


@dataclass(frozen=True)
class Preset:
    """A design to start from."""

    id: str
    title: str
    kind: str
    """`model`, `recipe` or `serving`."""
    story: str
    """What is published of it, and what isn't."""
    refused: Optional[str]
    """Why it can't be opened."""


@dataclass(frozen=True)
class Range:
    """Where the true value lies, by errors on runs whose sources no constant was fitted on."""

    half: tuple[float, float]
    """Low and high end that hold it with 50 %, in the metric's unit."""
    most: tuple[float, float]
    """Low and high end that hold it with 90 %, in the metric's unit."""
    coverage: Optional[tuple[float, float]]
    """The shares of left-out runs that these two held in fact; `None` where it isn't known."""
    rows: int
    """Published runs behind it."""
    sources: int
    """Sources of these runs."""

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Range:
        coverage = data.get("coverage")
        return cls(
            half=(data["range_50"][0], data["range_50"][1]),
            most=(data["range_90"][0], data["range_90"][1]),
            coverage=None if coverage is None else (coverage[0], coverage[1]),
            rows=data["rows"],
            sources=data["sources"],
        )


@dataclass(frozen=True)
class Change:
    """What the change of one knob does to a design's memory and speed."""

    knob: str
    value: Value
    along: tuple[tuple[str, Value], ...]
    """Knobs that have to change with it."""
    fits: bool
    fit_probability: float
    mfu: float
    """A ratio of the peak."""
    memory_peak_bytes: float


@dataclass(frozen=True)
class Verdict:
    """Whether a design fits its memory, what fills it, and what would help."""

    state: str
    """`fits`, `nearly full` or what else the model calls it."""
    fits: bool
    fit_probability: float
    """The probability that it fits, by the errors of published peaks."""
    place: str
    """`device` or `host`: which memory is the tightest."""
    stage: int
    """The pipeline stage that is fullest, from 0."""
    peak_bytes: float
    limit_bytes: float
    over_bytes: float
    """Bytes beyond the limit; 0 where it fits."""
    headroom_bytes: float
    contents: Mapping[str, float]
    """What fills it at its peak, in bytes."""
    changes: tuple[Change, ...]
    """Single changes that would mend it or make more of it."""

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Verdict:
        def change(each: Mapping[str, Any]) -> Change:
            along = tuple((one["knob"], one["value"]) for one in each["with"])
            names = ("fits", "fit_probability", "mfu", "memory_peak_bytes")
            return Change(each["knob"], each["value"], along, *(each[name] for name in names))

        names = (
            "state fits fit_probability place stage peak_bytes limit_bytes over_bytes "
            "headroom_bytes"
        )
        return cls(
            **{name: data[name] for name in names.split()},
            contents={each["content"]: each["bytes"] for each in data["contents"]},
            changes=tuple(change(each) for each in data["changes"]),
        )


@dataclass(frozen=True)
class _Answer:
    """Metrics with their ranges."""

    design: _native.Design
    """The design that was asked about."""
    metrics: Mapping[str, Number]
    """Every metric by its id, in the unit that `moescape.metric(id)` says."""
    ranges: Mapping[str, Range]
    """The ranges of those that published runs tell of, in the same units."""
    warnings: tuple[str, ...]
    """What there is to know, in sentences."""
    _data: dict[str, Any] = field(repr=False, compare=False)

    def __getitem__(self, metric: str) -> Number:
        try:
            return self.metrics[metric]
        except KeyError:
            known = ", ".join(self.metrics)
            detail = f"there is no metric {metric!r} here; there are {known}"
            error = {"rule": "unknown_metric", "knob": metric, "detail": detail, "nearest": []}
            raise InvalidInput([error]) from None

    def to_dict(self) -> dict[str, Any]:
        """The whole answer, as the command line prints it with `--json`."""
        return self._data


@dataclass(frozen=True)
class Prediction(_Answer):
    """What a design achieves in training. Per device unless a metric's id says otherwise."""

    verdict: Optional[Verdict] = None
    """Whether it fits, and what would help; `None` where it wasn't asked for."""

    @property
    def fits(self) -> bool:
        """Does its peak memory stay within the usable memory?"""
        return bool(self.metrics["fits"])

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Each pipeline stage: its memory in bytes, its times in seconds."""
        stages: list[dict[str, Any]] = self._data["stages"]
        return stages

    @property
    def communication(self) -> list[dict[str, Any]]:
        """Each exchange by axis and link: bytes, seconds, seconds that nothing hides."""
        rows: list[dict[str, Any]] = self._data["communication"]
        return rows

    @classmethod
    def _of(cls, design: _native.Design, data: dict[str, Any]) -> Prediction:
        ranges = {name: Range._of(each) for name, each in data["expected_error"].items()}
        verdict = data["verdict"] and Verdict._of(data["verdict"])
        warnings = tuple(data["warnings"])
        return cls(design, data["metrics"], ranges, warnings, data, verdict)


@dataclass(frozen=True)
class Inference(_Answer):
    """How a design serves."""

    binds: str = ""
    """What holds more requests back."""

    @property
    def timeline(self) -> dict[str, list[dict[str, Any]]]:
        """The parts of a step of `decode` and of a prompt's `prefill`, in seconds."""
        parts: dict[str, list[dict[str, Any]]] = self._data["timeline"]
        return parts

    @property
    def memory(self) -> dict[str, float]:
        """The memory of a device, in bytes."""
        memory: dict[str, float] = self._data["memory"]
        return memory

    @classmethod
    def _of(cls, design: _native.Design, data: dict[str, Any]) -> Inference:
        ranges = {name: Range._of(each) for name, each in data["ranges"].items()}
        warnings = tuple(data["warnings"])
        return cls(design, data["metrics"], ranges, warnings, data, data["binds"])


@dataclass(frozen=True)
class Budget(_Answer):
    """What a design's run costs. A metric is `None` until what it needs is set."""

    assumed: tuple[str, ...] = ()
    """What was taken for granted, with its source."""

    @property
    def quality(self) -> Optional[dict[str, Any]]:
        """What published laws expect of the loss, in nats, beside the baseline."""
        quality: Optional[dict[str, Any]] = self._data["quality"]
        return quality

    @classmethod
    def _of(cls, design: _native.Design, data: dict[str, Any]) -> Budget:
        ranges = {name: Range._of(each) for name, each in data["ranges"].items()}
        warnings, assumed = tuple(data["warnings"]), tuple(data["assumed"])
        return cls(design, data["metrics"], ranges, warnings, data, assumed)


@dataclass(frozen=True)
class Breakdown:
    """How a number comes about: a tree whose terms make up each node."""

    name: str
    value: float
    unit: str
    formula: str
    source: str
    how: str
    """How the children make up the value, such as `sum` or `product`."""
    children: tuple[Breakdown, ...]

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Breakdown:
        children = tuple(cls._of(each) for each in data["children"])
        names = ("name", "value", "unit", "formula", "how")
        own = {name: data[name] for name in names}
        return cls(**own, source=data["source"]["title"], children=children)

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> list[str]:
        own = f"{'  ' * depth}{self.name}: {self.value:.6g} {self.unit}".rstrip()
        return [own, *(line for each in self.children for line in each._lines(depth + 1))]


@dataclass(frozen=True)
class Recommendation:
    """A design that a search found."""

    label: Optional[str]
    """`fastest`, `safest`, `simplest`, or `None` for a further one."""
    design: _native.Design
    knobs: Mapping[str, Value]
    """What differs from the design that was asked about."""
    metrics: Mapping[str, Number]
    ranges: Mapping[str, Range]
    why: tuple[str, ...]
    """Why it is here, in sentences."""
    binds: str
    """What holds it back."""

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Recommendation:
        return cls(
            label=data["label"],
            design=_native.Design.from_link(data["link"]),
            knobs=data["knobs"],
            metrics=data["metrics"],
            ranges={name: Range._of(each) for name, each in data["ranges"].items()},
            why=tuple(data["why"]),
            binds=data["binds"],
        )


@dataclass(frozen=True)
class Found:
    """What a search for a layout found."""

    designs: tuple[Recommendation, ...]
    """At most ten, those with a label first; empty where nothing fits."""
    evaluated: int
    """Estimates that it took."""
    complete: bool
    """Whether it came to its end, or to the evaluations that were asked for."""
    ruled_out: Mapping[str, int]
    """What ruled out how many designs."""
    _data: dict[str, Any] = field(repr=False, compare=False)

    def __getitem__(self, label: str) -> Recommendation:
        """The design of that label: `fastest`, `safest` or `simplest`."""
        return next(each for each in self.designs if each.label == label)

    def to_dict(self) -> dict[str, Any]:
        """The whole answer; what comes nearest, where nothing fits, stands under `miss`."""
        return self._data

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Found:
        return cls(
            designs=tuple(Recommendation._of(each) for each in data["designs"]),
            evaluated=data["evaluated"],
            complete=data["complete"],
            ruled_out={each["reason"]: each["designs"] for each in data["ruled_out"]},
            _data=data,
        )


@dataclass(frozen=True)
class Imported:
    """A text of others as a design. Nothing of it is dropped in silence."""

    design: _native.Design
    """With a guess for everything that the text leaves open."""
    dialect: str
    """Who wrote it: `hf`, `megatron`, `mindspeed`, `serving` or `design`."""
    assumed: tuple[str, ...]
    """What was taken for granted, in sentences."""
    questions: Mapping[str, Optional[str]]
    """What the text leaves to whoever runs it, with the guess that the design has meanwhile."""
    unknown: tuple[str, ...]
    """Keys that nobody here knows."""
    violations: tuple[Violation, ...]
    """Rules that the design breaks."""
    _data: dict[str, Any] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """All that there is to say: also what each key set, and what changes nothing and why."""
        return self._data

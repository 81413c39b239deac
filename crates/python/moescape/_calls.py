"""The questions: each takes a design and gives a typed answer."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _native
from ._answers import (
    Breakdown,
    Budget,
    Found,
    Imported,
    Inference,
    Knob,
    Metric,
    Prediction,
    Preset,
)
from ._errors import InvalidInput, Value, Violation
from ._native import Design, Sweep

MAX_ROWS = 20_000_000
"""Rows of a sweep, at most, unless it asks for more: each takes some 8 bytes for each column."""


def call(name: str, design: Optional[Design] = None, **arguments: Any) -> dict[str, Any]:
    """The answer of an operation by its name, such as `solve`, as the dictionary that
    `moescape NAME --json` prints.

    Arguments are those of `POST /api/v1/NAME`; one that is a design may be a `Design`, one that is
    `None` is left out.

    Raises `InvalidInput` with everything that is wrong with them, and `IllegalDesign` with every
    rule that the design breaks.
    """
    given: dict[str, Any] = {} if design is None else {"link": design.link()}
    for argument, value in arguments.items():
        if isinstance(value, Design):
            given[argument] = {"link": value.link()}
        elif value is not None:
            given[argument] = value
    return _native.call(name, given)


def predict(design: Design, *, verdict: bool = True) -> Prediction:
    """What a design achieves in training.

    `verdict=False` leaves out the verdict on its memory, which tries many other designs and takes
    most of the time.

    Raises `IllegalDesign` with every rule that the design breaks. One that doesn't fit its memory
    is no error.
    """
    return Prediction._of(design, call("predict", design, verdict=verdict))


def explain(design: Design, metric: str, *, baseline: Optional[Design] = None) -> Breakdown:
    """How a metric comes about, as a tree of the terms that it is made of.

    The metric is one of training, of serving or of a run, or a part of one: `mfu`,
    `memory_peak_bytes@stage=3`, `comm_volume_bytes@axis=ep,link=inter_node`, `tpot_seconds`,
    `goodput_ratio`; with a baseline one of the loss beside it, such as `loss_difference`.
    """
    return Breakdown._of(call("explain", design, metric=metric, baseline=baseline))


def find(
    design: Design,
    *,
    goal: Optional[str] = None,
    question: Optional[str] = None,
    targets: Sequence[str] = (),
    keep: Iterable[str] = (),
    any_schedule: bool = False,
    evaluations: Optional[int] = None,
    serve: bool = False,
) -> Found:
    """The layouts that a design's model, machine and batch should run with; in seconds.

    `goal` is what the first is best at: `fastest` (the default), `safest` or `simplest`.
    `question` is `layout` (the default), `fewest_devices`, `largest_batch` or `longest_sequence`.
    `targets` is what every design must reach, such as `mfu>=0.4`, `step_time_seconds<=20`,
    `spare>=0.1` (a share of the memory) or `num_devices<=512`. `keep` names knobs that stay.
    `any_schedule` takes schedules that the design's framework doesn't ship. `evaluations` ends the
    search after about so many estimates, with what it has by then and `complete` false. With
    `serve` the layouts and loads are found that serve the model: targets are those of serving, such
    as `tpot_seconds<=0.05`.

    Ctrl-C ends it.
    """
    data = call(
        "find",
        design,
        goal=goal,
        question=question,
        targets=list(targets),
        keep=list(keep),
        any_schedule=any_schedule,
        evaluations=evaluations,
        serve=serve,
    )
    del data["seconds"]
    return Found._of({**data, "complete": data.get("complete", True)})


def infer(design: Design) -> Inference:
    """How a design serves: TTFT, TPOT, tokens per second, memory of keys and values.

    It reads the sections `transformer`, `cluster`, `routing` and `serving`.
    """
    return Inference._of(design, call("infer", design))


def budget(design: Design, *, baseline: Optional[Design] = None) -> Budget:
    """What a design's run takes: days, device-hours, cost, kWh, failures.

    With a `baseline` also what published laws expect of the loss beside it. A metric is `None`
    until the knobs of section `run` that it needs are set.
    """
    return Budget._of(design, call("budget", design, baseline=baseline))


def sweep(
    spec: Union[str, Mapping[str, Any], None] = None,
    *,
    design: Optional[Design] = None,
    space: Optional[Mapping[str, Any]] = None,
    objectives: Optional[Sequence[str]] = None,
    constraints: Optional[Sequence[str]] = None,
    sampling: Optional[Mapping[str, Any]] = None,
    rows: str = "feasible",
    max_rows: int = MAX_ROWS,
    threads: Optional[int] = None,
) -> Sweep:
    """Every design of a space, evaluated on all cores; its rows are a table of Arrow.

    The space is a `spec` (the name of one of `sweeps()`, a file's text in TOML or JSON, or the same
    as a mapping), or a `design` with the `space` of knobs that vary, such as
    `{"tp": [4, 8], "pp": {"powers_of_two": [4, 32]}}`, and what the file calls `objectives`
    (`["mfu max"]`), `constraints` (`["fits", "mfu >= 0.2"]`) and `sampling`
    (`{"method": "random", "count": 1_000_000}`).

    Rows are the designs that keep every constraint, or with `rows="legal"` all that keep the
    model's rules, with the constraint that each `breaks`. More than `max_rows` are refused.

    pyarrow, Polars and pandas take the result as it is: `pyarrow.table(result)`,
    `polars.DataFrame(result)`, `pandas.DataFrame.from_arrow(result)`. Ctrl-C ends it.
    """
    parts = {
        "space": space,
        "objectives": objectives and list(objectives),
        "constraints": constraints and list(constraints),
        "sampling": sampling,
    }
    given = {name: part for name, part in parts.items() if part is not None}
    if spec is None:
        base = {} if design is None else {"design": design.to_dict()}
        for each in base.values():
            each.pop("schema", None)
        spec = {"schema": 1, **base, **given}
    elif design is not None or given:
        raise TypeError("sweep() takes a spec, or a design and its space, and not both")
    if rows not in ("feasible", "legal"):
        raise ValueError(f"rows is 'feasible' or 'legal', not {rows!r}")
    if max_rows < 0 or (threads is not None and threads < 1):
        raise ValueError("max_rows is at least 0, and threads at least 1")
    return _native.sweep(spec, rows == "legal", max_rows, threads)


def sweeps() -> list[str]:
    """The names of the specs that come with the package."""
    return _native.sweeps()


def import_text(
    text: str,
    dialect: Optional[str] = None,
    *,
    set: Optional[Mapping[str, Value]] = None,
    environment: Optional[Mapping[str, str]] = None,
    arguments: Sequence[str] = (),
    model: Optional[str] = None,
    answers: Optional[Mapping[str, Value]] = None,
) -> Imported:
    """The design of a `config.json`, a launch script, or the arguments of an engine.

    `dialect` is `hf`, `megatron`, `mindspeed`, `serving` or `design`; without one the text tells.
    `set` has values of knobs, which win over the text; `environment`, `arguments` and `model` are
    what whoever runs a script adds to it. `answers` has any of these by the names of `questions`:
    `model`, `env NNODES`, `arg 2` or a knob.

    Raises `InvalidInput` with every place that keeps the text from being a design.
    """
    known = {knob: _spelled(value) for knob, value in (set or {}).items()}
    variables = dict(environment or {})
    for name, value in (answers or {}).items():
        kind, _, place = name.partition(" ")
        if name == "model":
            model = str(value)
        elif kind in ("env", "arg") and place:
            # The script's arguments are variables, too.
            variables[place] = _spelled(value)
        else:
            known[name] = _spelled(value)
    given = {
        "text": text,
        "format": dialect,
        "set": [f"{knob}={value}" for knob, value in known.items()],
        "env": [f"{name}={value}" for name, value in variables.items()],
        "args": list(arguments),
        "model": model,
    }
    data = _native.call("import", given)
    if data["design"] is None:
        raise InvalidInput(
            [
                {"rule": "not_a_design", "knob": each["key"], "detail": _place(each), "nearest": []}
                for each in data["errors"]
            ]
        )
    return Imported(
        design=Design.from_dict(data["design"]),
        dialect=data["format"],
        assumed=tuple(each["detail"] for each in data["assumed"]),
        questions={each["name"]: each["guess"] for each in data["questions"]},
        unknown=tuple(each["key"] for each in data["unknown"]),
        violations=tuple(Violation._of(each) for each in data["violations"]),
        _data=data,
    )


def _place(error: Mapping[str, Any]) -> str:
    line = "" if error["line"] is None else f"line {error['line']}: "
    return line + str(error["detail"])


def _spelled(value: Value) -> str:
    """A value as links spell it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(_spelled(each) for each in value) or "none"


def presets() -> tuple[Preset, ...]:
    """Every preset: models, published recipes, and what serves."""
    names = ("id", "title", "kind", "story", "refused")
    return tuple(Preset(*(each[name] for name in names)) for each in _native.presets()["presets"])


def knobs() -> tuple[Knob, ...]:
    """Every knob, in the registry's order."""
    return tuple(
        Knob(
            id=each["id"],
            label=each["label"],
            unit=each["unit"],
            meaning=each["meaning"],
            aliases=tuple(each["aliases"]),
            minimum=each["min"],
            maximum=each["max"],
            values=each["values"] and tuple(each["values"]),
        )
        for each in _native.knobs()["knobs"]
    )


def metrics() -> tuple[Metric, ...]:
    """Every metric, those of training first."""
    names = ("id", "label", "unit", "regime", "better", "definition", "formula")
    return tuple(
        Metric(**{name: each[name] for name in names}, source=each["source"]["title"])
        for each in _native.metrics()["metrics"]
    )


def metric(id: str) -> Metric:
    """The metric of that id: its unit, definition and formula."""
    for each in metrics():
        if each.id == id:
            return each
    detail = f"there is no metric {id!r}; moescape.metrics() lists them"
    raise InvalidInput([{"rule": "unknown_metric", "knob": id, "detail": detail, "nearest": []}])

"""The performance model of Moescape: what a design of a large mixture-of-experts model achieves.

A `Design` holds every knob of model, cluster, parallelism, schedule, memory and routing. `predict`
says what it achieves in training, `infer` how it serves, `budget` what its run costs, `find` which
layout it should run with, `explain` how a number comes about; `sweep` evaluates millions of designs
to a table of Arrow; `call` asks any other question by its name. Numbers are those of the program
`moescape`, to the last bit.

Units stand in the names (`step_time_seconds`, `memory_peak_bytes`) or in `metric(id).unit`; GB are
1e9 bytes, and one device is one rank.
"""

from ._answers import (
    Breakdown,
    Budget,
    Change,
    Found,
    Imported,
    Inference,
    Knob,
    Metric,
    Number,
    Prediction,
    Preset,
    Range,
    Recommendation,
    Verdict,
)
from ._calls import (
    budget,
    call,
    explain,
    find,
    import_text,
    infer,
    knobs,
    metric,
    metrics,
    predict,
    presets,
    sweep,
    sweeps,
)
from ._errors import IllegalDesign, InputError, InvalidInput, MoescapeError, Value, Violation
from ._native import Design, Sweep, model_version

__all__ = [
    "Breakdown",
    "Budget",
    "Change",
    "Design",
    "Found",
    "IllegalDesign",
    "Imported",
    "Inference",
    "InputError",
    "InvalidInput",
    "Knob",
    "Metric",
    "MoescapeError",
    "Number",
    "Prediction",
    "Preset",
    "Range",
    "Recommendation",
    "Sweep",
    "Value",
    "Verdict",
    "Violation",
    "budget",
    "call",
    "explain",
    "find",
    "import_text",
    "infer",
    "knobs",
    "metric",
    "metrics",
    "model_version",
    "predict",
    "presets",
    "sweep",
    "sweeps",
]

"""The native part: designs, sweeps, and answers as dictionaries."""

from typing import Any, Mapping, Optional, Sequence, Union, final

from ._errors import Value, Violation

@final
class Design:
    """A design: every knob of model, cluster, parallelism, schedule, memory and routing.

    It never changes: `set` gives another. Equal designs are equal and hash the same; it can be
    pickled.
    """

    @classmethod
    def from_preset(cls, preset: str) -> Design:
        """The design of a preset, unchanged; `moescape.presets()` lists them."""

    @classmethod
    def from_json(cls, text: str) -> Design:
        """The design of a design file, JSON."""

    @classmethod
    def from_toml(cls, text: str) -> Design:
        """The design of a design file, TOML."""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Design:
        """The design of a mapping with the keys of a design file."""

    @classmethod
    def from_link(cls, link: str) -> Design:
        """The design of a link: an address, or what stands behind its question mark."""

    def set(self, knobs: Optional[Mapping[str, Value]] = None, /, **named: Value) -> Design:
        """The same design with these knobs set, by id or short name, in the knob's unit.

        Raises `InvalidInput` with everything that is no knob or no value of it. It may break rules
        of the model: `violations` says which.
        """

    def __getitem__(self, knob: str, /) -> Value:
        """The value of a knob, by id or short name; `None` where it is unset."""

    @property
    def preset(self) -> str:
        """The id of the preset that it starts from."""

    def changed(self) -> dict[str, Value]:
        """The knobs that differ from the preset, with their values."""

    def violations(self, regime: str = "training") -> tuple[Violation, ...]:
        """Every rule of `training` or `serving` that it breaks; none of a legal design."""

    def link(self, base: str = "") -> str:
        """Its link below a server's address; it opens the same design years later."""

    def to_json(self, *, full: bool = False) -> str:
        """The design file, JSON: what differs from the preset, or every knob."""

    def to_dict(self, *, full: bool = False) -> dict[str, Any]:
        """The same as a dictionary."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Sweep:
    """A sweep that is done: its rows as a table of Arrow, and what it says of all its designs.

    A row has the design's `index`, the knobs that vary or follow, the metrics that the spec asks
    for (verdicts as 1 and 0), and `near_limit`: whether it is feasible by a closed form that is
    nearer to the limit than its own error. Units stand in the metadata of each field.
    """

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """The rows as Arrow's C stream; no copy is made."""

    def __arrow_c_schema__(self) -> object:
        """The columns as Arrow's C schema."""

    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    def design(self, index: int) -> Design:
        """The design of an index, as the column `index` has it."""

    def to_dict(self) -> dict[str, Any]:
        """What `moescape sweep` prints: counts, what ruled out how many, the best, the front.

        The best and the front are simulated where the sweep used closed forms.
        """

def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]: ...
def sweep(
    spec: Union[str, Mapping[str, Any]], every_legal: bool, max_rows: int, threads: Optional[int]
) -> Sweep: ...
def sweeps() -> list[str]: ...
def presets() -> dict[str, Any]: ...
def knobs() -> dict[str, Any]: ...
def metrics() -> dict[str, Any]: ...
def model_version() -> str:
    """The version of the model, which changes whenever a number does."""

"""What is wrong: everything at once, each with its limit and the nearest legal value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence, Union

Value = Union[None, bool, int, float, str, Sequence["Value"]]
"""A knob's value: `None` where it is unset."""


@dataclass(frozen=True)
class Violation:
    """A rule of the model that a design breaks."""

    rule: str
    """The rule's public name."""
    knobs: tuple[str, ...]
    """The ids of the knobs that it reads."""
    message: str
    """What is wrong and what the limit is, in a sentence."""
    nearest: tuple[tuple[str, Value], ...]
    """Knobs with the nearest values that keep the rule, in their units."""

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Violation:
        nearest = tuple((each["knob"], each["value"]) for each in data["nearest"])
        return cls(data["rule"], tuple(data["knobs"]), data["message"], nearest)

    def __str__(self) -> str:
        near = ", ".join(f"{knob}={value}" for knob, value in self.nearest)
        return f"{self.message} ({self.rule})" + (f"; nearest: {near}" if near else "")


@dataclass(frozen=True)
class InputError:
    """Something that can't be read or set."""

    rule: str
    """What it breaks: `unknown_knob`, `wrong_type`, `out_of_range`, ..."""
    knob: str
    """What it is about, as `section.name` where known; may be empty."""
    detail: str
    """What is wrong, in a sentence."""
    nearest: tuple[str, ...]
    """The closest that would be taken."""

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> InputError:
        return cls(data["rule"], data["knob"], data["detail"], tuple(data["nearest"]))

    def __str__(self) -> str:
        near = f" (nearest: {', '.join(self.nearest)})" if self.nearest else ""
        return self.detail + near


class MoescapeError(ValueError):
    """Any refusal of this package."""


class IllegalDesign(MoescapeError):
    """A design breaks rules of the model."""

    violations: tuple[Violation, ...]
    """Every rule that it breaks."""

    def __init__(self, violations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(violations)
        self.violations = tuple(Violation._of(each) for each in violations)

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.violations)


class InvalidInput(MoescapeError):
    """A name, value, file, link, target or spec that can't be read."""

    errors: tuple[InputError, ...]
    """Everything that is wrong with it."""

    def __init__(self, errors: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(errors)
        self.errors = tuple(InputError._of(each) for each in errors)

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.errors)

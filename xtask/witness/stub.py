"""Stands in for `torch` and what runs on a device, where they are only named.

Each module below a name of `VERSIONS` can be imported and has every attribute; each of these can be
inherited, called, used as a decorator, or stand in an annotation. No tensor is ever made.
"""

import contextlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

#: What is stood in for, with what checks of versions are told.
VERSIONS = {
    "torch": "2.15.0",
    "transformer_engine": "2.20.2",
    "transformer_engine_torch": "2.20.2",
    "triton": "3.9.0",
}


class Named:
    """Something of which nothing but its name is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Named(f"{self._name}.{name}")
        setattr(self, name, made)
        return made

    def __call__(self, *given: Any, **_: Any) -> Any:
        # A decorator gives what it is put on.
        if given and isinstance(given[0], types.FunctionType | type):
            return given[0]
        return self

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, _: object) -> bool:
        return False

    def __subclasscheck__(self, _: type) -> bool:
        return False

    def __or__(self, _: object) -> Any:
        return self

    __ror__ = __or__

    def __getitem__(self, _: object) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Module(types.ModuleType):
    """A module with every attribute."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Named(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of `VERSIONS`, whatever is below them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in VERSIONS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = Module(spec.name)
        version = VERSIONS.get(spec.name)
        if version is not None:
            module.__dict__["__version__"] = version
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def install() -> None:
    """Puts them in, with what is asked of `torch` that has an answer."""
    sys.meta_path.insert(0, Finder())
    answer("torch", are_deterministic_algorithms_enabled=False, is_grad_enabled=True)
    answer("torch.distributed", is_initialized=False)


def answer(module: str, **answers: Any) -> None:
    """From now on functions of a module give these values."""
    imported = importlib.import_module(module)
    for function, value in answers.items():
        setattr(imported, function, lambda *_, value=value, **__: value)


def on_device(capability: int) -> None:
    """The device, by its compute capability."""
    properties = types.SimpleNamespace(major=capability, minor=0)
    answer(
        "torch.cuda",
        get_device_capability=(capability, 0),
        get_device_properties=properties,
    )


@contextlib.contextmanager
def ranks(world: int) -> Iterator[None]:
    """Inside, there are so many ranks that know of each other, and this is the first."""
    group = types.SimpleNamespace(size=lambda: world, rank=lambda: 0)
    answer("torch.distributed", is_initialized=True, get_world_size=world, get_rank=0)
    answer("torch.distributed", new_group=group)
    try:
        yield
    finally:
        answer("torch.distributed", is_initialized=False)

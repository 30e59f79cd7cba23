"""Values: frozen dataclasses with slots that are cheap to define.

For each frozen class `dataclasses` compiles six methods. With the 230 classes that `llmc start` loads, this took more
than half of its start-up. Here only `__init__` is compiled, at its first use, and the other methods are the same for
all classes. What is made is a dataclass in all other ways: `replace`, `fields` and `asdict` take it.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, NoReturn, dataclass_transform


def _with_fields(cls: type[Any]) -> type[Any]:
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclasses` makes one of the signature, which takes long
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    compared = [each.name for each in fields if each.compare]
    made._compared = attrgetter(*compared) if compared else type  # two of the same type without fields are equal
    made.__init__ = _init_later(made, fields)
    return made


def _init_later(made: type[Any], fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """Compiled when the first one is made: most commands make none of most classes."""

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: ANN401, N807 - any of the classes
        made.__init__ = init = _init(fields)
        init(self, *args, **named)

    return __init__


def _init(fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    scope: dict[str, Any] = {"_set": object.__setattr__, "_unset": dataclasses.MISSING}
    words, lines = ["self"], [" pass"]
    for each in fields:
        name = value = each.name
        if each.default is not dataclasses.MISSING:
            scope[f"_default_{name}"] = each.default
            words.append(f"{name}=_default_{name}")
        elif each.default_factory is not dataclasses.MISSING:
            scope[f"_default_{name}"] = each.default_factory
            words.append(f"{name}=_unset")
            value = f"_default_{name}() if {name} is _unset else {name}"
        else:
            words.append(name)
        lines.append(f" _set(self, {name!r}, {value})")
    exec(f"def __init__({', '.join(words)}):\n" + "\n".join(lines), scope)
    init: Callable[..., None] = scope["__init__"]
    return init


def _repr(self: Any) -> str:  # noqa: ANN401 - any of the classes
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:  # noqa: ANN401 - any of the classes
    return self._compared(self) == self._compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:  # noqa: ANN401 - any of the classes
    return hash(self._compared(self))


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot change {name!r} of {type(self).__qualname__}")


_SHARED = {"__repr__": _repr, "__eq__": _eq, "__hash__": _hash, "__setattr__": _refuse, "__delattr__": _refuse}

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
    class Value:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
else:

    class _ValueType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            made = super().__new__(cls, name, bases, namespace)
            by_dataclasses = "__dataclass_fields__" in namespace  # it makes the class a second time, to give it slots
            return _with_fields(made) if bases and not by_dataclasses else made

    Value = _ValueType("Value", (), {"__slots__": (), **_SHARED})
    """Every class below this one is a frozen dataclass with slots; type checkers take it for one, too."""

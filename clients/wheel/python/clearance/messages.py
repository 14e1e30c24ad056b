"""The messages of the interface, as classes of the protobuf runtime that is installed.

They are made from the descriptors inside the engine when they are first asked for, so there is no generated file that could
be of another version than the engine or the runtime: `clearance.messages.CheckCollisionRequest`. Values of enumerations
are numbers or names in messages; `clearance.messages.Verdict.Name(2)` tells a name. They are in a pool of their own, and
stand beside stubs that were generated.
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from . import _engine

PACKAGE = "clearance.v1"


@lru_cache(maxsize=None)
def pool() -> descriptor_pool.DescriptorPool:
    """All files of the interface, and what they import."""
    made = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(_engine.descriptors()).file:
        made.Add(file) if hasattr(made, "Add") else made.AddSerializedFile(file.SerializeToString())
    return made


@lru_cache(maxsize=None)
def _named(name: str) -> Any:
    full = f"{PACKAGE}.{name}"
    try:
        return message_factory.GetMessageClass(pool().FindMessageTypeByName(full))
    except KeyError:
        pass
    try:
        return EnumTypeWrapper(pool().FindEnumTypeByName(full))
    except KeyError:
        raise AttributeError(f"{full} is no message and no enumeration") from None


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return _named(name)


@lru_cache(maxsize=None)
def method(name: str) -> tuple[str, Any, Any]:
    """A method by `Service/Method`: its path, and the classes of its request and of its reply."""
    service, _, of_service = name.strip("/").removeprefix(f"{PACKAGE}.").partition("/")
    try:
        found = pool().FindServiceByName(f"{PACKAGE}.{service}").FindMethodByName(of_service)
    except KeyError:
        found = None
    if found is None:
        raise ValueError(f"{name!r} is no method, as 'ServerService/GetServerInfo' is")
    classes = [message_factory.GetMessageClass(kind) for kind in (found.input_type, found.output_type)]
    return f"/{PACKAGE}.{service}/{of_service}", classes[0], classes[1]

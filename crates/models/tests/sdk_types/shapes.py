"""Compares JSON with the types of a library: typed dictionaries, pydantic models, unions, literals and lists.

Unlike a validator that reads what it can, this one reports every key that a type does not have, every required key
that is missing, and every element of a list. Of a union it takes the member that the key `type` or `role` names.
"""

import base64
import binascii
import collections.abc
import enum
import functools
import inspect
import types
import typing

import pydantic
import typing_extensions

MISSING = object()
LISTS = (list, typing.List, collections.abc.Iterable, collections.abc.Sequence)
MAPPINGS = (dict, collections.abc.Mapping)
TAGS = ("type", "role")


def problems(value, shape, at=""):
    """Returns the problems of a value, as pairs of a path and a sentence. No problem means that it has the shape."""
    shape = bare(shape)
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if origin in (typing.Union, types.UnionType):
        return of_union(value, arguments, at)
    if origin is typing.Literal:
        return [] if any(value == one and type(value) is type(one) for one in arguments) else wrong(value, shape, at)
    if origin in LISTS or shape in LISTS:
        if not isinstance(value, list):
            return wrong(value, shape, at)
        inner = arguments[0] if arguments else object
        return [problem for i, one in enumerate(value) for problem in problems(one, inner, f"{at}[{i}]")]
    if origin in MAPPINGS or shape in MAPPINGS:
        if not isinstance(value, dict):
            return wrong(value, shape, at)
        inner = arguments[1] if arguments else object
        return [problem for key, one in value.items() for problem in problems(one, inner, f"{at}.{key}")]
    if typing_extensions.is_typeddict(shape) or is_model(shape):
        return of_fields(value, shape, at)
    return [] if is_plain(value, shape) else wrong(value, shape, at)


def bare(shape):
    """Removes what a type has around it: Required, Annotated, NewType and aliases."""
    while True:
        origin = typing.get_origin(shape)
        if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly):
            shape = typing.get_args(shape)[0]
        elif origin is typing.Annotated:
            shape = typing.get_args(shape)[0]
        elif isinstance(shape, typing_extensions.TypeAliasType):
            shape = shape.__value__
        elif hasattr(shape, "__supertype__"):
            shape = shape.__supertype__
        else:
            return shape


def is_model(shape):
    return inspect.isclass(shape) and issubclass(shape, pydantic.BaseModel)


def of_union(value, members, at):
    members = [bare(member) for member in members]
    if value is None:
        return [] if type(None) in members else wrong(value, "this union", at)
    members = [member for member in members if member is not type(None)]
    # The member that the tag names says best what is wrong.
    tagged = [member for member in members if has_tag(value, member) or is_mapping(member)]
    is_tagged = any(has_tag(value, member) for member in members)
    alike = [member for member in members if is_alike(value, member)]
    found = [problems(value, member, at) for member in (tagged if is_tagged else alike or members)]
    return min(found, key=len)


def is_mapping(shape):
    return shape in MAPPINGS or typing.get_origin(shape) in MAPPINGS


def is_alike(value, shape):
    """Returns true if a value and a type are both lists, both objects, or neither."""
    is_list = shape in LISTS or typing.get_origin(shape) in LISTS
    is_object = is_mapping(shape) or typing_extensions.is_typeddict(shape) or is_model(shape)
    return (isinstance(value, list), isinstance(value, dict)) == (is_list, is_object)


def has_tag(value, shape):
    if not isinstance(value, dict) or not (typing_extensions.is_typeddict(shape) or is_model(shape)):
        return False
    known = fields(shape)
    tags = [tag for tag in TAGS if tag in value and tag in known and typing.get_origin(bare(known[tag][0])) is typing.Literal]
    return bool(tags) and not any(problems(value[tag], known[tag][0]) for tag in tags)


@functools.cache
def fields(shape):
    """Returns the keys of a type, each with its own type and whether it is required."""
    if is_model(shape):
        return {
            field.alias or pydantic.alias_generators.to_camel(name): (field.annotation, field.is_required())
            for name, field in shape.model_fields.items()
        }
    hints = typing_extensions.get_type_hints(shape, include_extras=True)
    return {name: (hint, is_required(shape, name, hint)) for name, hint in hints.items()}


def is_required(shape, name, hint):
    # Annotations that are strings say so only once they are resolved.
    origin = typing.get_origin(hint)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return origin is typing_extensions.Required
    return name in shape.__required_keys__


def of_fields(value, shape, at):
    if not isinstance(value, dict):
        return wrong(value, shape, at)
    known = fields(shape)
    found = [(f"{at}.{key}", f"{shape.__name__} has no such key") for key in value if key not in known]
    for key, (inner, is_required) in known.items():
        one = value.get(key, MISSING)
        if one is MISSING and is_required:
            found.append((f"{at}.{key}", f"{shape.__name__} requires it"))
        elif one is not MISSING:
            found.extend(problems(one, inner, f"{at}.{key}"))
    return found


def is_plain(value, shape):
    if shape in (object, typing.Any):
        return True
    if shape is bytes:
        return isinstance(value, str) and is_base64(value)
    if inspect.isclass(shape) and issubclass(shape, enum.Enum):
        return value in [one.value for one in shape]
    if shape is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return inspect.isclass(shape) and isinstance(value, shape)


def is_base64(text):
    try:
        base64.b64decode(text, validate=True)
        return True
    except binascii.Error:
        return False


def wrong(value, shape, at):
    name = getattr(shape, "__name__", None) or str(shape)
    return [(at, f"{str(value)[:60]!r} is not {name[:120]}")]

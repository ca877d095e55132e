"""The JavaScript that runs in pages, put together from the files beside this one.

Each constant is the text of one function of one argument.
"""

from __future__ import annotations

from importlib import resources


def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


_SIGHT = _source("sight.js")


def _function(entry: str, *files: str) -> str:
    body = "\n".join([_SIGHT, *(_source(name) for name in files)])
    return f"(argument) => {{\n{body}\nreturn {entry}(argument);\n}}"


READ = _function("readForms", "labels.js", "form_reader.js")
"""{} → the raw form model, as `forms.read_document` takes it."""

SETTLE = _function("settle", "page.js")
"""{} → when the document has stopped changing."""

CONTROL = _function("controlByIndex")
"""index → the element."""

SIGHT = _function("look")
"""index → {missing} or {tag, type, name, concealment, disabled, checked, options}."""

RADIO = _function("radioByValue", "page.js")
"""{index, value} → the radio button of the same group with that value, or null."""

VALUES = _function("presentValues", "page.js")
"""[index, …] → the present values."""

OVERLAYS = _function("findOverlayButton", "page.js")
"""{words} → {x, y, label} of the button that refuses or closes what lies over the page, or null."""

TARGET = _function("target", "page.js")
"""index → {problem} or {x, y}: the point at which a click reaches the control."""

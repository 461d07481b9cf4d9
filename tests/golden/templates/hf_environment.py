"""Jinja2 as Hugging Face's apply_chat_template sets it up: what the golden files here were made with."""

import datetime
import json

import jinja2
from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 3, 5, 9, 7, 3, 45)  # a Thursday


class Generation(Extension):
    """{% generation %} marks what the model wrote; it renders as its body."""

    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(lineno)

    def _render(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


def render(source, names):
    """{"expected": text}, or {"error": {"type", "message"}}."""
    try:
        return {"expected": environment().from_string(source).render(**names)}
    except (jinja2.TemplateError, TypeError, ValueError, OverflowError, ZeroDivisionError, KeyError, IndexError, AssertionError, AttributeError, SyntaxError,
            RuntimeError) as e:
        return {"error": {"type": type(e).__name__, "message": str(e)}}

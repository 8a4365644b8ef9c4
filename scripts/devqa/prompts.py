"""Prompts: Jinja templates and demonstrations, and the set of files that a prompt depends on.

A prompt is a folder: `system.j2`, `user.j2` and, optionally, `demonstrations.yaml`: a list of
`{given: the variables of user.j2, answer: what the model should say}`, shown to the model as earlier turns
in exactly the form of the real one. Small models need them, large ones gain by them. `tools.yaml`, where there is one,
describes the tools that the model may call: a list of `{name, description, parameters: a JSON Schema}`.
Templates may use the filter `inert`, which is the function of this name.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import yaml

from devqa.errors import UserError

Message = dict[str, str]

# Between these the prompts of pull requests show data.
_TAGS = ("answer", "code", "description", "fact", "facts", "question", "title")


def inert(text: str, tags: Iterable[str] = _TAGS, *, opening: bool = False) -> str:
    """`text` in which nothing closes one of `tags`, between which it is shown as data; nor opens one, with `opening`.

    Nothing else changes: in code, List<Question> opens no tag.
    """
    slash = r"(?:\s*/\s*)?" if opening else r"\s*/\s*"
    return re.sub(rf"<(?={slash}(?:{'|'.join(tags)})\b)", "&lt;", text, flags=re.IGNORECASE)


class Prompt:
    """The prompt in folder `name` below `root`.

    Raises:
        UserError: a template is missing, does not parse, or refers to others by a computed name.
    """

    def __init__(self, root: str | Path, name: str):
        self.root = Path(root)
        self.name = name
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(self.root),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # noqa: S701 -- the output is text for a model, no HTML
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        # `str` says of a variable that is not given which one it is.
        self._environment.filters["inert"] = lambda value: inert(str(value))
        self._beginnings: dict[tuple[str, int | None], list[Message]] = {}

    def messages(
        self, settings: Mapping[str, Any], given: Mapping[str, Any], demonstrations: int | None = None
    ) -> list[Message]:
        """System message, at most `demonstrations` earlier turns, and the question itself.

        `settings` are the same for every row of a step, `given` are this row's own. The system message sees
        only the settings, so it and the demonstrations are the same for all rows: a prefix that servers cache.

        Raises:
            UserError: a template uses a variable that it is not given.
        """
        question = {"role": "user", "content": self._render("user.j2", {**settings, **given})}
        return [*self._beginning(settings, demonstrations), question]

    def _beginning(self, settings: Mapping[str, Any], count: int | None) -> list[Message]:
        """What all rows of a step have in common, rendered once."""
        key = (json.dumps(settings, sort_keys=True, default=str), count)
        if key not in self._beginnings:
            messages = [{"role": "system", "content": self._render("system.j2", settings)}]
            for demonstration in self.demonstrations[:count]:
                answer = demonstration["answer"]
                text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
                turn = self._render("user.j2", {**settings, **demonstration["given"]})
                messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": text}]
            self._beginnings[key] = messages
        return self._beginnings[key]

    @cached_property
    def demonstrations(self) -> list[Mapping[str, Any]]:
        """The earlier turns, checked for their shape."""
        path = self.root / self.name / "demonstrations.yaml"
        if not path.exists():
            return []
        try:
            entries = yaml.safe_load(path.read_text(encoding="utf-8")) or []
        except yaml.YAMLError as error:
            raise UserError(f"prompts/{self.name}/demonstrations.yaml is no valid YAML: {error}") from None
        for number, entry in enumerate(entries, 1):
            if not isinstance(entry, dict) or entry.keys() != {"given", "answer"}:
                raise UserError(f"prompts/{self.name}/demonstrations.yaml: entry {number} must have given and answer")
        return entries

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the model may call (https://platform.openai.com/docs/guides/function-calling).

        Raises:
            UserError: there is no `tools.yaml`, or it does not describe tools.
        """
        path, file = self.root / self.name / "tools.yaml", f"prompts/{self.name}/tools.yaml"
        try:
            entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UserError(f"{file} is missing") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{file} is no valid YAML: {error}") from None
        keys = {"name", "description", "parameters"}
        if not isinstance(entries, list) or not all(isinstance(each, dict) and each.keys() == keys for each in entries):
            raise UserError(f"{file} must be a list of tools, each with name, description and parameters")
        return [{"type": "function", "function": {**entry}} for entry in entries]

    def files(self) -> dict[str, str]:
        """Every file that the prompt is made of, templates and what they include, with the SHA-256 of its content."""
        found: dict[str, str] = {}
        for name in (f"{self.name}/system.j2", f"{self.name}/user.j2"):
            self._add(name, found, ())
        for extra in ("demonstrations.yaml", "tools.yaml"):
            path = self.root / self.name / extra
            if path.exists():
                found[f"{self.name}/{extra}"] = hashlib.sha256(path.read_bytes()).hexdigest()
        return dict(sorted(found.items()))

    def _add(self, name: str, found: dict[str, str], within: tuple[str, ...]) -> None:
        """Add to `found` a template, which stands `within` others, and all that it includes."""
        if name in within:
            raise UserError(f"prompts/{name} includes itself ({' → '.join([*within, name])}): take one include out")
        source = self._source(name)
        found[name] = hashlib.sha256(source.encode()).hexdigest()
        for reference in jinja2.meta.find_referenced_templates(self._parse(name, source)):
            if reference is None:
                raise UserError(f"prompts/{name} includes a template by a computed name: write the name out")
            self._add(reference, found, (*within, name))

    def sha256(self) -> str:
        """One hash over all files of the prompt."""
        return hashlib.sha256(json.dumps(self.files()).encode()).hexdigest()

    def _source(self, name: str) -> str:
        try:
            return self._environment.loader.get_source(self._environment, name)[0]
        except jinja2.TemplateNotFound:
            raise UserError(f"prompts/{name} is missing (needed by prompts/{self.name}/)") from None
        except UnicodeDecodeError as error:
            raise UserError(f"prompts/{name} is not UTF-8: {error}") from None

    def _parse(self, name: str, source: str) -> jinja2.nodes.Template:
        try:
            return self._environment.parse(source, name)
        except jinja2.TemplateSyntaxError as error:
            raise UserError(f"prompts/{name}, line {error.lineno}: {error.message}") from None

    def _render(self, template: str, variables: Mapping[str, Any]) -> str:
        name = f"{self.name}/{template}"
        try:
            return self._environment.get_template(name).render(variables).strip()
        except jinja2.UndefinedError as error:
            raise UserError(f"prompts/{name}: {error.message}") from None
        except jinja2.TemplateNotFound as error:
            raise UserError(f"prompts/{error.name} is missing (needed by prompts/{self.name}/)") from None
        except jinja2.TemplateSyntaxError as error:
            raise UserError(f"prompts/{error.name}, line {error.lineno}: {error.message}") from None

"""The tools of the setting `agentic`: grep, read_file and list_files over the checkouts of repositories, to read only.

A path is looked up among those that the repository has and nowhere else: no other one can be read, whatever it is
called. What a tool gives depends on the repository's commit alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from devqa.llm.toolcalls import ToolCall
from devqa.prompts import inert
from devqa.pull_requests.agents import grep
from devqa.pull_requests.agents.checkout import Checkout
from devqa.pull_requests.agents.grep import Grep
from devqa.steps.agentic import Talk
from devqa.steps.toolcalls import arguments_of, whole_number
from devqa.tokens import cut, estimate
from devqa.web.tools import OK, Order, Result, nothing

# Lines of one grep that are shown, if there is room for so many.
_MOST_MATCHES = 200
_LONGEST_NAME = 200
# Characters of a line that are shown together with others.
_LONGEST_LINE = 1_000
# What stands between these tags is data: no file may end it.
_TAG = "tool_result"
# Held back for the tags and for what is said of the rest.
_AROUND = 30
_NO_PATH = "the path must be text"
_CUT = "…"
_NOT_ALL = "not everything was searched: make the pattern simpler or name a path"


class Read(NamedTuple):
    """Show the lines `first` to `last` of a file, which count from 1; to its end where `last` is None."""

    path: str
    first: int = 1
    last: int | None = None


class List(NamedTuple):
    """List what is in the folder `path`, or with a `glob` all files below it that match."""

    path: str = ""
    glob: str = ""


class Wanted(NamedTuple):
    """What is wanted of which repository."""

    repository: str
    call: Grep | Read | List


class RepositoryTools:
    """Carries out the calls of many conversations, each about one of the repositories (`devqa.steps.agentic.ToolSet`).

    Args:
        checkouts: by the repository's label.
        result_tokens: the most that a call gives.
    """

    names = ("grep", "read_file", "list_files")

    def __init__(self, checkouts: Mapping[str, Checkout], result_tokens: int):
        self._checkouts = checkouts
        self._result_tokens = result_tokens

    def understood(self, call: ToolCall, talk: Talk) -> Wanted | Result:
        """What `call` asks for; a result that says what is wrong with it where it can't be carried out."""
        if call.name not in self.names:
            return nothing(f"there is no tool {call.name[:64]!r}, only {', '.join(self.names)}")
        arguments = arguments_of(call)
        if arguments is None:
            return nothing("the arguments are no JSON object")
        label = talk.question["repository"]
        wanted = _UNDERSTOOD[call.name](arguments, self._checkouts[label])
        return wanted if isinstance(wanted, Result) else Wanted(label, wanted)

    def carry_out(self, orders: Sequence[Order]) -> list[Result]:
        """What each of `orders` gives. The files of a repository are read once for all patterns."""
        wanted: dict[Wanted, Result] = {}
        for label, checkout in self._checkouts.items():
            calls = list(dict.fromkeys(order.wanted.call for order in orders if order.wanted.repository == label))
            patterns = [call for call in calls if isinstance(call, Grep)]
            found = dict(zip(patterns, grep.search(checkout, patterns, _MOST_MATCHES + 1), strict=True))
            for call in calls:
                if isinstance(call, Grep):
                    result = self._matches(found[call])
                elif isinstance(call, Read):
                    result = self._lines(checkout, call)
                else:
                    result = self._listed(checkout, call)
                wanted[Wanted(label, call)] = result
        return [wanted[order.wanted] for order in orders]

    def _matches(self, found: grep.Found) -> Result:
        left = "" if found.whole else _NOT_ALL
        if not found.lines:
            return nothing("; ".join(filter(None, ["no line matches", left])))
        lines = [f"{line.path}:{line.number}: {line.text}" for line in found.lines[:_MOST_MATCHES]]

        def rest(shown: int, cut_off: bool) -> str:
            return "; ".join(filter(None, ["more lines match" if shown < len(found.lines) else "", left]))

        return self._shown(lines, rest, held_back=estimate(left))

    def _lines(self, checkout: Checkout, call: Read) -> Result:
        try:
            content = checkout.content(call.path)
        except OSError as error:
            return nothing(f"the file can't be read ({error.strerror})")
        if grep.is_binary(content):
            return nothing("the file is binary")
        lines = content.removesuffix(b"\n").split(b"\n") if content else []
        if call.first > max(len(lines), 1):
            return nothing(f"the file has {len(lines)} line{'s' if len(lines) != 1 else ''}")
        last = min(len(lines), call.last or len(lines))
        # More lines than tokens are never shown.
        asked = lines[call.first - 1 : min(last, call.first + self._result_tokens)]
        texts = [line.removesuffix(b"\r").decode("utf-8", "replace") for line in asked]
        shown = texts if len(texts) == 1 else map(_among_others, texts)

        def rest(shown: int, cut_off: bool) -> str:
            end = call.first + shown - 1
            if end < last:
                return f"the file has {len(lines)} lines; go on with from_line {end + 1}"
            return f"cut off: the line has {len(texts[0])} characters" if cut_off else ""

        numbered = [f"{number}\t{text}" for number, text in enumerate(shown, call.first)]
        return self._shown(numbered or ["(the file is empty)"], rest)

    def _listed(self, checkout: Checkout, call: List) -> Result:
        lines = _matching(checkout, call) if call.glob else _children(checkout, call.path)
        if not lines:
            return nothing("no file matches")
        return self._shown(lines, lambda shown, cut_off: f"{len(lines) - shown} more" if shown < len(lines) else "")

    def _shown(self, lines: Sequence[str], rest: Callable[[int, bool], str], held_back: int = 0) -> Result:
        """`lines` as far as there is room, and what `rest` says of the others.

        Args:
            rest: is told how many lines are shown, and whether the last one of them is cut off.
            held_back: tokens that it needs beside what it always may take.
        """
        left = self._result_tokens - _AROUND - held_back
        kept: list[str] = []
        cut_off = False
        for line in lines:
            line = inert(line, [_TAG])
            tokens = estimate(line) + 1
            if tokens > left:
                # Something is shown in any case, or a model would ask for the same again.
                cut_off = not kept
                kept += [cut(line, max(1, left - 1)) + _CUT] if cut_off else []
                break
            kept.append(line)
            left -= tokens
        more = rest(len(kept), cut_off)
        return Result(OK, f"<{_TAG}>\n", "\n".join(kept), f"\n</{_TAG}>" + (f"\n({more})" if more else ""))


def _among_others(line: str) -> str:
    """A line that is shown together with others, cut where it is too long for that."""
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}{_CUT} (cut off: the line has {len(line)} characters, ask for it alone)"


def _grep(arguments: Mapping[str, Any], checkout: Checkout) -> Grep | Result:
    pattern = arguments.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return nothing("the pattern is missing")
    path = _place(arguments.get("path"), checkout)
    if isinstance(path, Result):
        return path
    wanted = Grep(pattern, path, arguments.get("ignore_case") in (True, "true", "True", 1))
    return wanted if not (fault := _fault(grep.compiled, pattern)) else nothing(f"the pattern is none for RE2: {fault}")


def _read(arguments: Mapping[str, Any], checkout: Checkout) -> Read | Result:
    if not arguments.get("path"):
        return nothing("the path is missing")
    path = _place(arguments["path"], checkout)
    if isinstance(path, Result):
        return path
    if path not in checkout.files:
        return nothing("that is a folder: list_files shows what is in it")
    if checkout.files[path].size > grep.LARGEST_FILE:
        return nothing(f"the file is larger than {grep.LARGEST_FILE // 1_000_000} MB")
    first, last = whole_number(arguments.get("from_line")), whole_number(arguments.get("to_line"), default=0)
    if first is None or last is None:
        return nothing("from_line and to_line must be numbers from 1 on")
    if last and last < first:
        return nothing("to_line comes before from_line")
    return Read(path, first, last or None)


def _list(arguments: Mapping[str, Any], checkout: Checkout) -> List | Result:
    path, glob = _place(arguments.get("path"), checkout), arguments.get("glob") or ""
    if isinstance(path, Result):
        return path
    if not isinstance(glob, str):
        return nothing("the glob must be text")
    return List(path, glob) if not (fault := _fault(grep.glob, glob)) else nothing(f"the glob is none: {fault}")


_UNDERSTOOD = {"grep": _grep, "read_file": _read, "list_files": _list}


def _fault(read: Callable[[str], Any], pattern: str) -> str:
    """Why a pattern can't be read; "" where it can."""
    try:
        read(pattern)
    except grep.error as error:
        text = error.args[0] if error.args else "it can't be read"
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return ""


def _place(path: Any, checkout: Checkout) -> str | Result:
    """A file or folder of the repository as it is called there, "" for its root; a result where there is none such."""
    if path is None:
        return ""
    if not isinstance(path, str):
        return nothing(_NO_PATH)
    names = [name for name in path.split("/") if name not in ("", ".")]
    place = "/".join(names)
    if not path.startswith("/") and (place in checkout.files or place in checkout.folders):
        return place
    if path.startswith(("/", "~")):
        return nothing("paths begin at the repository's root, without a slash")
    if ".." in names:
        return nothing("'..' is no part of a path here")
    return nothing(f"there is no file or folder {path[:_LONGEST_NAME]!r} in the repository")


def _children(checkout: Checkout, path: str) -> list[str]:
    """What is in the folder `path`: folders with the number of files below them, and files."""
    if path in checkout.files:
        return [path]
    above = f"{path}/" if path else ""
    names = dict.fromkeys(file[len(above) :].partition("/")[:2] for file in checkout.below(path))
    return [
        f"{above}{name}/ ({checkout.folders[above + name]} files)" if slash else f"{above}{name}"
        for name, slash in names
    ]


def _matching(checkout: Checkout, call: List) -> list[str]:
    """The files below a folder whose path from there, or name where the glob has no slash, matches the glob."""
    pattern, whole = grep.glob(call.glob), "/" in call.glob
    above = len(call.path) + 1 if call.path and call.path not in checkout.files else 0
    names: Iterable[tuple[str, str]] = ((file, file[above:]) for file in checkout.below(call.path))
    return [file for file, name in names if pattern.fullmatch(name if whole else name.rpartition("/")[2])]

"""Answers to the workflow's own prompts, as a model that does everything right would give them.

The step is told by what is asked for: the properties of the JSON schema, or the form of the question. The answers
depend on the request alone, so the same request has the same answer in every run.
"""

import hashlib
import re
from typing import Any

from scripted import Reply

SENTENCE = re.compile(r"\[(\d+)\] (.*?)(?= \[\d+\] |$)", re.MULTILINE)


def reply(body: dict[str, Any]) -> str | dict[str, Any] | Reply:
    """The answer of a faithful model to one request of the workflow."""
    step, last = step_of(body), body["messages"][-1]["content"]
    match step:
        case "queries":
            words = re.findall(r"\w{4,}", last.split("<dialogue>")[-1].split("</dialogue>")[0])
            words = list(dict.fromkeys(word for word in words if word not in ("user", "assistant"))) or ["nothing"]
            queries = [" ".join(words[:4]), " ".join(words[2:8]) + " documentation"]
            return {"topics": words[:2], "about_software_development": "birthday" not in last, "queries": queries}
        case "generate":
            return {"pairs": [_pair(last, number) for number in range(_pairs_wanted(body))]}
        case "check":
            verdict = {"reason": "scripted", "passed": True}
            return {"unambiguous": verdict, "complex_enough": verdict, "verifiable": verdict}
        case "verify":
            return {"passages": [1], "enough_evidence": True, "answer": f"found: {_mark(last)}"}
        case "compare":
            return {"reason": "scripted", "same": True}
        case "judge":
            return "A" if int(_mark(last), 16) % 3 else "B"
        case "domains":
            names = wanted(body)["domain"]["enum"]
            return {"domain": names[int(_mark(last), 16) % len(names)]}
        case "study_filter":
            return {"reason": "scripted", "about_development": "birthday" not in last}
        case "study_tasks":
            names = wanted(body)["task"]["enum"]
            number = int(_mark(last), 16)
            return {"reason": "scripted", "task": names[number % len(names)], "code_centred": bool(number % 2)}
        case "study_suitability":
            names, number = wanted(body), int(_mark(last), 16)
            return {name: {"reason": "scripted", "met": bool(number >> place & 1)} for place, name in enumerate(names)}
        case "confidence":
            return f"{body['model']} is sure of {_mark(last)}.\nConfidence: {int(_mark(last), 16) % 101}"
        case "agentic":
            return _agentic(body)
        case "condense":
            return last.split("<document")[1][:400]
        case _:
            return f"{body['model']} says {_mark(last)}."


def step_of(body: dict[str, Any]) -> str:
    """The step that sent this request."""
    if body.get("tools"):
        return "agentic"
    properties = wanted(body)
    for step, key in {
        "queries": "queries",
        "generate": "pairs",
        "check": "unambiguous",
        "verify": "enough_evidence",
        "compare": "same",
        "domains": "domain",
        "study_filter": "about_development",
        "study_tasks": "task",
        "study_suitability": "single_answer",
    }.items():
        if key in properties:
            return step
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "<true_answer>" in last:
        return "judge"
    if "<document title=" in last:
        return "condense"
    if "Confidence: N" in first:
        return "confidence"
    # Without a schema, only answers are given from documents.
    return "rag" if "Go by the documents" in first else "answer"


def wanted(body: dict[str, Any]) -> dict[str, Any]:
    """The properties of the JSON that a request asks for; none where it asks for text."""
    return body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})


def _pairs_wanted(body: dict[str, Any]) -> int:
    return wanted(body)["pairs"]["minItems"]


def _pair(prompt: str, number: int) -> dict[str, Any]:
    """A pair that rests on one of the prompt's numbered sentences."""
    sentences = SENTENCE.findall(prompt.split("<document ", 1)[1])
    cited, text = sentences[number % len(sentences)]
    mark = _mark(prompt + str(number))
    return {
        "sentences": [int(cited)],
        "question": f"What is true of {text[:60]} in case {mark}?",
        "answer": f"value {mark}",
    }


def _agentic(body: dict[str, Any]) -> str | Reply:
    """Searches first, opens the first page that was found, and answers then."""
    question, *before = body["messages"][1:]
    may_call = body.get("tool_choice") != "none"
    if may_call and not before:
        query = " ".join(question["content"].split()[:20])
        return Reply(None, finish_reason="tool_calls", tool_calls=[("search", {"query": query})])
    found = re.search(r"^1\. .*\n +(\S+)", before[-1]["content"], re.MULTILINE) if before else None
    if may_call and found:
        return Reply(None, finish_reason="tool_calls", tool_calls=[("open", {"url": found[1]})])
    return f"{body['model']} says {_mark(question['content'])} after {len(before)} messages."


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]

"""Answers to the workflow's own prompts, as a model that does everything right would give them.

The step is told by what is asked for: the properties of the JSON schema, or the form of the question. The answers
depend on the request alone, so the same request has the same answer in every run.
"""

import hashlib
import re
from typing import Any

from scripted import Reply

# One for each digit of a mark: a question may hold no word that looks like code.
WORDS = "red blue old new small big left right first last quick slow warm cold round flat".split()  # noqa: SIM905
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
        case "pr_question" | "pr_check" | "pr_answer" | "pr_facts" | "pr_support" | "pr_judge":
            return _of_pull_requests(step, last, wanted(body))
        case "pr_agentic":
            return _looking_around(body)
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
    if tools := {tool["function"]["name"] for tool in body.get("tools") or ()}:
        return "pr_agentic" if "grep" in tools else "agentic"
    properties = wanted(body)
    if "1" in properties:
        return "pr_support" if "supported" in properties["1"]["properties"] else "pr_judge"
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
        "pr_question": "nodes",
        "pr_check": "not_obvious",
        "pr_answer": "answerable",
        "pr_facts": "facts",
    }.items():
        if key in properties:
            return step
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    for step, words in {
        "pr_full_context": "from the definitions shown",
        "pr_no_context": "You see nothing of the repository",
        "pr_retrieval": "shown what a search has found in it",
    }.items():
        if words in first:
            return step
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


def _of_pull_requests(step: str, last: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The same of a step from pull requests to facts, and of the judge that looks for them."""
    mark = _mark(last)
    first, second, *_ = words = [WORDS[int(digit, 16)] for digit in mark]
    match step:
        case "pr_question":
            question = f"What happens to each {' '.join(words[:4])} while the {' '.join(words[4:])} waits?"
            return {
                "nodes": asked["nodes"]["items"]["enum"][:1],
                "question": question,
                "core": int(mark, 16) % 2 == 0,
                "difficulty": "moderate",
            }
        case "pr_check":
            return dict.fromkeys(asked, {"reason": "scripted", "passed": True})
        case "pr_answer":
            answer = f"Each {first} is counted by the {second}. The {' '.join(words[2:])} stays."
            return {"reason": "scripted", "answerable": True, "answer": answer}
        case "pr_facts":
            said = last.rpartition("<answer>")[2].partition("</answer>")[0].strip()
            facts = [f"{sentence.rstrip('.')}." for sentence in said.split(". ")]
            return {
                "facts": [
                    {"fact": fact, "importance": "okay" if number else "vital"} for number, fact in enumerate(facts)
                ]
            }
        case "pr_support":
            return dict.fromkeys(asked, {"reason": "scripted", "supported": True})
        case _:
            answer = last.rpartition("<answer>")[2].partition("</answer>")[0]
            facts = dict(re.findall(r"^(\d+)\. (.*)$", last.rpartition("<facts>")[2], re.MULTILINE))
            return {number: {"reason": "scripted", "found": facts[number].rstrip(".") in answer} for number in asked}


def _looking_around(body: dict[str, Any]) -> str | Reply:
    """Searches first, shows the first file in which something was found, and answers then."""
    question, *before = body["messages"][1:]
    may_call = body.get("tool_choice") != "none"
    if may_call and not before:
        return Reply(None, finish_reason="tool_calls", tool_calls=[("grep", {"pattern": "def \\w+"})])
    found = re.search(r"^([^\s:<]+):\d+: ", before[-1]["content"], re.MULTILINE) if before else None
    if may_call and found:
        return Reply(None, finish_reason="tool_calls", tool_calls=[("read_file", {"path": found[1]})])
    return f"{body['model']} says {_mark(question['content'])} after {len(before)} messages."


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

"""Checks requests that the tests sent to vendors against the types of the vendors' own libraries.

    check.py FOLDER…

Every file in a folder is one request: {"test": …, "path": …, "headers": {…}, "body": {…}}. The check ends with the
lines `N passed` and `N failed`. EXCEPTIONS lists what differs on purpose, and an exception that no request needs is a
failure too.
"""

import json
import pathlib
import re
import sys

from anthropic.types import AnthropicBetaParam
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming
from google.genai import types as google
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

import shapes

# Differences that are meant, each with its reason: the vendor, and the path of the key without indices.
EXCEPTIONS = [
    # Servers with reasoning models send it, and want it back.
    ("chat", ".messages.reasoning_content"),
    # OpenAI's guide to computer use marks screenshots so. A request that is refused for it is repeated without it.
    ("openai", ".input.output.detail"),
    # The form of the preview, whose checks of domains read it.
    ("openai", ".input.output.current_url"),
]


def anthropic(request):
    body = dict(request["body"])
    if ":streamRawPredict" in request["path"]:
        # At Google the model is in the path, and the version of the API in the body.
        body["model"] = "in the path"
        if body.pop("anthropic_version", None) is None:
            yield ".anthropic_version", "Vertex requires it"
    yield from shapes.problems(body, MessageCreateParamsStreaming)
    betas = request["headers"].get("anthropic-beta", "")
    for beta in filter(None, betas.split(",")):
        known = [one for one in AnthropicBetaParam.__args__ if one is not str]
        yield from shapes.problems(beta, known[0], ".headers.anthropic-beta")


def openai(request):
    yield from shapes.problems(request["body"], ResponseCreateParamsStreaming)


def chat(request):
    yield from shapes.problems(request["body"], CompletionCreateParamsStreaming)


# The library sends these parts of its configuration outside of `generationConfig`.
GEMINI = {
    "contents": list[google.Content],
    "systemInstruction": google.Content,
    "tools": list[google.Tool],
    "toolConfig": google.ToolConfig,
    "safetySettings": list[google.SafetySetting],
    "generationConfig": google.GenerationConfig,
    "cachedContent": str,
}


def gemini(request):
    for key, value in request["body"].items():
        if key in GEMINI:
            yield from shapes.problems(value, GEMINI[key], f".{key}")
        else:
            yield f".{key}", "generateContent has no such key"


# The check of each path, and the key that tells our requests from others.
VENDORS = [
    (re.compile(r"/v1/messages$|:streamRawPredict$"), "anthropic", anthropic),
    (re.compile(r"/responses$"), "openai", openai),
    (re.compile(r"/chat/completions$"), "chat", chat),
    (re.compile(r":streamGenerateContent"), "gemini", gemini),
]


def main(folders):
    n_passed, failed, needed, by_vendor = 0, {}, set(), {}
    files = sorted(file for folder in folders for file in pathlib.Path(folder).glob("*.json"))
    for file in files:
        request = json.loads(file.read_text())
        found = [(name, check) for path, name, check in VENDORS if path.search(request["path"])]
        if not found:
            continue
        [(vendor, check)] = found
        by_vendor[vendor] = by_vendor.get(vendor, 0) + 1
        bad = False
        for at, problem in check(request):
            place = re.sub(r"\[\d+\]", "", at)
            if (vendor, place) in EXCEPTIONS:
                needed.add((vendor, place))
            else:
                bad = True
                failed.setdefault((vendor, place, problem), request["test"])
        n_passed += not bad
    for (vendor, place, problem), test in failed.items():
        print(f"{vendor}: {place}: {problem} (in {test})")
    for vendor, place in set(EXCEPTIONS) - needed:
        print(f"{vendor}: no request needs the exception for {place}")
    n_failed = len(failed) + len(set(EXCEPTIONS) - needed)
    for _, vendor, _ in VENDORS:
        if vendor not in by_vendor:
            print(f"{vendor}: there was no request")
            n_failed += 1
    counts = ", ".join(f"{vendor} {n}" for vendor, n in sorted(by_vendor.items()))
    print(f"Requests: {counts}")
    print(f"{n_passed} passed")
    print(f"{n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

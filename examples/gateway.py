#!/usr/bin/env python3
"""Asks a model from inside a sandbox, through the model gateway and without a key.

    OPENAI_API_KEY=… make run                                     # in another terminal
    examples/run-inside.sh examples/gateway.py "Say hello."       # puts this file into a sandbox and runs it there

Programs may ask models while the agent works or a person has control. MODEL names another model; with the vendor before
the slash, such as ollama/qwen3, every vendor with chat completions that the server knows. Client libraries that read
OPENAI_BASE_URL and OPENAI_API_KEY work the same way. docs/guide/gateway.md says what is passed on.
"""

import json
import os
import sys
import urllib.error
import urllib.request


def main():
    question = " ".join(sys.argv[1:]) or "Say hello in one short sentence."
    if "OPENAI_BASE_URL" not in os.environ:
        sys.exit("OPENAI_BASE_URL is not set: run this in a sandbox of a server that has a key for OpenAI")
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(
            {
                "model": os.environ.get("MODEL", "gpt-6-luna"),
                "messages": [{"role": "user", "content": question}],
            }
        ).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            print(json.load(answer)["choices"][0]["message"]["content"])
    except urllib.error.HTTPError as refused:
        sys.exit(f"{refused.code}: {refused.read().decode()}")


if __name__ == "__main__":
    main()

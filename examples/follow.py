#!/usr/bin/env python3
"""Gives the agent a task and prints what it does and answers.

    make run                                       # in another terminal
    python3 examples/follow.py "Show me the demo"  # needs nothing but Python 3.9

DESKHAND_URL names another server, DESKHAND_TOKEN its token, and DESKHAND_MODEL a model such as scripted/demo.
"""

import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("DESKHAND_URL", "http://localhost:7878")
DATA = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")


def token():
    if "DESKHAND_TOKEN" in os.environ:
        return os.environ["DESKHAND_TOKEN"]
    file = DATA / "deskhand/admin-token"
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        sys.exit(f"there is no {file}: start the server with `make run`, or set DESKHAND_TOKEN")


def api(method, path, body=None):
    """Calls the API and returns its answer. Ends the program with the server's own sentence when it refuses."""
    request = urllib.request.Request(
        f"{URL}/api{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token()}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refused:
        problem = json.load(refused)["error"]
        sys.exit(f"{problem['code']}: {problem['message']}")
    except urllib.error.URLError as error:
        sys.exit(f"there is no server at {URL}: {error.reason}")
    return json.loads(text) if text else None


def events(session):
    """Yields the session's events, each once, for as long as it is asked."""
    after = 0
    while True:
        for event in api("GET", f"/sessions/{session}/events?after={after}")["events"]:
            after = event["seq"]
            yield event
        # WS /api/sessions/{id}/stream?after=SEQ sends the same events without asking again.
        time.sleep(0.3)


def main():
    task = " ".join(sys.argv[1:]) or "Show me the demo"
    model = os.environ.get("DESKHAND_MODEL")
    session = api("POST", "/sessions", {"title": task[:60], **({"model": model} if model else {})})
    api("POST", f"/sessions/{session['id']}/messages", {"content": task})
    for event in events(session["id"]):
        data = event["data"]
        if event["type"] == "tool_use":
            print(f"  {data['tool']}: {json.dumps(data['input'], ensure_ascii=False)}")
        elif event["type"] == "decision":
            print(f"  The agent asks: {data['prompt']} (answer with `deskhand answer` or on the page)")
        elif event["type"] == "message" and data["role"] == "assistant":
            print(f"\n{data['content']}")
        elif event["type"] == "error":
            sys.exit(data["message"])
        elif event["type"] == "complete":
            print(f"\n{data['outcome']} after {data['n_steps']} steps; look at {URL}/sessions/{session['id']}")
            return


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Walks through a session with curl: creates it, sends a message, follows the log, saves the screen, ends it.
#
#   make run                 # in another terminal
#   examples/walk.sh         # needs curl and jq
#
# DESKHAND_URL names another server and DESKHAND_TOKEN its token; `deskhand token new NAME` makes one.
set -euo pipefail

url=${DESKHAND_URL:-http://localhost:7878}
token=${DESKHAND_TOKEN:-$(cat "${XDG_DATA_HOME:-$HOME/.local/share}/deskhand/admin-token")}

# Calls the API and fails with the server's own sentence.
#   api METHOD PATH [BODY]
api() {
    local answer
    answer=$(curl -sS --fail-with-body -X "$1" -H "Authorization: Bearer $token" ${3:+--data "$3"} "$url/api$2") || {
        jq -r .error.message <<<"$answer" >&2
        return 1
    }
    printf '%s\n' "$answer"
}

session=$(api POST /sessions '{"title": "From curl", "model": "scripted/demo"}' | jq -r .id)
echo "Session $session"
api POST "/sessions/$session/messages" '{"content": "Show me the demo"}' >/dev/null

# Events are numbered without gaps, so the last number is all that a reader has to remember.
after=0
until [ "${ended:-no}" = yes ]; do
    events=$(api GET "/sessions/$session/events?after=$after")
    jq -r '.events[] | select(.type == "tool_use") | "  \(.data.tool): \(.data.input | tojson)"' <<<"$events"
    jq -r '.events[] | select(.type == "message" and .data.role == "assistant") | "\n\(.data.content)"' <<<"$events"
    after=$(jq "[$after, .events[].seq] | max" <<<"$events")
    ended=$(jq -r 'if any(.events[]; .type == "complete" or .type == "error") then "yes" else "no" end' <<<"$events")
    sleep 0.5
done

curl -sS --fail -H "Authorization: Bearer $token" "$url/api/sessions/$session/screenshot" >screen.png
echo "The screen is in screen.png."
api DELETE "/sessions/$session" >/dev/null

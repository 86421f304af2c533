#!/usr/bin/env bash
# Runs a program of yours inside a fresh sandbox, by hand and without an agent, and prints its output.
#
#   make run                                             # in another terminal
#   examples/run-inside.sh examples/gateway.py "Hello"   # needs curl and jq
#
# It takes control of the desktop first, as a person does on the page with "Take over".
# DESKHAND_URL names another server and DESKHAND_TOKEN its token.
set -euo pipefail

url=${DESKHAND_URL:-http://localhost:7878}
token=${DESKHAND_TOKEN:-$(cat "${XDG_DATA_HOME:-$HOME/.local/share}/deskhand/admin-token")}
program=${1:?say which program to run}
shift

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

session=$(api POST /sessions '{"title": "A program of mine"}' | jq -r .id)
trap 'api DELETE "/sessions/$session" >/dev/null' EXIT
api PUT "/sessions/$session/lease" '{"seconds": 300}' >/dev/null

path=/home/agent/$(basename "$program")
create=$(jq -n --arg path "$path" --rawfile text "$program" \
    '{tool: "editor", input: {command: "create", path: $path, file_text: $text}, look: false}')
api POST "/sessions/$session/actions" "$create" >/dev/null

run=$(jq -n --arg command "chmod +x $path && $path ${*@Q}" \
    '{tool: "bash", input: {shell: "run", command: $command, timeout_ms: 200000}, look: false}')
result=$(api POST "/sessions/$session/actions" "$run")
jq -r .text <<<"$result"

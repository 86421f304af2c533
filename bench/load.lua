-- The requests that wrk sends: the same request to each of some paths in turn.
--
--   wrk … -s load.lua URL -- TOKEN METHOD BODY PATH…

local requests, at = {}, 0

function init(arguments)
    local token, method, body = arguments[1], arguments[2], arguments[3]
    local headers = { ["Authorization"] = "Bearer " .. token }
    if body == "" then
        body = nil
    else
        headers["Content-Type"] = "application/json"
    end
    for i = 4, #arguments do
        requests[#requests + 1] = wrk.format(method, arguments[i], headers, body)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("requests %d\n", summary.requests))
    io.write(string.format("seconds %f\n", summary.duration / 1e6))
    io.write(string.format("refused %d\n", errors.status))
    io.write(string.format("broken %d\n", errors.connect + errors.read + errors.write + errors.timeout))
    io.write(string.format("p99_ms %f\n", latency:percentile(99) / 1e3))
end

// Lets OpenCode use our MCP server, with a model endpoint on loopback that plays a script.
//
//   node walk.mjs agent|browser OPENCODE DESKHAND DATA_DIR
//
// OpenCode is the real one. It starts `deskhand mcp`, offers the tools to the model and carries out its calls.
// The script sees the results as a model would, and checks them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const [walk, opencode, deskhand, data] = process.argv.slice(2);
const LONGEST_RUN_MS = 120_000;

// Each step gets the texts of all results so far, and returns a call or the last words.
const WALKS = {
  agent: [
    () => call("agent_start", { startUrl: "http://127.0.0.1:8104/", instructions: "Look.", model: "scripted/hello" }),
    (results) => call("agent_status", { sessionId: session(results), waitSeconds: 60 }),
    (results) => {
      assert.match(results[1], /"status": ?"completed"/);
      assert.match(results[1], /There is a desktop\./);
      return call("agent_log", { sessionId: session(results) });
    },
    (results) => {
      assert.match(results[2], /Could not open http:\/\/127\.0\.0\.1:8104\//);
      assert.match(results[2], /Looked at the screen/);
      return call("agent_get_last_image", { sessionId: session(results) });
    },
    (results) => call("agent_end", { sessionId: session(results) }),
    (results) => {
      assert.match(results[4], /"ended": ?true/);
      return { text: "The agent saw a desktop." };
    },
  ],
  browser: [
    () => call("computer_open", { title: "Driven by OpenCode" }),
    (results) => call("shell_run", { sessionId: session(results), command: OPEN_SHOP }),
    (results) => call("browser_navigate", { sessionId: session(results), url: "http://localhost:8000/" }),
    (results) => {
      assert.match(results[2], /http:\/\/localhost:8000\//);
      return call("browser_snapshot", { sessionId: session(results) });
    },
    (results) => {
      const link = results[3].match(/\[[^[\]]* (e\d+)\b[^[\]]*\]/);
      assert.ok(link, results[3]);
      return call("browser_click", { sessionId: session(results), ref: link[1] });
    },
    (results) => {
      assert.match(results[4], /Clicked e\d+/);
      return call("browser_take_screenshot", { sessionId: session(results) });
    },
    (results) => call("agent_end", { sessionId: session(results) }),
    () => ({ text: "The shop has a page." }),
  ],
};
const OPEN_SHOP =
  "deskhand demo-shop > ~/shop.log 2>&1 & " +
  "until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.1; done; echo open";

const call = (tool, input) => ({ tool: `deskhand_${tool}`, input });
const session = (results) => results[0].match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/)[0];

const problems = [];
let nSteps = 0;

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");

function next(request) {
  // OpenCode asks the small model for a title.
  if (request.model !== "scripted") return { text: "A title" };
  const results = request.messages.filter((message) => message.role === "tool").map((message) => textOf(message.content));
  const step = WALKS[walk][results.length];
  nSteps = Math.max(nSteps, results.length + 1);
  try {
    assert.ok(step, "there are no more steps");
    return step(results);
  } catch (error) {
    problems.push(`step ${results.length + 1}: ${error.message}\n${results.at(-1)}`);
    return { text: "It does not work." };
  }
}

function chunks({ text, tool, input }) {
  const delta = text
    ? { role: "assistant", content: text }
    : {
        role: "assistant",
        tool_calls: [
          { index: 0, id: `call_${nSteps}`, type: "function", function: { name: tool, arguments: JSON.stringify(input) } },
        ],
      };
  const chunk = (choice, more) => ({ id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: choice, ...more });
  return [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: text ? "stop" : "tool_calls" }]),
    chunk([], { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  ];
}

const model = http.createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks(next(JSON.parse(body)))) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));

const home = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-"));
const workspace = path.join(home, "work");
fs.mkdirSync(path.join(workspace, ".git"), { recursive: true });
const one = (name) => ({ name, tool_call: true, limit: { context: 128000, output: 8192 } });
const config = {
  share: "disabled",
  autoupdate: false,
  model: "fake/scripted",
  small_model: "fake/small",
  enabled_providers: ["fake"],
  provider: {
    fake: {
      npm: "@ai-sdk/openai-compatible",
      name: "Fake",
      options: { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: "none" },
      models: { scripted: one("Scripted"), small: one("Small") },
    },
  },
  mcp: {
    deskhand: {
      type: "local",
      command: [deskhand, "mcp", "--data-dir", data, "--tools", "agent,browser,shell"],
      enabled: true,
      timeout: 90_000,
    },
  },
};
const child = spawn(opencode, ["run", "--format", "json", "Do as the script says."], {
  cwd: workspace,
  env: {
    PATH: process.env.PATH,
    HOME: home,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    // Without it, OpenCode would install a plugin from the network at its first start.
    npm_config_registry: "http://127.0.0.1:9/",
  },
  stdio: ["ignore", "pipe", "pipe"],
});
let output = "";
let log = "";
child.stdout.on("data", (piece) => (output += piece));
child.stderr.on("data", (piece) => (log += piece));
const late = setTimeout(() => child.kill("SIGKILL"), LONGEST_RUN_MS);
const code = await new Promise((resolve) => child.on("close", resolve));
clearTimeout(late);
model.close();
fs.rmSync(home, { recursive: true, force: true });

const events = output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
const tools = events.map((event) => event.part).filter((part) => part?.type === "tool");
const pictures = tools.flatMap((part) => part.state?.attachments ?? []).filter((file) => file.mime?.startsWith("image/"));
if (code !== 0) problems.push(`OpenCode ended with ${code}`);
if (nSteps !== WALKS[walk].length) problems.push(`it made ${nSteps} of ${WALKS[walk].length} steps`);
if (pictures.length !== 1) problems.push(`it got ${pictures.length} pictures instead of 1`);
if (problems.length > 0) {
  console.log(problems.join("\n"), "\n", output.slice(-5000), "\n", log.slice(-5000));
  process.exit(1);
}
console.log(tools.map((part) => part.tool).join(" "));
process.exit(0);

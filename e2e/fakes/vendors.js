// Fake vendors whose models play a part. The part is written once for all vendors, and each fake
// sends it in its own wire format.
//
// A part is a list of answers. Each is a list of actions, `{click: [x, y]}`, `{fill: [x, y], text}`, `{go: url}`,
// `{bash: "…"}` or `{look: true}`, or a text that ends the turn. Places are fractions of the screen's width and height,
// so that a fake has to translate them into the coordinates of its own wire. `{until: f}` waits for the promise of `f`
// before all other actions.
import { LLMock } from "@copilotkit/aimock";

import { breakOff, listen, refuse, sizeOf, stream } from "./http.js";

export const KEY = "key-of-the-vendor-5e1f";

/** Translates an action for Anthropic's dated tools, and for our functions. */
function dated(action, size) {
  const computer = (member, input) => ["computer", { action: member, ...input }];
  const click = (at) => computer("left_click", { coordinate: inPixels(at, size) });
  if (action.click) return [click(action.click)];
  if (action.fill) return [click(action.fill), computer("type", { text: action.text })];
  if (action.go) {
    return [computer("key", { text: "ctrl+l" }), computer("type", { text: action.go }), computer("key", { text: "Return" })];
  }
  if (action.bash) return [["bash", { command: action.bash }]];
  return [computer("screenshot", {})];
}

/** Returns the next answer of a part, after everything it waits for. */
async function next(part, n_answers) {
  const answer = part[n_answers];
  if (typeof answer === "string") return answer;
  for (const action of answer) await action.until?.();
  return answer.filter((action) => !action.until);
}

function inPixels([x, y], { width, height }) {
  return [Math.floor(x * width), Math.floor(y * height)];
}

/**
 * Plays a vendor with a third-party mock. Pass `size`, the screen's size, if the mock does not pass pictures on.
 */
async function mocked(part, translate, size) {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.on({ predicate: () => true }, async (request) => {
    const n_answers = request.messages.filter((message) => message.role === "assistant").length;
    const answer = await next(part, n_answers);
    if (typeof answer === "string") return { content: answer };
    const calls = answer.flatMap((action) => translate(action, size ?? newestPart(request.messages)));
    return {
      content: `Step ${n_answers + 1}.`,
      toolCalls: calls.map(([name, input]) => ({ name, arguments: JSON.stringify(input) })),
    };
  });
  await mock.start();
  return { url: mock.url, mock, close: () => mock.stop() };
}

/** Returns the size of the newest picture in a chat. */
function newestPart(messages) {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const url = parts.findLast(({ type }) => type === "image_url")?.image_url.url;
  return url && sizeOf(url.split(",")[1]);
}

/** Plays Anthropic with a third-party mock, which treats its dated tools like any tool. */
export async function anthropic(part, size) {
  const fake = await mocked(part, dated, size);
  return { ...fake, env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: fake.url } };
}

/** Plays any vendor of chat completions with a third-party mock. */
export async function chat(part, size) {
  const fake = await mocked(part, dated, size);
  return { ...fake, env: { OLLAMA_API_KEY: KEY, OLLAMA_BASE_URL: `${fake.url}/v1` } };
}

const inThousandths = ([x, y]) => ({ x: Math.floor(x * 1000), y: Math.floor(y * 1000) });

/** Translates an action for Gemini's newer models. */
function newGemini(action) {
  const click = (at) => ["click", { ...inThousandths(at), intent: "to click" }];
  const type = (text, press_enter) => ["type", { text, press_enter, intent: "to type" }];
  if (action.click) return [click(action.click)];
  if (action.fill) return [click(action.fill), type(action.text, false)];
  if (action.go) return [["hotkey", { keys: ["ctrl", "l"], intent: "to go on" }], type(action.go, true)];
  if (action.bash) return [["bash", { command: action.bash }]];
  return [["take_screenshot", {}]];
}

/** Translates an action for Gemini's older models. */
function oldGemini(action) {
  if (action.click) return [["click_at", inThousandths(action.click)]];
  if (action.fill) {
    const how = { press_enter: false, clear_before_typing: false };
    return [["type_text_at", { ...inThousandths(action.fill), text: action.text, ...how }]];
  }
  if (action.go) return [["navigate", { url: action.go }]];
  if (action.bash) return [["bash", { command: action.bash }]];
  return [["open_web_browser", {}]];
}

/** Plays Gemini with a third-party mock. */
export async function gemini(part, { old = false } = {}) {
  const fake = await mocked(part, old ? oldGemini : newGemini);
  return { ...fake, env: { GEMINI_API_KEY: KEY, GEMINI_BASE_URL: fake.url } };
}

/**
 * Plays Anthropic with its toolset, and reads the pictures: it points in the coordinates of the picture it was
 * sent.
 */
export async function anthropicToolset(part, { has_toolset = true, trouble = () => undefined } = {}) {
  const requests = [];
  const fake = await listen(async (request, body, response) => {
    if (request.url !== "/v1/messages") return refuse(response, 404, { type: "not_found_error", message: request.url });
    if (request.headers["x-api-key"] !== KEY) {
      return refuse(response, 401, { type: "authentication_error", message: `${request.headers["x-api-key"]} is no key` });
    }
    requests.push({ headers: request.headers, body });
    const is_toolset = body.tools.some((tool) => tool.type === "computer_toolset_20260801");
    if (is_toolset && !has_toolset) {
      const message = `'${body.model}' does not support tool types: computer_toolset_20260801`;
      return refuse(response, 400, { type: "invalid_request_error", message });
    }
    const problem = anthropicProblem(body, is_toolset);
    if (problem) return refuse(response, 400, { type: "invalid_request_error", message: problem });
    const answers = body.messages.filter((message) => message.role === "assistant");
    const hasCalls = ({ content }) => content.some(({ type }) => type === "tool_use");
    const n_answers = answers.filter(hasCalls).length;
    const size = newestSize(body.messages);
    const answer = await next(part, n_answers);
    // After an answer that broke off, continue from there.
    const broken = answers.slice(answers.findLastIndex(hasCalls) + 1);
    const said = broken.flatMap(({ content }) => content.map(({ text }) => text)).join("");
    const words = typeof answer === "string" ? answer : `Step ${n_answers + 1}.`;
    const blocks = [{ type: "text", text: words.startsWith(said) ? words.slice(said.length) : words }];
    if (typeof answer !== "string") {
      const calls = answer.flatMap((action) => dated(action, size));
      calls.forEach(([name, input], index) => {
        const { action: member, ...rest } = input;
        const id = `toolu_${n_answers}_${index}`;
        const is_member = is_toolset && name === "computer";
        blocks.push(
          is_member
            ? { type: "tool_use", id, name: member, toolset_name: "computer", input: rest }
            : { type: "tool_use", id, name, input },
        );
      });
    }
    const stop_reason = typeof answer === "string" ? "end_turn" : "tool_use";
    const events = [...anthropicEvents(blocks, stop_reason)];
    switch (trouble()) {
      case "busy":
        response.setHeader("retry-after", "1");
        return refuse(response, 429, { type: "rate_limit_error", message: "too many requests" });
      case "overloaded":
        return refuse(response, 529, { type: "overloaded_error", message: "Overloaded" });
      case "reset":
        return request.socket.destroy();
      case "half":
        return breakOff(response, events.slice(0, Math.ceil(events.length / 2)));
      default:
        stream(response, events);
    }
  });
  return { ...fake, requests, env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: fake.url } };
}

function* anthropicEvents(blocks, stop_reason) {
  yield { type: "message_start", message: { role: "assistant", content: [], usage: { input_tokens: 1000, output_tokens: 1 } } };
  yield { type: "ping" };
  for (const [index, block] of blocks.entries()) {
    if (block.type === "text") {
      yield { type: "content_block_start", index, content_block: { type: "text", text: "" } };
      for (const text of block.text.match(/.{1,4}/gs) ?? []) {
        yield { type: "content_block_delta", index, delta: { type: "text_delta", text } };
      }
    } else {
      yield { type: "content_block_start", index, content_block: { ...block, input: {} } };
      const partial_json = JSON.stringify(block.input);
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } };
    }
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 50 } };
  yield { type: "message_stop" };
}

/** Returns what Anthropic would refuse about a conversation. */
function anthropicProblem({ messages, tools }, is_toolset) {
  if (is_toolset) {
    const keys = Object.keys(tools.find((tool) => tool.type === "computer_toolset_20260801"));
    const strange = keys.filter((key) => !["type", "configs", "cache_control", "allowed_callers"].includes(key));
    if (strange.length > 0) return `tools: the toolset takes no ${strange}`;
  }
  for (const [at, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const uses = message.content.filter((block) => block.type === "tool_use");
    const answer = messages[at + 1]?.content ?? [];
    for (const use of uses) {
      const result = answer.find((block) => block.type === "tool_result" && block.tool_use_id === use.id);
      if (!result) return `messages: tool_use ${use.id} has no tool_result in the next message`;
      if (result.toolset_name !== use.toolset_name) return `messages: the result of ${use.id} must echo its toolset`;
      const pictures = Array.isArray(result.content) && result.content.some((block) => block.type === "image");
      if (result.is_error && pictures) return `messages: an error has no picture`;
    }
  }
}

/** Returns the size of the newest picture in an Anthropic conversation. Before there is one, none is needed. */
function newestSize(messages) {
  let size;
  const look = (block) => {
    if (block.type === "image") size = sizeOf(block.source.data);
    if (Array.isArray(block.content)) block.content.forEach(look);
  };
  for (const message of messages) if (Array.isArray(message.content)) message.content.forEach(look);
  return size;
}

/** Plays OpenAI's Responses API with its computer tool, current or preview. */
export async function openai(part, { preview = false } = {}) {
  const requests = [];
  const fake = await listen(async (request, body, response) => {
    if (request.url !== "/v1/responses") return refuse(response, 404, { message: request.url });
    if (request.headers.authorization !== `Bearer ${KEY}`) return refuse(response, 401, { message: "no such key" });
    requests.push({ headers: request.headers, body });
    const computer = body.tools.find((tool) => tool.type.startsWith("computer"));
    const wanted = preview ? "computer_use_preview" : "computer";
    if (computer?.type !== wanted) return refuse(response, 400, { message: `tools: ${computer?.type} is not offered` });
    const problem = openaiProblem(body.input);
    if (problem) return refuse(response, 400, { message: problem });
    // A response of ours is identified by its id, in whatever items it comes back.
    const answered = new Set(body.input.filter((item) => item.id?.startsWith("step_")).map((item) => item.id.split("_")[1]));
    const n_answers = answered.size;
    const answer = await next(preview ? singly(part) : part, n_answers);
    const output = openaiOutput(answer, n_answers, newestScreenshot(body.input), preview);
    stream(response, openaiEvents(output));
  });
  return { ...fake, requests, env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${fake.url}/v1` } };
}

/** Splits answers into single actions, since the preview does one thing at a time. */
function singly(part) {
  return part.flatMap((answer) => {
    if (typeof answer === "string") return [answer];
    // All waits happen before the first action.
    const waits = answer.filter((action) => action.until);
    const [first, ...rest] = answer.filter((action) => !action.until).flatMap((action) => {
      if (action.fill) return [[{ click: action.fill }], [{ type: action.text }]];
      if (action.go) return [[{ key: ["CTRL", "L"] }], [{ type: action.go }], [{ key: ["ENTER"] }]];
      return [[action]];
    });
    return [[...waits, ...first], ...rest];
  });
}

function newestScreenshot(input) {
  const urls = input
    .filter((item) => item.type === "computer_call_output")
    .map((item) => item.output.image_url);
  return urls.length > 0 ? sizeOf(urls.at(-1).split(",")[1]) : undefined;
}

/** Returns what OpenAI would refuse about a conversation. */
function openaiProblem(input) {
  for (const [at, item] of input.entries()) {
    if (!["computer_call", "function_call"].includes(item.type)) continue;
    const later = input.slice(at + 1);
    const output = later.find((other) => other.type === `${item.type}_output` && other.call_id === item.call_id);
    if (!output) return `input: ${item.call_id} has no output`;
    if (item.type === "computer_call" && !output.output.image_url) return `input: ${item.call_id} has no picture`;
  }
}

function openaiOutput(answer, n_answers, size, preview) {
  const id = (kind) => `step_${n_answers}_${kind}`;
  if (typeof answer === "string") {
    const content = [{ type: "output_text", text: answer, annotations: [] }];
    return [{ type: "message", id: id("said"), role: "assistant", status: "completed", content }];
  }
  const shell = answer.filter((action) => action.bash);
  if (shell.length > 0) {
    return shell.map((action, index) => ({
      type: "function_call",
      id: id(`f${index}`),
      call_id: `call_${n_answers}_${index}`,
      name: "bash",
      arguments: JSON.stringify({ command: action.bash }),
      status: "completed",
    }));
  }
  const click = (at) => {
    const [x, y] = inPixels(at, size);
    return { type: "click", button: "left", x, y };
  };
  const press = (...keys) => ({ type: "keypress", keys });
  const type = (text) => ({ type: "type", text });
  const actions = answer.flatMap((action) => {
    if (action.click) return [click(action.click)];
    if (action.fill) return [click(action.fill), type(action.text)];
    if (action.go) return [press("CTRL", "L"), type(action.go), press("ENTER")];
    if (action.key) return [press(...action.key)];
    if (action.type) return [type(action.type)];
    return [{ type: "screenshot" }];
  });
  const call = { type: "computer_call", id: id("c"), call_id: `call_${n_answers}`, status: "completed", pending_safety_checks: [] };
  return [preview ? { ...call, action: actions[0] } : { ...call, actions }];
}

function* openaiEvents(output) {
  yield { type: "response.created", response: { id: "resp_1", status: "in_progress" } };
  for (const [output_index, item] of output.entries()) {
    yield { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } };
    if (item.type === "message") {
      yield { type: "response.content_part.added", output_index, content_index: 0, part: { type: "output_text", text: "" } };
      yield { type: "response.output_text.delta", output_index, content_index: 0, delta: item.content[0].text };
    }
    yield { type: "response.output_item.done", output_index, item };
  }
  const usage = { input_tokens: 1000, output_tokens: 50, input_tokens_details: { cached_tokens: 0 } };
  yield { type: "response.completed", response: { id: "resp_1", status: "completed", output, usage } };
}

// The same task on a real desktop by the wire of every vendor, whose part fakes on loopback play.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as vendors from "./fakes/vendors.js";
import { Server } from "./server.js";

const size = { width: 1024, height: 768 };
const WORDS = "Grüße, 12 Äpfel";

// A page that turns green when the words are in the field and the button is pressed.
const PAGE = `<!doctype html><meta charset="utf-8"><title>task</title>
<style>body{margin:0;background:white} input,button{position:fixed;left:200px;width:300px;height:60px;font-size:20px}
input{top:300px} button{top:450px} .done{background:rgb(0,128,64)}</style>
<input id="words"><button onclick="if(words.value===${JSON.stringify(WORDS)})document.body.className='done'">Done</button>`;

/** The middle of a place in the page, which begins below the browser's own bars. */
const place = (x, y) => [x / size.width, y / size.height];

const part = [
  [{ bash: `printf %s '${PAGE.replaceAll("'", `'\\''`)}' > ~/task.html` }],
  [{ look: true }],
  [{ go: "file:///home/agent/task.html" }],
  [{ fill: place(350, 420), text: WORDS }, { click: place(350, 570) }],
  "It is done.",
];

/** Plays the part; answers the last screenshot of the agent. */
async function play(fake, model) {
  const server = await Server.start({ env: fake.env });
  try {
    const { log, end } = await server.task(model, "Fill in the form.");
    const told = JSON.stringify(log.filter(({ type }) => type !== "screenshot"), null, 1);
    assert.equal(end.type, "complete", told);
    const failed = log.filter(({ type, data }) => type === "tool_result" && data.is_error);
    assert.deepEqual(failed, []);
    assert.equal(log.findLast(({ type }) => type === "message").data.content, "It is done.");
    const { blob } = log.findLast(({ type }) => type === "screenshot").data;
    assert.ok(!told.includes(vendors.KEY), "the key is in the log");
    return { blob, picture: await server.api("GET", `/blobs/${blob}`) };
  } finally {
    await server.end();
    await fake.close();
  }
}

test("one task", async () => {
  for (const [what, model, begin] of [
    ["toolset", "anthropic/claude-opus-5-5", () => vendors.anthropicToolset(part)],
    ["20251124", "anthropic/claude-opus-4-5", () => vendors.anthropic(part, size)],
    ["20250124", "anthropic/claude-sonnet-4-5", () => vendors.anthropic(part, size)],
    ["20241022", "anthropic/claude-3-5-sonnet-20241022", () => vendors.anthropic(part, size)],
    ["openai", "openai/gpt-5.5", () => vendors.openai(part)],
    ["preview", "openai/computer-use-preview", () => vendors.openai(part, { preview: true })],
    ["gemini", "gemini/gemini-3.5-flash", () => vendors.gemini(part)],
    ["old gemini", "gemini/gemini-2.5-computer-use-preview-10-2025", () => vendors.gemini(part, { old: true })],
    ["chat", "openrouter/somebody/some-model", () => vendors.chat(part, size)],
  ]) {
    try {
      const { blob } = await play(await begin(), model);
      console.log(what, blob);
    } catch (error) {
      console.log(what, "FAILED", String(error.message).slice(0, 3000));
    }
  }
});

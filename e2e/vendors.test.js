// The same task on a real desktop over the wire format of every vendor, each played by a fake on loopback.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import * as vendors from "./fakes/vendors.js";
import { Picture } from "./png.js";
import { Server, eventually } from "./server.js";

const results = join(import.meta.dirname, "results");
const size = { width: 1024, height: 768 };
const WORDS = "Grüße, 12 Äpfel";

// A page that turns green when the field contains the words and the button is pressed.
const PAGE = `<!doctype html><meta charset="utf-8"><title>task</title>
<style>body{margin:0;background:rgb(250,240,200)} input,button{position:fixed;left:400px;width:224px;font-size:20px}
input{top:100px;height:60px} button{top:200px;height:200px} .done{background:rgb(0,128,64)}</style>
<input id="words"><button id="done">Done</button>
<script>done.onclick=()=>{if(words.value===${JSON.stringify(WORDS)})document.body.className="done"}</script>`;

const FIELD = [0.5, 0.28];
// The middle is the same pixel on every wire. That matters because the pointer is in the screenshots.
const BUTTON = [0.5, 0.5];

// The background colours of the start page, of the open page and of the finished page.
const START = [247, 244, 238];
const OPEN = [250, 240, 200];
const DONE = [0, 128, 64];

/** The model's part. `shows` waits until the screen shows a colour. */
const part = (shows) => [
  [{ until: () => shows("the browser", START) }, { bash: `printf %s '${PAGE.replaceAll("'", `'\\''`)}' > ~/task.html` }],
  [{ look: true }],
  [{ go: "file:///home/agent/task.html" }],
  [{ until: () => shows("the page", OPEN) }, { fill: FIELD, text: WORDS }, { click: BUTTON }],
  [{ until: () => shows("the end", DONE) }, { look: true }],
  "It is done.",
];

before(() => mkdir(results, { recursive: true }));

/** Plays the model's part, and returns the agent's last screenshot. */
async function play(begin, model) {
  let server;
  const shows = (what, colour) =>
    eventually(`the screen shows ${what}`, async () => {
      const picture = await server.picture();
      return picture !== undefined && new Picture(picture).is(900, 600, colour);
    });
  const fake = await begin(part(shows));
  server = await Server.start({ env: fake.env });
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

const WIRES = [
  ["Anthropic's toolset", "anthropic/claude-opus-5-5", (part) => vendors.anthropicToolset(part)],
  ["computer_20251124", "anthropic/claude-opus-4-5", (part) => vendors.anthropic(part, size)],
  ["computer_20250124", "anthropic/claude-sonnet-4-5", (part) => vendors.anthropic(part, size)],
  ["computer_20241022", "anthropic/claude-3-5-sonnet-20241022", (part) => vendors.anthropic(part, size)],
  ["OpenAI's computer", "openai/gpt-5.5", (part) => vendors.openai(part)],
  ["OpenAI's preview", "openai/computer-use-preview", (part) => vendors.openai(part, { preview: true })],
  ["Gemini's actions", "gemini/gemini-3.5-flash", (part) => vendors.gemini(part)],
  ["Gemini's older actions", "gemini/gemini-2.5-computer-use-preview-10-2025", (part) => vendors.gemini(part, { old: true })],
  ["chat completions", "ollama/somebody/some-model", (part) => vendors.chat(part, size)],
];

// The agents mostly wait for a quiet screen, so several desktops can share the machine.
describe("the same task reaches the same screen by every wire", { concurrency: 3 }, () => {
  const pictures = new Map();
  for (const [wire, model, begin] of WIRES) {
    test(wire, async () => {
      const { blob, picture } = await play(begin, model);
      await writeFile(join(results, "vendors.png"), picture);
      pictures.set(wire, blob);
    });
  }
  after(() => assert.equal(new Set(pictures.values()).size, 1, JSON.stringify([...pictures], null, 1)));
});

test("a vendor that fails in every way fails no turn", async () => {
  const n_rounds = Number(process.env.TROUBLE_ROUNDS ?? 1);
  const n_steps = 8 * n_rounds;
  const steps = Array.from({ length: n_steps }, (_, n) => [{ bash: `echo ${n} >> ~/done; cat ~/done | wc -l` }]);
  const words = "It is done, and every step of it was done once.";
  const seed = Number(process.env.TROUBLE_SEED ?? Math.floor(Math.random() * 1e6));
  const random = dice(seed);
  // Each way once per round, among the steps that go well.
  const fates = ["busy", "overloaded", "reset", "half", ...Array(8)].flatMap((fate) => Array(n_rounds).fill(fate));
  const dealt = fates.map((fate) => ({ fate, at: random() })).sort((a, b) => a.at - b.at);
  const n_troubles = 4 * n_rounds;
  const fake = await vendors.anthropicToolset([...steps, words], { trouble: () => dealt.shift()?.fate });
  const server = await Server.start({ env: fake.env });
  try {
    const { log, end } = await server.task("anthropic/claude-opus-5-5", "Do it.");
    const told = `TROUBLE_SEED=${seed}\n${JSON.stringify(log, null, 1)}`;
    assert.equal(end.type, "complete", told);
    const of = (type) => log.filter((event) => event.type === type).map(({ data }) => data);
    assert.equal(of("retry").length, n_troubles, told);
    assert.ok(of("retry").every(({ next_at, message }) => next_at && message), told);
    const counted = of("tool_result").filter(({ partial }) => !partial).map(({ text }) => text.trim());
    assert.deepEqual(counted, Array.from({ length: n_steps }, (_, n) => `${n + 1}`), told);
    assert.equal(of("message").at(-1).content, words, told);
  } finally {
    await server.end();
    await fake.close();
  }
});

/** Returns a generator of numbers from 0 to 1 that are the same for the same seed. */
function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

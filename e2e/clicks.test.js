// Tests that clicks land: every wire has its own coordinates, on screens of many sizes, and hits its targets.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import * as vendors from "./fakes/vendors.js";
import { Picture } from "./png.js";
import { Server, eventually } from "./server.js";

const results = join(import.meta.dirname, "results");

const COLUMNS = 20;
// The targets are in rows of 20.
const N_TARGETS = Number(process.env.CLICK_TARGETS ?? 20);
const EDGE = 14;
const AT_ONCE = 10;
const SIZES = [
  [1024, 768],
  [1280, 800],
  [1920, 1080],
  [2560, 1600],
];
// By default every wire has one of the sizes, so that all sizes occur. `CLICK_SIZES=all` is every wire on every size.
const HAS_ALL_SIZES = process.env.CLICK_SIZES === "all";
const TARGET = [0, 0, 255];
const START_PAGE = [247, 244, 238];
const HIT = [0, 128, 64];
const MISS = [255, 0, 0];

const seed = Number(process.env.CLICK_SEED ?? Math.floor(Math.random() * 1e6));

// Targets are in cells of a grid, so that none covers another. A hit target turns green; anything else that is hit
// turns red.
const page = `<!doctype html><meta charset="utf-8"><title>targets</title>
<style>body{margin:0;height:100vh;background:white} div{position:fixed;width:${EDGE}px;height:${EDGE}px;background:rgb(${TARGET})}</style>
<body onclick="document.body.style.background='rgb(${MISS})'"><script>
let state=${seed};const random=()=>{state=(Math.imul(state,1664525)+1013904223)>>>0;return state/2**32};
const columns=${COLUMNS},rows=${N_TARGETS}/columns,width=innerWidth/columns,height=innerHeight/rows;
for(let n=0;n<${N_TARGETS};n++){const it=document.createElement("div");
it.style.left=Math.floor((n%columns)*width+2+random()*(width-${EDGE}-4))+"px";
it.style.top=Math.floor(Math.floor(n/columns)*height+2+random()*(height-${EDGE}-4))+"px";
it.onclick=(event)=>{event.stopPropagation();it.style.background="rgb(${HIT})"};document.body.append(it)}
</script>`;

const WIRES = [
  ["Anthropic, small pictures", "anthropic/claude-sonnet-4-5", (part) => vendors.anthropicToolset(part)],
  ["Anthropic, large pictures", "anthropic/claude-opus-5-5", (part) => vendors.anthropicToolset(part)],
  ["OpenAI", "openai/gpt-5.5", (part) => vendors.openai(part)],
  ["Gemini", "gemini/gemini-3.5-flash", (part) => vendors.gemini(part)],
  ["chat completions", "ollama/somebody/some-model", (part) => vendors.chat(part)],
];

/** Returns the centres of all squares of a colour, as fractions of the picture. */
function squares(picture, colour) {
  const found = [];
  for (let y = 0; y < picture.height; y += 1) {
    for (let x = 0; x < picture.width; x += 1) {
      const isCorner = picture.is(x, y, colour) && !picture.is(x - 1, y, colour) && !picture.is(x, y - 1, colour);
      if (isCorner) found.push([(x + EDGE / 2) / picture.width, (y + EDGE / 2) / picture.height]);
    }
  }
  return found;
}

/** Returns the sizes on which the nth wire is tested. */
function sizesOf(nth) {
  return HAS_ALL_SIZES ? SIZES : [SIZES[nth % SIZES.length]];
}

// A click mostly waits for a quiet screen, so several desktops can share the machine.
describe("clicks land", { concurrency: 4 }, () => {
  before(() => mkdir(results, { recursive: true }));

  for (const [nth, [wire, model, begin]] of WIRES.entries()) {
    for (const [width, height] of sizesOf(nth)) {
      test(`${wire} on ${width}×${height}`, async () => {
        let server;
        const look = async () => new Picture(await server.picture());
        // Filled in once the targets are visible.
        const part = [
          [{ until: async () => eventually("there is a screen", async () => (await server.picture()) !== undefined) },
            { bash: `printf %s '${page.replaceAll("'", `'\\''`)}' > ~/targets.html` }],
          [{ until: () => eventually("the browser is there", async () => (await look()).is(width - 60, height - 60, START_PAGE)) },
            // The pointer would cover a target.
            { look: true }],
          [{ click: [0.5, 0.025] }, { go: "file:///home/agent/targets.html" }],
          [{ until: async () => {
            let targets = [];
            await eventually("all targets are there", async () => {
              targets = squares(await look(), TARGET);
              return targets.length === N_TARGETS;
            });
            for (let n = 0; n < N_TARGETS; n += AT_ONCE) {
              part.push(targets.slice(n, n + AT_ONCE).map((click) => ({ click })));
            }
            part.push("All of them.");
          } }, { look: true }],
        ];
        const fake = await begin(part);
        const env = { ...fake.env, DESKHAND_SCREEN_WIDTH: `${width}`, DESKHAND_SCREEN_HEIGHT: `${height}` };
        server = await Server.start({ env });
        try {
          const { log, end } = await server.task(model, "Click on all targets.");
          assert.equal(end.type, "complete", `CLICK_SEED=${seed} ${JSON.stringify(log.slice(-3))}`);
          const failed = log.filter(({ type, data }) => type === "tool_result" && data.is_error);
          assert.deepEqual(failed, [], `CLICK_SEED=${seed}`);
          // The browser paints only after the click.
          let png;
          let missed;
          const isHit = async () => {
            png = await server.picture();
            missed = squares(new Picture(png), TARGET);
            return missed.length === 0;
          };
          await eventually("all are hit", isHit).catch(async () => {
            const file = join(results, `clicks-${model.replaceAll("/", "-")}-${width}.png`);
            await writeFile(file, png);
            assert.fail(`CLICK_SEED=${seed}: ${missed.length} were not hit, see ${file}`);
          });
          const n_elsewhere = squares(new Picture(png), MISS).length;
          assert.equal(n_elsewhere, 0, `CLICK_SEED=${seed}: something else was hit`);
        } finally {
          await server.end();
          await fake.close();
        }
      });
    }
  }
});

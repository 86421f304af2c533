// The sound of the desktop: a page in the desktop's browser plays a tone, and a person hears it on the session page.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { eventually, notRun, Server } from "./server.js";

const wide = { viewport: { width: 1280, height: 800 } };
const TONE_HZ = 440;
/** Of the tone's samples, where 1 is the loudest. */
const AMPLITUDE = 0.5;

/** Plays a tone from a click on, and tells its server when that was. */
const TONE_PAGE = `<!doctype html><title>tone</title><body style="margin:0;height:100vh;background:#246">
<script>
  document.body.onclick = () => {
    const context = new AudioContext();
    const tone = new OscillatorNode(context, { frequency: ${TONE_HZ} });
    tone.connect(new GainNode(context, { gain: ${AMPLITUDE} })).connect(context.destination);
    tone.start();
    fetch("/began-" + Date.now());
  };
</script>`;

let browser;
let server;

before(async () => {
  server = await Server.start();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

/** Keeps the analysers that a page makes, so that the test can read the samples that pass through them. */
function keepAnalysers() {
  const make = BaseAudioContext.prototype.createAnalyser;
  window.analysers = [];
  BaseAudioContext.prototype.createAnalyser = function () {
    const analyser = make.call(this);
    window.analysers.push(analyser);
    return analyser;
  };
}

/** Returns the frequency and the amplitude of what the page plays, and when it was first heard. */
function hear() {
  const analyser = window.analysers.at(-1);
  const samples = new Float32Array(analyser.fftSize);
  analyser.getFloatTimeDomainData(samples);
  const amplitude = Math.max(...samples.map(Math.abs));
  // The times at which the wave rises through zero, between two samples.
  const rises = [];
  for (let n = 1; n < samples.length; n += 1) {
    const [before, here] = [samples[n - 1], samples[n]];
    if (before < 0 && here >= 0) rises.push(n - here / (here - before));
  }
  const length = (rises.at(-1) - rises[0]) / (rises.length - 1);
  return { amplitude, frequency: rises.length > 1 ? analyser.context.sampleRate / length : 0 };
}

/** Resolves with the time at which something is heard for the first time. */
function firstHeard() {
  const analyser = window.analysers.at(-1);
  const samples = new Float32Array(analyser.fftSize);
  return new Promise((resolve) => {
    const look = () => {
      analyser.getFloatTimeDomainData(samples);
      if (samples.some((sample) => Math.abs(sample) > 0.1)) resolve(Date.now());
      else setTimeout(look, 2);
    };
    look();
  });
}

const sound = (page) => page.getByRole("group", { name: "Sound" });
const isTone = ({ amplitude, frequency }) =>
  Math.abs(frequency - TONE_HZ) < 3 && Math.abs(amplitude - AMPLITUDE) < 0.1;

/** Returns how many processes of PulseAudio run in a session's sandbox. */
const nDaemons = async (id) => Number(await server.shell(id, "pgrep -c pulseaudio || true"));

test("a person hears what the desktop's browser plays, and nothing is captured before", async (t) => {
  if (!existsSync("/usr/bin/pulseaudio")) return notRun(t, "PulseAudio is not installed");
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo" });
  await server.shell(id, `cat > tone.html <<'END'\n${TONE_PAGE}\nEND`);
  await server.shell(id, "python3 -m http.server 8000 --bind 127.0.0.1 >served 2>&1 &");
  await server.listens(id, 8000);
  const navigate = { action: "navigate", url: "http://127.0.0.1:8000/tone.html" };
  await server.api("POST", `/sessions/${id}/actions`, { tool: "browser", input: navigate });

  const page = await openPage(browser, wide);
  await page.addInitScript(keepAnalysers);
  await page.goto(server.link);
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await page.goto(`${server.url}/sessions/${id}`);
  await page.locator("[data-connection=connected]").waitFor();
  const button = page.button("Sound");
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  assert.equal(await nDaemons(id), 0, "nobody plays and nobody listens");
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator("[data-sound=connected]").waitFor();

  const heard = page.evaluate(firstHeard);
  const click = { action: "click", at: { x: 512, y: 450 } };
  await server.api("POST", `/sessions/${id}/actions`, { tool: "computer", input: click });
  const heardAt = await heard;
  await eventually("the tone is heard as it is", async () => isTone(await page.evaluate(hear)));
  const began = /began-(\d+)/.exec(await server.shell(id, "cat served"))?.[1];
  // Shown, not tested: a busy machine takes longer.
  t.diagnostic(`from the start of the tone to the ear: ${began ? heardAt - Number(began) : "?"} ms`);
  await page.keep("sound-on");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.keep("sound-on-dark");

  // The desktop's browser goes on while a person has control, and so does its sound.
  await page.button("Take over").click();
  await page.getByText("You have control").waitFor();
  await eventually("the tone goes on", async () => isTone(await page.evaluate(hear)));
  await page.button("Hand back").click();
  await page.button("Take over").waitFor();

  const volume = sound(page).getByRole("slider", { name: "Volume" });
  await volume.focus();
  await page.keyboard.press("Home");
  assert.equal(await volume.inputValue(), "0");

  // The choice is remembered.
  await page.reload();
  await page.locator("[data-sound=waiting], [data-sound=connected]").waitFor();
  // Some browsers want a click first. On the screen, it does nothing while the agent has control.
  const screen = await page.locator("[data-testid=screen]").boundingBox();
  await page.mouse.click(screen.x + 20, screen.y + 20);
  await page.locator("[data-sound=connected]").waitFor();
  assert.equal(await volume.inputValue(), "0");
  await button.click();
  await page.locator("[data-sound=off]").waitFor();
  const recordings = "pactl list source-outputs short | wc -l";
  await eventually("nothing is captured", async () => Number(await server.shell(id, recordings)) === 0);
});

// A watch link: a page in the desktop's browser plays, and a stranger in another browser sees and hears it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { eventually, notRun, Server } from "./server.js";

const wide = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TONE_HZ = 440;

/**
 * Moves a bar all the time. From a click on, it also shows another colour and plays a tone, and tells its server when
 * that was.
 */
const FILM_PAGE = `<!doctype html><title>film</title>
<style>body { margin: 0; height: 100vh; background: #1e3a8a; overflow: hidden }
  i { position: fixed; top: 0; bottom: 0; width: 20vw; background: #f59e0b }</style><body><i></i>
<script>
  const bar = document.querySelector("i");
  const move = (now) => { bar.style.left = (now / 20) % 80 + "vw"; requestAnimationFrame(move); };
  requestAnimationFrame(move);
  document.body.onclick = () => {
    const context = new AudioContext();
    const tone = new OscillatorNode(context, { frequency: ${TONE_HZ} });
    tone.connect(new GainNode(context, { gain: 0.5 })).connect(context.destination);
    tone.start();
    document.body.style.background = "#14532d";
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

/** Returns the share of the energy that the page plays which is at a frequency, and the amplitude of all of it. */
function hear(frequency) {
  const analyser = window.analysers.at(-1);
  if (!analyser) return { amplitude: 0, share: 0 };
  const samples = new Float32Array(analyser.fftSize);
  analyser.getFloatTimeDomainData(samples);
  let [energy, cos, sin] = [0, 0, 0];
  for (const [n, sample] of samples.entries()) {
    const angle = (2 * Math.PI * frequency * n) / analyser.context.sampleRate;
    energy += sample * sample;
    cos += sample * Math.cos(angle);
    sin += sample * Math.sin(angle);
  }
  const share = energy === 0 ? 0 : (2 * (cos * cos + sin * sin)) / (samples.length * energy);
  return { amplitude: Math.max(...samples.map(Math.abs)), share };
}

/** Counts the pictures that are drawn within a time, and returns the colour of the background. */
async function look(ms) {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const line = () => [...context.getImageData(0, canvas.height / 2, canvas.width, 1).data];
  let [last, n_pictures] = ["", 0];
  const began = performance.now();
  while (performance.now() - began < ms) {
    const now = line().join();
    if (now !== last) n_pictures += 1;
    last = now;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  const pixels = line();
  const colours = Array.from({ length: canvas.width }, (_, x) => pixels.slice(4 * x, 4 * x + 3));
  return { n_pictures, colours, size: [canvas.width, canvas.height] };
}

/** Resolves with the times at which the new colour is first seen and the tone is first heard. */
function firstSeenAndHeard() {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const analyser = window.analysers.at(-1);
  const samples = new Float32Array(analyser.fftSize);
  return new Promise((resolve) => {
    const times = { seen: 0, heard: 0 };
    const check = () => {
      if (times.seen === 0) {
        const row = context.getImageData(0, canvas.height / 2, canvas.width, 1).data;
        let n_green = 0;
        for (let at = 0; at < row.length; at += 4) if (row[at + 1] > row[at + 2] + 20 && row[at] < 60) n_green += 1;
        if (n_green > canvas.width / 2) times.seen = performance.now();
      }
      analyser.getFloatTimeDomainData(samples);
      if (times.heard === 0 && samples.some((sample) => Math.abs(sample) > 0.1)) times.heard = performance.now();
      if (times.seen && times.heard) resolve(times);
      else setTimeout(check, 2);
    };
    check();
  });
}

const isClose = (colour, wanted) => colour.every((part, n) => Math.abs(part - wanted[n]) < 16);

test("a stranger watches and hears a session by a link, until it is revoked", async (t) => {
  if (!existsSync("/usr/bin/pulseaudio")) return notRun(t, "PulseAudio is not installed");
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo", title: "Film night" });
  const { url } = await server.api("POST", `/sessions/${id}/watch-links`, { lifetime_seconds: 3600 });

  const page = await openPage(browser, wide);
  await page.addInitScript(keepAnalysers);
  await page.goto(url);
  await server.shell(id, `cat > film.html <<'END'\n${FILM_PAGE}\nEND`);
  await server.shell(id, "python3 -m http.server 8000 --bind 127.0.0.1 >served 2>&1 &");
  await server.listens(id, 8000);
  const navigate = { action: "navigate", url: "http://127.0.0.1:8000/film.html" };
  await server.api("POST", `/sessions/${id}/actions`, { tool: "browser", input: navigate });

  // The picture appears by itself, and moves.
  await page.locator("[data-watch=connected]").waitFor();
  await eventually("the bar is seen", async () => {
    const { colours } = await page.evaluate(look, 50);
    return colours.some((colour) => isClose(colour, [245, 158, 11]));
  });
  const { n_pictures, colours, size } = await page.evaluate(look, 2000);
  t.diagnostic(`${n_pictures / 2} pictures a second at ${size.join("×")}`);
  assert.ok(n_pictures > 10, `${n_pictures} pictures in two seconds`);
  assert.ok(colours.some((colour) => isClose(colour, [30, 58, 138])), "the background has its colour");

  await page.button("Tap to hear the sound").click();
  await page.locator("[data-sound=connected]").waitFor();
  const times = page.evaluate(firstSeenAndHeard);
  const click = { action: "click", at: { x: 512, y: 450 } };
  await server.api("POST", `/sessions/${id}/actions`, { tool: "computer", input: click });
  const { seen, heard } = await times;
  // Shown, not tested: the first sound starts the sound card, and a busy machine takes longer.
  t.diagnostic(`the beginning of the tone is heard ${Math.round(heard - seen)} ms after its picture is seen`);
  await eventually("the tone is heard", async () => {
    const { amplitude, share } = await page.evaluate(hear, TONE_HZ);
    return amplitude > 0.3 && share > 0.9;
  });
  await page.keep("watch-playing");

  const small = await openPage(browser, phone);
  await small.goto(url);
  await small.locator("[data-watch=connected]").waitFor();
  await small.getByText("Live").waitFor();
  await small.button("2 people watch").click();
  await small.getByRole("textbox", { name: "Your name" }).fill("Ada");
  await small.button("Set").click();
  await small.button("2 people watch").click();
  await small.getByRole("listitem").filter({ hasText: "Ada" }).waitFor();
  await small.keep("watch-phone");

  const { links } = await server.api("GET", `/sessions/${id}/watch-links`);
  await server.api("DELETE", `/sessions/${id}/watch-links/${links[0].id}`);
  for (const watching of [page, small]) {
    await watching.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
  }
  await page.keep("watch-revoked");
  await small.keep("watch-revoked-phone");
});

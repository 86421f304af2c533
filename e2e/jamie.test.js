// Watching together on Discord: a link in a direct message plays on a computer, and somebody in the voice channel sees
// and hears it in their own browser. It all happens in one server, with one sandbox.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Discord } from "./discord.js";
import { eventually, notRun, Server } from "./server.js";
import { hear, keepAnalysers, look } from "./watching.js";

const HOST = "videos.test";
const TONE_HZ = 440;
/** A page as sites have it: the video neither plays by itself nor is it alone. */
const PAGE = `<!doctype html><title>A video</title><h1>A video</h1>
<video src=/tone.webm width=320 height=180 muted loop preload=auto></video><video width=10 height=10></video>`;
/** Chromium recorded it: a moving bar and a tone. */
const VIDEO = join(import.meta.dirname, "..", "crates", "deskhand", "tests", "it", "jamie", "tone.webm");

const ends = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

/** Serves the page and its video, and returns the port. */
async function serveSite() {
  const video = await readFile(VIDEO);
  const site = createServer((request, response) => {
    const isVideo = request.url === "/tone.webm";
    response.writeHead(200, { "content-type": isVideo ? "video/webm" : "text/html" }).end(isVideo ? video : PAGE);
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    site.closeAllConnections();
    site.close();
  });
  return site.address().port;
}

test("a link in a message plays for the whole voice channel, until its sender says stop", async (t) => {
  if (!Discord.isInstalled) return notRun(t, "the packages of the Discord for tests are not installed");
  if (!existsSync("/usr/bin/pulseaudio")) return notRun(t, "PulseAudio is not installed");
  const discord = await Discord.start();
  ends.push(() => discord.end());
  const port = await serveSite();
  const server = await Server.start({ env: { ...discord.env, DESKHAND_NETWORK_ALLOW: "127.0.0.0/8" }, host: HOST });
  ends.push(() => server.end());
  const browser = await launch();
  ends.push(() => browser.close());
  await discord.connected();
  const [friends, others] = [await discord.server("Friends"), await discord.server("Others")];
  const anna = await discord.person("anna", friends);
  const carla = await discord.person("carla", others);
  const url = `http://${HOST}:${port}/`;

  // Somebody in no voice channel, and somebody without a link.
  await anna.write(url);
  await anna.hears("not in any voice channel");
  await anna.join(friends);
  await anna.write("this is not a url");
  await anna.hears("Send me a YouTube");

  const asked = performance.now();
  await anna.write(`look at ${url} please`);
  await discord.wrote("Got it! Streaming to **Movie Night**");
  const { components } = await anna.hears("Now streaming!");
  t.diagnostic(`live after ${Math.round(performance.now() - asked)} ms`);
  const link = components[0].components[0].url;

  // Another voice channel has to wait.
  await carla.join(others);
  await carla.write(url);
  await carla.hears("already streaming");

  const page = await openPage(browser, { viewport: { width: 1280, height: 800 } });
  await page.addInitScript(keepAnalysers);
  await page.goto(link);
  await page.locator("[data-watch=connected]").waitFor();
  await page.button("Tap to hear the sound").click();
  await page.locator("[data-sound=connected]").waitFor();
  await eventually("the tone is heard", async () => {
    const { amplitude, share } = await page.evaluate(hear, TONE_HZ);
    return amplitude > 0.05 && share > 0.9;
  });
  await eventually("the picture moves", async () => (await page.evaluate(look, 1000)).n_pictures > 3);
  await page.keep("jamie-watch");

  const stopped = performance.now();
  await anna.write("stop");
  await anna.hears("Stream ended");
  t.diagnostic(`ended after ${Math.round(performance.now() - stopped)} ms`);
  await page.getByRole("heading", { name: "This has ended" }).waitFor();
  await anna.write("status");
  await anna.hears("Nothing is streaming right now");
  const output = await server.output();
  assert.ok(!output.includes(discord.env.DESKHAND_JAMIE_TOKEN), "the token is not logged");
  assert.ok(!output.includes(new URL(link).pathname.split("/").at(-1)), "the link is not logged");
});

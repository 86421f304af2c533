// Takes the pictures of the guide to the Discord bot: docs/images/jamie-*.webp. `scripts/pictures` builds and installs
// everything that this needs.
//
// A real server streams a film that this script makes and serves. The bot talks to the Discord of the tests, where
// people ask for the streams.
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

import { launch, openPage } from "./browser.js";
import { Discord } from "./discord.js";
import { Server } from "./server.js";

const root = join(import.meta.dirname, "..");
const images = join(root, "docs", "images");
const results = join(import.meta.dirname, "results");
const HOST = "films.example";
const PUBLIC_URL = "https://desk.example.com";
/** The most bytes of one picture. */
const MOST_BYTES = 120_000;
const QUALITY = 0.86;

const PAGE = `<!doctype html><title>An evening in the hills</title>
<style>body { margin: 0; background: #111 } video { width: 100% }</style><video src="/film.webm" muted loop></video>`;

/** Records a film of some seconds in a page: the sun goes down behind hills, and birds pass. */
async function recordFilm() {
  const [width, height, seconds] = [1280, 720, 12];
  const canvas = document.body.appendChild(Object.assign(document.createElement("canvas"), { width, height }));
  const picture = canvas.getContext("2d");
  const hills = [
    ["#7a5a8c", 0.62, 60, 0.0042],
    ["#54416f", 0.72, 75, 0.0061],
    ["#2e2850", 0.84, 55, 0.0088],
  ];
  const draw = (at) => {
    const sky = picture.createLinearGradient(0, 0, 0, height);
    for (const [stop, colour] of [[0, "#31356e"], [0.45, "#c8628a"], [0.75, "#f9b27c"]]) sky.addColorStop(stop, colour);
    picture.fillStyle = sky;
    picture.fillRect(0, 0, width, height);
    picture.fillStyle = "#ffe7b0";
    picture.beginPath();
    picture.arc(820, 250 + at * 14, 74, 0, 2 * Math.PI);
    picture.fill();
    for (const [n, [colour, level, size, bend]] of hills.entries()) {
      picture.fillStyle = colour;
      picture.beginPath();
      picture.moveTo(0, height);
      for (let x = 0; x <= width; x += 8) {
        const place = (x + at * 18 * (n + 1)) * bend;
        picture.lineTo(x, height * level + size * (Math.sin(place) + 0.4 * Math.sin(2.3 * place + n)));
      }
      picture.lineTo(width, height);
      picture.fill();
    }
    picture.strokeStyle = "#2e2850";
    picture.lineWidth = 4;
    for (let bird = 0; bird < 5; bird += 1) {
      const x = ((at * 70 + bird * 97) % (width + 200)) - 100;
      const y = 150 + 34 * Math.sin(bird * 1.9 + at);
      const wing = 9 * Math.sin(7 * at + bird);
      picture.beginPath();
      picture.moveTo(x - 20, y - wing);
      picture.quadraticCurveTo(x - 6, y - 8, x, y);
      picture.quadraticCurveTo(x + 6, y - 8, x + 20, y - wing);
      picture.stroke();
    }
  };
  const sound = new AudioContext();
  const out = sound.createMediaStreamDestination();
  for (const frequency of [196, 246.9, 293.7]) {
    const tone = new OscillatorNode(sound, { frequency });
    tone.connect(new GainNode(sound, { gain: 0.12 })).connect(out);
    tone.start();
  }
  await sound.resume();
  const film = new MediaStream([...canvas.captureStream(30).getTracks(), ...out.stream.getTracks()]);
  const recorder = new MediaRecorder(film, { mimeType: "video/webm;codecs=vp8,opus", videoBitsPerSecond: 6_000_000 });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  const began = performance.now();
  await new Promise((resolve) => {
    const next = () => {
      const at = (performance.now() - began) / 1000;
      draw(at);
      if (at < seconds) requestAnimationFrame(next);
      else resolve();
    };
    next();
  });
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Turns a picture into WebP, which has a fraction of the bytes. */
async function toWebp([png, quality]) {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality });
  let text = "";
  for (const byte of new Uint8Array(await blob.arrayBuffer())) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Serves the film, and nothing at other paths. */
async function serveFilm(film) {
  const site = createServer(({ url }, response) => {
    const [status, type, body] =
      url === "/evening" ? [200, "text/html", PAGE] : url === "/film.webm" ? [200, "video/webm", film] : [404, "text/html", "gone"];
    response.writeHead(status, { "content-type": type, "content-length": body.length });
    response.end(body);
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  return site;
}

/** Opens the streams as a signed-in administrator. */
async function openStreams(browser, server, options) {
  const page = await openPage(browser, options);
  const { url } = await server.api("POST", "/sign-in-links");
  await page.goto(url);
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await page.goto(`${server.url}/streams`);
  await page.getByRole("heading", { name: "Settings check" }).waitFor();
  await page.getByLabel("Figures of all streams").waitFor();
  await page.getByRole("table", { name: "History" }).waitFor();
  return page;
}

/** Watches a stream by the link of the bot's button. */
async function watch(browser, server, { components }, options) {
  const { url } = components[0].components[0];
  const page = await openPage(browser, options);
  await page.goto(url.replace(PUBLIC_URL, server.url));
  await page.locator("[data-watch=connected]").waitFor();
  await page.getByRole("button", { name: "Tap to hear the sound" }).waitFor();
  return page;
}

const desktop = { viewport: { width: 1000, height: 1330 }, colorScheme: "light" };
const dark = { ...desktop, colorScheme: "dark" };
const screen = { viewport: { width: 1024, height: 576 } };
const phone = { viewport: { width: 390, height: 720 }, hasTouch: true, isMobile: true };

/** Keeps a picture, in the guide or, with `--all`, among the results of tests. */
async function keep(page, name, isInGuide = true) {
  const png = await page.screenshot({ animations: "disabled" });
  const webp = Buffer.from(await studio.evaluate(toWebp, [png.toString("base64"), QUALITY]), "base64");
  const path = join(isInGuide ? images : results, `jamie-${name}.webp`);
  if (isInGuide && webp.length > MOST_BYTES) throw new Error(`${path} has ${webp.length} bytes; at most ${MOST_BYTES} will do`);
  await writeFile(path, webp);
  console.log(`${path}: ${Math.round(webp.length / 1_000)} kB`);
}

const browser = await launch();
const studio = await openPage(browser, screen);
// Browsers let a page make sound only after a click.
await studio.mouse.click(5, 5);
const film = Buffer.from(await studio.evaluate(recordFilm), "base64");
const site = await serveFilm(film);
const discord = await Discord.start();
const server = await Server.start({
  env: {
    ...discord.env,
    DESKHAND_JAMIE_PUBLIC_URL: PUBLIC_URL,
    DESKHAND_NETWORK_ALLOW: "127.0.0.0/8",
    DESKHAND_SCREEN_WIDTH: "1280",
    DESKHAND_SCREEN_HEIGHT: "720",
  },
  host: HOST,
});
try {
  await mkdir(results, { recursive: true });
  await discord.connected();
  const friends = await discord.server("Friends");
  const anna = await discord.person("anna", friends);
  await anna.join(friends);
  const base = `http://${HOST}:${site.address().port}`;
  await anna.write(`${base}/gone`);
  await anna.hears("I couldn't load that URL");
  await anna.write(`${base}/evening`);
  const earlier = await anna.hears("Now streaming!");
  const first = await watch(browser, server, earlier, screen);
  await anna.write("stop");
  await anna.hears("Stream ended");
  await first.getByRole("heading", { name: "This has ended" }).waitFor();
  await keep(first, "ended", false);
  await first.close();

  // Another person, whose messages begin anew.
  const bert = await discord.person("bert", friends);
  await bert.join(friends);
  await bert.write(`look at ${base}/evening`);
  const live = await bert.hears("Now streaming!");
  const small = await watch(browser, server, live, phone);
  const large = await watch(browser, server, live, screen);
  await large.getByRole("button", { name: "2 people watch" }).waitFor();
  // The title and the controls hide while nobody moves.
  await small.mouse.move(200, 100);
  await keep(small, "phone");
  await large.getByRole("button", { name: "Tap to hear the sound" }).click();
  await large.locator("[data-sound=connected]").waitFor();
  await large.mouse.move(500, 520);
  await keep(large, "watch");
  await keep(await openStreams(browser, server, desktop), "streams");
  for (const { content } of [...(await anna.messages()), ...(await bert.messages())]) console.log(`\n${content}`);
  if (process.argv.includes("--all")) {
    const page = await openStreams(browser, server, dark);
    await keep(page, "streams-dark", false);
    await page.getByRole("button", { name: "Stop the stream in Movie Night" }).click();
    await keep(page, "stop", false);
    await page.getByRole("button", { name: "Stop the stream", exact: true }).click();
    await page.getByText(/Nothing is streaming/).waitFor();
    await keep(page, "quiet", false);
    await keep(await openStreams(browser, server, phone), "narrow", false);
  }
} finally {
  await browser.close();
  await server.end();
  await discord.end();
  site.closeAllConnections();
  site.close();
}

// Takes the pictures of the guide to the Discord bot: docs/images/jamie-*.png. `scripts/pictures` builds and installs
// everything that this needs.
//
// A real server streams a page that this script serves. Earlier streams and the bot are real as well, as far as a
// machine without Discord has them.
import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

import { launch, openPage } from "./browser.js";
import { eventually, Server } from "./server.js";

const root = join(import.meta.dirname, "..");
const images = join(root, "docs", "images");
const video = await readFile(join(root, "crates", "deskhand", "tests", "it", "jamie", "tone.webm"));
const largestBytes = 300_000;

const PAGE = `<!doctype html><title>A film</title><style>body { margin: 0; background: #111 } video { width: 100% }</style>
<video src="/film.webm" muted loop></video>`;

/** Serves the film, and nothing at other paths. */
async function serveFilm() {
  const site = createServer(({ url }, response) => {
    const [status, type, body] =
      url === "/film" ? [200, "text/html", PAGE] : url === "/film.webm" ? [200, "video/webm", video] : [404, "text/html", "gone"];
    response.writeHead(status, { "content-type": type, "content-length": body.length });
    response.end(body);
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  return site;
}

/** Asks for a stream, as the bot does, and waits until it is in one of these states. */
async function stream(server, url, channel_name, states) {
  const token = (await readFile(join(server.folder, "data", "admin-token"), "utf8")).trim();
  const session_id = randomUUID();
  const body = {
    session_id,
    url,
    guild_id: 1234567890,
    guild_name: "Friends",
    channel_id: 1234567891,
    channel_name,
    requester_id: 2345678901,
  };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}/jamie/stream`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let found;
  await eventually(`the stream is ${states}`, async () => {
    const { streams } = await server.api("GET", "/streams");
    found = streams.find(({ id }) => id === session_id);
    return states.includes(found.state);
  }, 120);
  return found;
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

async function watch(browser, url, options) {
  const page = await openPage(browser, options);
  await page.goto(url);
  await page.locator("[data-watch=connected]").waitFor();
  await page.getByRole("button", { name: "Tap to hear the sound" }).waitFor();
  return page;
}

const desktop = { viewport: { width: 1180, height: 1040 }, colorScheme: "light" };
const dark = { ...desktop, colorScheme: "dark" };
const screen = { viewport: { width: 1100, height: 640 } };
const phone = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };

/** Keeps a picture, in the guide or, with `--all`, among the results of tests. */
async function keep(page, name, isInGuide = true) {
  const folder = isInGuide ? images : join(import.meta.dirname, "results");
  const path = join(folder, `jamie-${name}.png`);
  await page.screenshot({ path, animations: "disabled" });
  const { size } = await stat(path);
  console.log(`${path}: ${Math.round(size / 1_000)} kB`);
  return isInGuide ? size : 0;
}

const site = await serveFilm();
const server = await Server.start({
  env: { DESKHAND_JAMIE_CONTROLLER: "true", DESKHAND_NETWORK_ALLOW: "127.0.0.0/8" },
});
const browser = await launch();
try {
  const base = `http://127.0.0.1:${site.address().port}`;
  await stream(server, `${base}/gone`, "Lounge", ["failed"]);
  const earlier = await stream(server, `${base}/film`, "Movie Night", ["streaming"]);
  await server.api("POST", `/streams/${earlier.id}/stop`);
  const live = await stream(server, `${base}/film`, "Movie Night", ["streaming"]);

  let n_bytes = await keep(await watch(browser, live.watch_url, screen), "watch");
  n_bytes += await keep(await watch(browser, live.watch_url, phone), "phone");
  n_bytes += await keep(await openStreams(browser, server, desktop), "streams");
  if (n_bytes > largestBytes) throw new Error(`the pictures have ${n_bytes} bytes; at most ${largestBytes} will do`);
  if (process.argv.includes("--all")) {
    const page = await openStreams(browser, server, dark);
    await keep(page, "streams-dark", false);
    await page.getByRole("button", { name: "Stop the stream in Movie Night" }).click();
    await keep(page, "stop", false);
    await page.getByRole("button", { name: "Stop the stream", exact: true }).click();
    await page.getByText(/Nothing is streaming/).waitFor();
    await keep(page, "quiet", false);
    const narrow = await openStreams(browser, server, phone);
    await narrow.screenshot({ path: join(import.meta.dirname, "results", "jamie-narrow.png"), fullPage: true });
  }
} finally {
  await browser.close();
  await server.end();
  site.close();
}

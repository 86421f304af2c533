// Programs of sandboxes in a person's browser: they work in the panel Preview, and reach nothing beyond it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { launch, openPage, openTab } from "./browser.js";
import { eventually, Server } from "./server.js";
import { sayInVite, startVite } from "./vite.js";

let browser;
let server;
let page;

before(async () => {
  // A test puts files into the home from outside.
  server = await Server.start({ env: { DESKHAND_SANDBOX_DISK_QUOTA: "watched" } });
  browser = await launch();
  page = await openPage(browser, { viewport: { width: 1280, height: 800 } });
  await page.goto(server.link);
  await page.getByRole("textbox").first().waitFor();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

const START = "cd ~/site; setsid python3 site.py 3000 >/dev/null 2>&1 &";

/** Creates a session whose sandbox serves files on port 3000. */
async function serve(files) {
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo" });
  const site = { "site.py": await readFile(join(import.meta.dirname, "fakes", "site.py")), ...files };
  const put = ([name, text]) => `echo ${Buffer.from(text).toString("base64")} | base64 -d > ~/site/${name}`;
  await server.shell(id, `mkdir -p ~/site; ${Object.entries(site).map(put).join("; ")}`);
  await server.shell(id, START);
  await server.listens(id, 3000);
  return id;
}

/** Asks for a token as the person who is signed in, and returns the address of the service with it. */
async function address(session, path = "/") {
  const issue = `/api/sessions/${session}/sandbox-token?service=port-3000`;
  const { token, urls } = await page.evaluate(async (issue) => (await fetch(issue)).json(), issue);
  return `${urls["port-3000"]}${path}?token=${token}`;
}

const originOf = async (session) => new URL(await address(session)).origin;

/** Opens the panel Preview of a session, and returns the frame with the program's page. */
async function openPreview(tab, session) {
  await tab.goto(`${new URL(page.url()).origin}/sessions/${session}?panel=preview`);
  return shownFrame(tab);
}

/** Waits for the program's page in the panel, and returns its frame. */
async function shownFrame(tab) {
  let frame;
  await eventually("the panel shows the program's page", async () => {
    const element = await tab.locator("#panel-preview iframe").elementHandle();
    frame = await element.contentFrame();
    return (await frame?.title().catch(() => "")) === "A program";
  });
  return frame;
}

const log = async (session) => (await server.shell(session, "cat ~/site/requests.log")).trim().split("\n");

test("a program works in the panel, with everything that a web page uses", async () => {
  const session = await serve({ "index.html": "<title>A program</title><h1>Hello from the desktop</h1>" });
  const frame = await openPreview(page, session);
  await page.keep("apps-1-frame");
  const seen = await frame.evaluate(async () => {
    const posted = await (await fetch("/post", { method: "POST", body: "x".repeat(3_000_000) })).text();
    await fetch("/set");
    await fetch("/own-cookie");
    const events = new EventSource("/events");
    const event = await new Promise((resolve) => (events.onmessage = ({ data }) => data === "2" && resolve(data)));
    events.close();
    const socket = new WebSocket(`ws://${location.host}/ws`);
    const repeated = await new Promise((resolve, reject) => {
      socket.onopen = () => socket.send("hot reload");
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = reject;
    });
    return { posted, event, repeated, cookie: document.cookie, url: location.href };
  });
  assert.equal(seen.posted, "3000000");
  assert.equal(seen.event, "2");
  assert.equal(seen.repeated, "hot reload");
  // Our own cookie cannot be read, and the program's works although the frame is of another site.
  assert.equal(seen.cookie, "own=1");
  assert.ok(!seen.url.includes("token"), seen.url);
  const requests = await log(session);
  assert.ok(requests.every((line) => line.includes("host=localhost:3000")), requests.join("\n"));
  assert.ok(requests.every((line) => !line.includes("deskhand")), requests.join("\n"));
  assert.ok(requests.some((line) => line.startsWith("GET /own-cookie") && line.endsWith("cookie=own=1")));

  // In a tab of its own it works too, and so does loading it again.
  const tab = await page.context().newPage();
  await tab.goto(await address(session));
  await tab.getByText("Hello from the desktop").waitFor();
  await tab.reload();
  await tab.getByText("Hello from the desktop").waitFor();
  await tab.close();

  // Without a server the person learns what to do, and the page comes back by itself.
  await server.shell(session, "pkill -f site.py");
  await server.listens(session, 3000, false);
  await page.button("Reload").click();
  const panel = page.frameLocator("#panel-preview iframe");
  await panel.getByText("Nothing listens on port 3000").waitFor();
  await page.keep("apps-2-nothing");
  await server.shell(session, START);
  await panel.getByText("Hello from the desktop").waitFor();
});

test("a Vite development server works in the panel with hot reload and without settings", async () => {
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo" });
  await page.goto(`${new URL(page.url()).origin}/sessions/${id}`);
  await page.getByRole("tab", { name: "Screen" }).click();
  // Vite sends changes to pages that have connected, and does not repeat them.
  const isConnected = page.waitForEvent("console", { predicate: (message) => message.text() === "[vite] connected." });
  await startVite(server, id);
  // A dot says that there is something to see.
  await page.getByRole("tab", { name: /Preview.*something new/ }).click();
  const frame = await shownFrame(page);
  await frame.getByRole("heading", { name: "first" }).waitFor();
  await isConnected;
  await frame.evaluate(() => (window.isSamePage = true));
  await page.getByRole("tab", { name: "Preview", exact: true }).waitFor();
  await sayInVite(server, id, "second");
  await frame.getByRole("heading", { name: "second" }).waitFor();
  assert.equal(await frame.evaluate(() => window.isSamePage), true);
  await page.keep("apps-3-vite");
});

const SERVICE_WORKER = `
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(new Response("owned")));
`;

const ATTACK = {
  "index.html": "<title>A program</title><script>try { top.location = 'about:blank' } catch {}</script>",
  "inner.html": "<title>Inner</title>",
  "sw.js": SERVICE_WORKER,
};

/** Tries to use the dashboard and another service, from within a page. Returns the outcome of each attempt. */
async function useOthers([dashboard, other, victim]) {
  const outcome = async (work) => {
    try {
      return (await work()) ?? "done";
    } catch (error) {
      return `refused: ${error.name}`;
    }
  };
  const socket = (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.onopen = () => resolve("opened");
      socket.onerror = () => resolve("refused");
    });
  const image = (url) =>
    new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve("loaded");
      image.onerror = () => resolve("refused");
      image.src = url;
    });
  const simple = { method: "POST", mode: "no-cors", credentials: "include", body: "{}" };
  const read = async (url, init) => (await fetch(url, { credentials: "include", ...init })).text();
  return {
    readApi: await outcome(() => read(`${dashboard}/api/me`)),
    callApi: await outcome(async () => (await fetch(`${dashboard}/api/sessions`, simple)).type),
    endSession: await outcome(() => read(`${dashboard}/api/sessions/${victim}`, { method: "DELETE" })),
    bus: await socket(`${dashboard.replace("http", "ws")}/api/events`),
    parentPage: await outcome(async () => parent.document.title),
    readOther: await outcome(() => read(`${other}/`)),
    callOther: await outcome(async () => (await fetch(`${other}/post`, simple)).type),
    otherSocket: await socket(`${other.replace("http", "ws")}/ws`),
    otherImage: await image(`${other}/image.png`),
  };
}

/** Sets cookies for others in every way that a page has. Returns those that the page itself can read then. */
function tossCookies([dashboard, other]) {
  const names = ["deskhand", "__Host-deskhand", "deskhand-app", "__Host-deskhand-app", "stray"];
  const hosts = ["localhost", ...[dashboard, other, location.origin].map((origin) => new URL(origin).hostname)];
  const places = ["", ...hosts.map((host) => `; domain=${host}`)];
  for (const way of ["", "; SameSite=None; Secure", "; SameSite=None; Secure; Partitioned"]) {
    for (const place of places) {
      for (const name of names) document.cookie = `${name}=evil; path=/${place}${way}`;
    }
  }
  return document.cookie;
}

/** Shows addresses in frames of a page, and waits until each has loaded or failed. */
function showFrames(urls) {
  const show = (url) =>
    new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.onload = resolve;
      frame.src = url;
      document.body.append(frame);
    });
  return Promise.all(urls.map(show));
}

/** Registers a service worker that answers everything itself, and returns its answer. */
async function registerWorker() {
  const isActive = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
  await navigator.serviceWorker.register("/sw.js", { scope: "/" });
  await isActive;
  return (await fetch("/anything")).text();
}

test("a malicious page reaches neither the dashboard nor other services", async () => {
  const victim = await serve({ "index.html": "<title>A program</title>" });
  const victimFrame = await openPreview(page, victim);
  const context = page.context();
  // The person has the victim's page open in a tab too, so their browser has a cookie there that popups would send.
  const victimTab = await openTab(context);
  await victimTab.goto(await address(victim));
  await eventually("the page is shown", async () => (await victimTab.title()) === "A program");
  const attacker = await serve(ATTACK);
  const tab = await openTab(context);
  const frame = await openPreview(tab, attacker);
  const [dashboard, other, own] = [new URL(page.url()).origin, await originOf(victim), await originOf(attacker)];
  const sessionsBefore = (await server.api("GET", "/sessions")).sessions.length;
  const jars = () => Promise.all([context.cookies(dashboard), context.cookies(other)]);
  const cookiesBefore = await jars();
  const seenBefore = (await log(victim)).length;

  for (const [what, outcome] of Object.entries(await frame.evaluate(useOthers, [dashboard, other, victim]))) {
    // A request without CORS is sent, and only its answer is kept back. That nothing came of it is shown below.
    const refused = what.startsWith("call") ? /^(refused|opaque)/ : /^refused/;
    assert.match(String(outcome), refused, `${what}: ${outcome}`);
  }

  // Frames: its own page is shown, and neither of the others.
  await frame.evaluate(showFrames, [`${own}/inner.html`, `${dashboard}/`, `${other}/framed`]);
  const inner = () => tab.frames().filter((one) => one.parentFrame() === frame);
  const shown = () => inner().map((one) => one.url()).sort();
  // The addresses are told a moment after the frames have loaded.
  await eventually("each frame has an address", () => shown().length === 3 && !shown().includes(""));
  assert.deepEqual(shown(), [
    "chrome-error://chromewebdata/",
    "chrome-error://chromewebdata/",
    `${own}/inner.html`,
  ]);

  // Cookies: it can set its own, in a frame and in a tab of its own, and none of anybody else.
  const alone = await openTab(context);
  await alone.goto(await address(attacker, "/inner.html"));
  await eventually("the page is shown", async () => (await alone.title()) === "Inner");
  for (const place of [frame, alone]) {
    assert.match(await place.evaluate(tossCookies, [dashboard, other]), /stray=evil/);
  }
  assert.deepEqual(await jars(), cookiesBefore);
  assert.ok((await context.cookies(own)).some(({ name }) => name === "stray"));

  // A service worker takes over its own origin, and nothing else.
  assert.equal(await alone.evaluate(registerWorker), "owned");
  assert.equal(await victimFrame.evaluate(async () => (await fetch("/?own")).text()), "<title>A program</title>");
  assert.equal(await page.evaluate(async () => (await fetch("/api/me")).status), 200);
  await alone.close();

  // Another page that a person opens by a click does not reach the program either.
  const opening = context.waitForEvent("page");
  await frame.evaluate((url) => void window.open(url), `${other}/popup`);
  const popup = await opening;
  await popup.getByText("Another page led you here").waitFor();
  await popup.screenshot({ path: join(import.meta.dirname, "results", "apps-4-led.png") });
  await popup.close();
  await victimTab.close();

  assert.equal((await server.api("GET", "/sessions")).sessions.length, sessionsBefore);
  assert.deepEqual((await log(victim)).slice(seenBefore).filter((line) => !line.startsWith("GET /?own ")), []);
  assert.equal(new URL(tab.url()).origin, dashboard);
  assert.notEqual((await server.api("GET", `/sessions/${victim}`)).state, "terminated");
  // The dashboard still works in the attacker's own tab, and so does the page: it could not even shut itself out.
  await tab.reload();
  await shownFrame(tab);
  await tab.close();
});

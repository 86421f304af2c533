// Plays the demo on the page and records it: docs/images/demo.webp and docs/images/session.png. `scripts/record`
// builds and installs everything that this needs.
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

import { eventually, Server } from "./server.js";

const images = join(import.meta.dirname, "..", "docs", "images");
const viewport = { width: 1280, height: 800 };
const prompt = "Order three Boston ferns for Ada Lovelace.";
/** The shortest time between two frames. More frames make a larger file and no better picture. */
const frameMs = 60;
/** The duration of the last frame. */
const lastFrameMs = 4_000;
const largestBytes = 3_000_000;

/** Collects the frames that the browser paints, with their times. */
class Recording {
  static async start(page) {
    const recording = new Recording();
    recording.frames = [];
    recording.devtools = await page.context().newCDPSession(page);
    recording.devtools.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      recording.frames.push({ data, at: metadata.timestamp * 1_000 });
      // The page may be closed by now.
      recording.devtools.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
    });
    await recording.devtools.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
    return recording;
  }

  async stop() {
    await this.devtools.send("Page.stopScreencast");
  }

  /** Returns frames that are at least `frameMs` apart, with their durations. */
  spaced() {
    const kept = [];
    // Frames may arrive in a different order than they were painted.
    for (const frame of this.frames.toSorted((a, b) => a.at - b.at)) {
      const last = kept.at(-1);
      // Of frames that are too close, the newest is shown, because it is the end of a change.
      if (last && frame.at - last.at < frameMs) last.data = frame.data;
      else kept.push({ ...frame });
    }
    return kept.map((frame, n) => ({
      data: frame.data,
      ms: n + 1 < kept.length ? Math.round(kept[n + 1].at - frame.at) : lastFrameMs,
    }));
  }

  async write(file) {
    const folder = await mkdtemp(join(tmpdir(), "deskhand-record-"));
    try {
      const options = ["-loop", "0", "-lossless", "-m", "4"];
      for (const [n, { data, ms }] of this.spaced().entries()) {
        const frame = join(folder, `${String(n).padStart(4, "0")}.png`);
        await writeFile(frame, Buffer.from(data, "base64"));
        options.push("-d", String(ms), frame);
      }
      await promisify(execFile)("img2webp", [...options, "-o", file]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Waits until the live screen has a large area of exactly this colour. */
function shows(page, what, colour) {
  const canvas = page.locator("[data-testid=screen] canvas");
  return eventually(what, async () => {
    const n = await canvas.evaluate((canvas, [red, green, blue]) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) n += 1;
      }
      return n;
    }, colour);
    return n > 2_000;
  });
}

/** Gives the demo its task, and returns when the agent has answered and the screen shows the confirmation. */
async function play(page) {
  await page.waitForTimeout(1_000);
  await page.getByRole("textbox", { name: "Message" }).pressSequentially(prompt, { delay: 45 });
  await page.waitForTimeout(400);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("log", { name: "Conversation" }).getByText(/Done in/).waitFor();
  await page.locator("[data-state=idle]").first().waitFor();
  await shows(page, "the screen shows the confirmation", [0xe3, 0xf6, 0xe8]);
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500);
}

const server = await Server.start();
let browser;
try {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"],
  });
  const context = await browser.newContext({ viewport, colorScheme: "light" });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await page.goto(server.link);
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  // The session is created beforehand, so that the recording begins with the browser running.
  const { id } = await server.api("POST", "/sessions", { title: "Ferns for Ada", model: "scripted/demo" });
  await page.goto(`${server.url}/sessions/${id}`);
  await shows(page, "the agent's browser is up", [0xf7, 0xf4, 0xee]);

  const recording = await Recording.start(page);
  await play(page);
  await recording.stop();
  await page.screenshot({ path: join(images, "session.png") });

  const file = join(images, "demo.webp");
  await recording.write(file);
  const { size } = await stat(file);
  if (size > largestBytes) throw new Error(`${file} has ${size} bytes; at most ${largestBytes} will do`);
  console.log(`${file}: ${recording.spaced().length} frames, ${Math.round(size / 1_000)} kB`);
} finally {
  await browser?.close();
  await server.end();
}

// The session page as a workplace: panels are arranged, nothing in them starts again, and the layout is remembered.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server, eventually } from "./server.js";

/** All panels, as their tabs are named, and those beside Replay. */
const ALL = "Screen Terminal Files Code Preview Network Replay";
const OTHERS = ALL.replace(" Replay", "");

const wide = { width: 1440, height: 900 };

const LOOKS = `
steps:
  - text: I look around.
    calls:
      - computer: {action: screenshot}
      - computer: {action: move, at: {x: 300, y: 200}}
  - text: That is all.
`;

let browser;
let server;

before(async () => {
  server = await Server.start({ demo: LOOKS });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

/** Returns the names of the tabs of each group, in the order of the document. */
function groups(page) {
  return page
    .getByRole("tablist", { name: "Panels" })
    .evaluateAll((lists) =>
      lists.map((list) => [...list.querySelectorAll("[role=tab]")].map((tab) => tab.textContent.trim()).join(" ")),
    );
}

function groupsAre(page, ...expected) {
  return eventually(`the groups are ${expected}`, async () => {
    const found = await groups(page);
    return found.length === expected.length && found.every((tabs, at) => tabs === expected[at]);
  });
}

/** Drags from the middle of an element to a point. */
async function drag(page, from, [x, y]) {
  const box = await from.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(x - 30, y, { steps: 4 });
  await page.mouse.move(x, y, { steps: 2 });
}

/** Runs a command that is found by a part of its name. */
async function command(page, words) {
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox", { name: "Command or session" }).fill(words);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Commands" }).waitFor({ state: "detached" });
}

/** Leaves marks that are lost if the screen or a frame in a panel starts again. */
async function mark(page) {
  await page.locator("[data-testid=screen] canvas").evaluate((canvas) => {
    canvas.isMarked = true;
  });
  await page.locator("#panel-replay").evaluate((panel) => {
    const frame = document.createElement("iframe");
    panel.append(frame);
    frame.contentWindow.isMarked = true;
  });
}

async function assertNothingStartedAgain(page) {
  const kept = await page.evaluate(() => [
    document.querySelector("[data-testid=screen] canvas").isMarked,
    document.querySelector("#panel-replay iframe").contentWindow.isMarked,
  ]);
  assert.deepEqual(kept, [true, true]);
  assert.equal(page.n_screens, 1, "the screen has connected once");
}

async function openSession() {
  const page = await openPage(browser, { viewport: wide });
  page.n_screens = 0;
  page.on("websocket", (socket) => {
    if (socket.url().endsWith("/vnc")) page.n_screens += 1;
  });
  await page.goto((await server.api("POST", "/sign-in-links")).url);
  await page.getByRole("button", { name: "Show me the demo" }).click();
  await page.waitForURL(/\/sessions\//);
  await page.getByRole("log", { name: "Conversation" }).getByText("That is all.").waitFor();
  // The server remembers the layout of the test before, in which the screen may be covered.
  await command(page, "reset layout");
  await groupsAre(page, ALL);
  await page.locator("[data-connection=connected]").waitFor();
  return page;
}

test("panels are moved, resized and maximised, nothing starts again, and the layout is remembered", async () => {
  const page = await openSession();
  await groupsAre(page, ALL);
  await page.getByRole("tab", { name: "Replay" }).click();
  await page.getByRole("slider", { name: "Screenshot" }).waitFor();
  await mark(page);
  await page.getByRole("tab", { name: "Screen" }).click();

  // A tab is dragged to the right side. Before it is dropped, its place is shown.
  const area = await page.locator("#panel-replay").boundingBox();
  await drag(page, page.getByRole("tab", { name: "Replay" }), [area.x + area.width * 0.9, area.y + area.height / 2]);
  await page.keep("workplace-drag");
  await page.mouse.up();
  await groupsAre(page, OTHERS, "Replay");
  const [left, right] = [page.locator("#panel-screen"), page.locator("#panel-replay")];
  const before = await left.boundingBox();
  assert.ok(before.x + before.width <= (await right.boundingBox()).x + 1, "the panels are side by side");

  const border = page.getByRole("separator", { name: "Border between Screen and Replay" });
  await drag(page, border, [before.x + before.width * 0.7, before.y + 300]);
  await page.mouse.up();
  assert.ok((await left.boundingBox()).width < before.width - 100, "the screen has become narrower");
  await page.keep("workplace-split");

  // The commands are about the panel that was used last.
  await page.getByRole("tab", { name: "Replay" }).click();
  await command(page, "replay: move down");
  await eventually("the panels are above each other", async () => {
    const [above, below] = [await left.boundingBox(), await right.boundingBox()];
    return above.x === below.x && above.y + above.height < below.y;
  });
  await page.getByRole("tab", { name: "Screen" }).click();
  await page.keyboard.press("m");
  await groupsAre(page, OTHERS);
  await page.keep("workplace-maximised");
  await page.keyboard.press("m");
  await groupsAre(page, OTHERS, "Replay");
  await command(page, "hide conversation");
  await page.getByRole("log", { name: "Conversation" }).waitFor({ state: "hidden" });
  await assertNothingStartedAgain(page);

  await page.reload();
  await groupsAre(page, OTHERS, "Replay");
  await page.getByRole("button", { name: "Show the conversation" }).click();
  await page.getByRole("log", { name: "Conversation" }).waitFor();
  const [above, below] = [await left.boundingBox(), await right.boundingBox()];
  assert.ok(above.x === below.x && above.y < below.y, "the layout is the same after a reload");
  await command(page, "reset layout");
  await groupsAre(page, ALL);
  await page.context().close();
});

test("shortcuts leave typing alone, and the palette leads to another session", async () => {
  const page = await openSession();
  const message = page.getByRole("textbox", { name: "Message" });
  // A page that was just opened may not hear its first key.
  const isFocused = () => message.evaluate((field) => field === document.activeElement);
  await eventually("the message has the focus", async () => {
    if (!(await isFocused())) await page.keyboard.press("/");
    return isFocused();
  });
  await page.keyboard.type("2?n/ m");
  assert.equal(await message.inputValue(), "2?n/ m");
  assert.equal(await page.getByRole("dialog").count(), 0);

  const first = page.url();
  await command(page, "new session");
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await page.keyboard.type("Look once more");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href.includes("/sessions/") && url.href !== first);
  await page.getByRole("log", { name: "Conversation" }).getByText("That is all.").waitFor();
  await page.getByRole("tab", { name: "Screen" }).focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Show Replay").waitFor();
  await page.keep("workplace-shortcuts");
  await page.keyboard.press("Escape");

  await page.keyboard.press("Control+K");
  await page.getByRole("option", { name: /Show me the demo/ }).first().waitFor();
  await page.keep("workplace-palette");
  await page.keyboard.press("Escape");
  await command(page, "take over");
  await page.getByRole("region", { name: "Screen" }).getByText("You have control").waitFor();
  // Now the keys belong to the desktop.
  await page.locator("[data-testid=screen] canvas").click();
  await page.keyboard.press("Control+K");
  await page.keyboard.press("?");
  await page.keyboard.press("Control+Alt+KeyW");
  await page.button("Take over").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);

  await page.goto(first);
  await eventually("the draft is kept", async () => (await message.inputValue()) === "2?n/ m");
  await page.context().close();
});

test("a phone shows one thing at a time, and the layout of a wide window is kept", async () => {
  const page = await openSession();
  await page.getByRole("tab", { name: "Replay" }).click();
  await page.getByRole("slider", { name: "Screenshot" }).waitFor();
  await command(page, "replay: split below");
  await groupsAre(page, OTHERS, "Replay");
  await page.getByRole("tab", { name: "Screen" }).click();
  await mark(page);

  await page.setViewportSize({ width: 360, height: 740 });
  const bar = page.getByRole("navigation", { name: "Conversation and panels" });
  const log = page.getByRole("log", { name: "Conversation" });
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  await log.waitFor();
  assert.ok(await fits(), "the conversation fits");
  await page.keep("workplace-phone-conversation");
  for (const name of ["Screen", "Replay"]) {
    await bar.getByRole("button", { name, exact: true }).click();
    await page.getByRole("region", { name, exact: true }).waitFor();
    await log.waitFor({ state: "hidden" });
    assert.ok(await fits(), `${name} fits`);
    await page.keep(`workplace-phone-${name.toLowerCase()}`);
  }
  await page.setViewportSize(wide);
  await groupsAre(page, OTHERS, "Replay");
  await assertNothingStartedAgain(page);
  await page.context().close();
});

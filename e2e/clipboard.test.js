// The clipboard between a person's own computer and the desktop, while that person has control.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { eventually, Server } from "./server.js";

const wide = { viewport: { width: 1280, height: 800 } };
const phone = { width: 390, height: 844 };
const TEXT = "from my own computer: grün, 漢字";

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

/** Returns the server's answer to a request of the user who is signed in on this page. */
function ask(page, path) {
  return page.evaluate(async (path) => {
    const answer = await fetch(path);
    return { status: answer.status, body: await answer.json() };
  }, path);
}

const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

test("whoever has control pastes their own text and copies from the desktop", async () => {
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo" });
  await server.api("POST", `/sessions/${id}/actions`, { tool: "bash", input: { shell: "run", command: "true" } });
  const page = await openPage(browser, wide);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(server.link);
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await page.goto(`${server.url}/sessions/${id}`);
  const path = `/api/sessions/${id}/clipboard`;
  assert.equal((await ask(page, path)).body.error.code, "no_control");
  await page.locator("[data-connection=connected]").waitFor();
  await page.button("Take over").click();
  await page.getByText("You have control").waitFor();

  // Paste into the desktop's browser, which shows it in its address bar. Keys are small letters: a capital one would be
  // pressed with Shift there.
  const screen = page.locator("[data-testid=screen] canvas");
  await page.evaluate((text) => navigator.clipboard.writeText(text), TEXT);
  await eventually("the address bar has the text", async () => {
    await screen.focus();
    await page.keyboard.press("Control+l");
    await page.keyboard.press("Control+v");
    await eventually("it is on the desktop's clipboard", async () => (await ask(page, path)).body.text === TEXT);
    await page.keyboard.type("!");
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Control+c");
    const deadline = Date.now() + 3000;
    while (Date.now() < deadline) if ((await copied(page)) === `${TEXT}!`) return true;
    await page.evaluate((text) => navigator.clipboard.writeText(text), TEXT);
    return false;
  });
  await page.keep("clipboard-pasted");

  // The dialog shows it, and takes another text.
  await page.button("Clipboard").click();
  const dialog = page.getByRole("dialog", { name: "Clipboard of the desktop" });
  const field = dialog.getByRole("textbox", { name: "Text on the clipboard" });
  await eventually("the dialog shows the text", async () => (await field.inputValue()) === `${TEXT}!`);
  await page.keep("clipboard-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(phone);
  await page.keep("clipboard-phone-dark");
  await page.setViewportSize(wide.viewport);
  await field.fill("another text");
  await dialog.getByRole("button", { name: "Put on the desktop" }).click();
  await dialog.waitFor({ state: "hidden" });
  assert.equal((await ask(page, path)).body.text, "another text");

  // It ends with control, and nothing is left for the agent.
  await page.button("Hand back").click();
  await page.button("Take over").waitFor();
  assert.equal((await ask(page, path)).body.error.code, "no_control");
  await page.button("Take over").click();
  await page.getByText("You have control").waitFor();
  assert.equal((await ask(page, path)).body.text, null);
});

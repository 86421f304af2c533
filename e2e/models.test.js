// Choosing models on the page, and seeing that one cannot be reached.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server } from "./server.js";


const says = (words) => `
price: {input: 4, output: 20}
steps: [{text: "${words}", usage: {input: 30000, output: 100}}]
`;

const AWAY = `
steps:
  - thinking: "Where was I"
    error: {kind: unavailable, message: "the vendor has too much to do"}
`;

let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

const open = (options) => openPage(browser, options);

async function choose(page, name) {
  await page.getByRole("button", { name: /^Model: / }).click();
  await page.getByRole("menuitemradio", { name }).click();
}

async function send(page, text) {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

test("a model for the session, another for one message, and one that is away", async () => {
  const scenarios = { first: says("I am the first."), second: says("I am the second."), away: AWAY };
  const server = await Server.start({ scenarios });
  try {
    const page = await open({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.link);
    await page.getByRole("button", { name: "Model: scripted/demo" }).click();
    // A model that cannot be used is listed with the remedy, and cannot be chosen.
    const missing = page.getByRole("menuitem", { name: /Set ANTHROPIC_API_KEY to use it/ });
    assert.equal(await missing.getAttribute("aria-disabled"), "true");
    await page.keep("models-1-picker");
    await page.getByRole("menuitemradio", { name: "first" }).click();
    await page.getByRole("button", { name: "Instructions" }).click();
    await page.getByRole("textbox", { name: "Instructions" }).fill("Be brief.");
    await page.keep("models-2-start");
    await send(page, "Who are you?");
    await page.waitForURL(/\/sessions\//);
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText("I am the first.").waitFor();

    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByRole("menuitem", { name: "Instructions…" }).click();
    const field = page.getByRole("textbox", { name: "Instructions" });
    assert.equal(await field.inputValue(), "Be brief.");
    await page.keep("models-3-instructions");
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Model: scripted/first" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Only for the next message" }).click();
    await page.getByRole("menuitemradio", { name: "second" }).click();
    await send(page, "And you?");
    await log.getByText("I am the second.").waitFor();
    await log.getByText("With second").waitFor();
    // The session keeps its own model.
    await page.getByRole("button", { name: "Model: scripted/first" }).waitFor();

    // The cost of both answers, and the budget of the day.
    await page.getByRole("button", { name: "Used: $0.24 · 60.2k tokens" }).click();
    const used = page.getByRole("dialog", { name: "Usage of models" });
    await used.getByText("$0.24 of $50.00").waitFor();
    await page.keep("models-4-used");
    await page.keyboard.press("Escape");

    // A watcher sees another model as soon as it is chosen.
    const watcher = await page.context().newPage();
    await watcher.goto(page.url());
    await watcher.getByRole("button", { name: "Model: scripted/first" }).waitFor();
    await choose(page, "away");
    const told = watcher.getByRole("log", { name: "Conversation" });
    await told.getByText("admin changed the model to scripted/away").waitFor();
    await watcher.getByRole("button", { name: "Model: scripted/away" }).waitFor();
    await watcher.close();
    await send(page, "Hello?");
    await log.getByText(/Waiting on provider — next try in \d+ s/).waitFor();
    await log.getByText("The vendor has too much to do.").waitFor();
    await log.getByText(/Thought.*, cut off/).first().waitFor();
    // A waiting message uses the session's model until it is given another.
    await send(page, "Anybody?");
    await log.getByRole("button", { name: "Model: scripted/away" }).click();
    await page.keep("models-5-waiting-on-provider");
    await page.getByRole("menuitemradio", { name: "second" }).click();
    await log.getByRole("button", { name: "Model: scripted/second" }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await log.getByText(/^Stopped after/).waitFor();
    await log.getByText("Stopped. 1 message is waiting.").waitFor();
    await page.getByRole("button", { name: "Send next" }).click();
    await log.getByText("I am the second.").nth(1).waitFor();
    assert.equal(await log.getByText(/Waiting on provider/).count(), 0);
    await page.context().close();
  } finally {
    await server.end();
  }
});

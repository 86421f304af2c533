// The page as a person uses it, in a real browser, with a real server and real sandboxes. Screenshots of every
// stage are kept in e2e/results/.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server, eventually } from "./server.js";

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

const open = (options) => openPage(browser, options);

/** Returns a number that changes when the picture on the screen's canvas does. */
function canvasMark(page) {
  return page.locator("[data-testid=screen] canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let mark = canvas.width;
    for (let at = 0; at < data.length; at += 4) {
      mark = (mark * 31 + data[at] * 65_536 + data[at + 1] * 256 + data[at + 2]) % 4_294_967_291;
    }
    return mark;
  });
}

/** Returns the number of pixels of the canvas that have exactly this colour. */
function canvasPixels(page, colour) {
  return page.locator("[data-testid=screen] canvas").evaluate((canvas, [red, green, blue]) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count += 1;
    }
    return count;
  }, colour);
}

test("from the sign-in link to the answer, with the screen alive", async () => {
  const server = await Server.start();
  try {
    const page = await open(wide);
    await page.goto(server.link);
    await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
    assert.equal(page.url(), `${server.url}/`, "the code is gone from the address bar");
    await page.keep("1-sessions");

    await page.getByRole("button", { name: "Show me the demo" }).click();
    await page.waitForURL(/\/sessions\//);
    await page.locator("[data-testid=screen][data-connection=connected], [data-connection=connected]").first().waitFor();

    const marks = new Set();
    await eventually("the screen has changed", async () => marks.add(await canvasMark(page)).size > 3);
    await page.keep("2-working");
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText(/Done in/).waitFor();
    await log.getByText(/1001/).first().waitFor();
    const banner = [0xe3, 0xf6, 0xe8];
    await eventually("the screen shows the shop's confirmation", async () => (await canvasPixels(page, banner)) > 2_000);
    await page.locator("[data-state=idle]").first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop", exact: true }).count(), 0);
    await page.keep("3-answer");

    await page.getByRole("button", { name: "Enlarge screenshot" }).first().click();
    // The first picture in sight is the last one of some work.
    const [, number] = (await page.getByText(/Screenshot \d+ of/).textContent()).match(/(\d+) of/);
    const [key, next] = number === "1" ? ["ArrowRight", 2] : ["ArrowLeft", number - 1];
    await page.keyboard.press(key);
    await page.getByText(`Screenshot ${next} of`).waitFor();
    await page.keep("4-screenshot");
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByRole("menuitem", { name: "End session…" }).click();
    await page.getByRole("button", { name: "End session" }).click();
    await page.locator("[data-state=terminated]").first().waitFor();
    assert.ok(await page.getByRole("textbox", { name: "Message" }).isDisabled());
    await page.keep("5-ended");
    await page.context().close();
  } finally {
    await server.end();
  }
});

test("a used link says how to get a new one", async () => {
  const server = await Server.start();
  try {
    const page = await open(wide);
    await page.goto(server.link);
    await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
    const stranger = await open(wide);
    await stranger.goto(server.link);
    await stranger.getByText("deskhand login").first().waitFor();
    await stranger.keep("6-used-link");
    await stranger.context().close();
    await page.context().close();
  } finally {
    await server.end();
  }
});

test("on a phone, in the dark, through a crash of the server", async () => {
  const server = await Server.start();
  try {
    const page = await open({ ...phone, colorScheme: "dark" });
    await page.goto(server.link);
    await page.getByRole("textbox", { name: "Message" }).fill("Show me the demo");
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/sessions\//);
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText(/open the shop/i).first().waitFor();

    await server.kill();
    await page.getByText("Reconnecting…").first().waitFor();
    await page.keep("7-phone-reconnecting");
    await server.runAgain();
    await log.getByText(/The server was restarted\. The agent goes on\./).waitFor();

    await page.getByRole("textbox", { name: "Message" }).fill("Once more");
    await page.getByRole("button", { name: "Send" }).click();
    await log.getByText(/Done in/).waitFor({ timeout: 180_000 });
    await page.keep("8-phone-answer");
    const prompts = await log.getByText("Show me the demo", { exact: true }).count();
    assert.equal(prompts, 1, "nothing is shown twice after the reconnection");
    await page.context().close();
  } finally {
    await server.end();
  }
});

const STUBBORN = `
turns:
  - steps:
      - text: This takes an hour.
        calls:
          - bash: {command: sleep 3600}
      - text: Done.
  - steps:
      - text: "Now I do what I am told: {{ prompt }}"
`;

test("messages that wait can be changed, and one can interrupt", async () => {
  const server = await Server.start({ demo: STUBBORN });
  try {
    const page = await open(wide);
    await page.goto(server.link);
    await page.getByRole("button", { name: "Show me the demo" }).click();
    await page.waitForURL(/\/sessions\//);
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText("This takes an hour.").waitFor();
    const send = async (text) => {
      await page.getByRole("textbox", { name: "Message" }).fill(text);
      await page.getByRole("button", { name: "Send" }).click();
      // The agent may have repeated it already.
      await log.getByText(text, { exact: true }).first().waitFor();
    };
    await send("Water the plants");
    await send("Buy some milk");
    await page.keep("9-waiting");

    const change = (nth) => page.getByRole("button", { name: "Change this message" }).nth(nth);
    await change(0).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Waiting message" }).fill("Water the trees");
    await page.getByRole("button", { name: "Save" }).click();
    // While the message is edited it has no menu, and the field contains the same text.
    await page.getByRole("textbox", { name: "Waiting message" }).waitFor({ state: "detached" });
    await log.getByText("Water the trees", { exact: true }).waitFor();
    await change(0).click();
    await page.keep("10-waiting-menu");
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await log.getByText("Water the trees", { exact: true }).waitFor({ state: "detached" });

    await page.getByRole("button", { name: /When the agent sees it/ }).click();
    await page.getByRole("menuitemradio", { name: "Now: interrupt it" }).click();
    await send("Put the kettle on");
    await log.getByText(/Interrupted after/).waitFor();
    await log.getByText(/Now I do what I am told: .*Put the kettle on/s).waitFor();
    await log.getByText(/Now I do what I am told: .*Buy some milk/s).waitFor();
    await page.keep("11-interrupted");
    await page.context().close();
  } finally {
    await server.end();
  }
});

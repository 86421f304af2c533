// Two people in one terminal, and the agent's shell.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server } from "./server.js";

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { width: 390, height: 844 };

const WORK = `
turns:
  - steps:
      - text: I look around.
        calls:
          - bash: {command: "ls -la /; echo looked at $((2*3)) things"}
      - text: Done.
`;

let browser;
let server;

before(async () => {
  server = await Server.start({ demo: WORK });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

/** Sends a request to the server as the user who is signed in on this page. */
function ask(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const answer = await fetch(path, { method, body: body && JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === "" ? null : JSON.parse(text);
    },
    [method, path, body],
  );
}

/** Shows the panel, and returns the part of the page that it is. */
async function showTerminals(page) {
  await page.getByRole("tab", { name: "Terminal", exact: true }).click();
  return page.getByRole("region", { name: "Terminal" });
}

/** Waits until a terminal shows a text. */
async function shows(panel, number, text) {
  const rows = panel.getByTestId(`terminal-${number}`).locator(".xterm-rows");
  await rows.getByText(text).first().waitFor();
}

async function isConnected(panel, number) {
  await panel.locator(`[data-testid=terminal-${number}][data-connection=connected]`).waitFor();
}

test("two people type into one terminal, and a reload replays it", async () => {
  const admin = await openPage(browser, wide);
  await admin.goto(server.link);
  await admin.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  const user = await ask(admin, "POST", "/api/users", { name: "bob" });
  const { url: link } = await ask(admin, "POST", `/api/users/${user.id}/sign-in-links`);
  await admin.getByRole("textbox").first().fill("Look around");
  await admin.keyboard.press("Enter");
  await admin.waitForURL(/\/sessions\//);
  await admin.getByRole("log", { name: "Conversation" }).getByText("Done.").waitFor();
  const session = `/api${new URL(admin.url()).pathname}`;
  await ask(admin, "PUT", `${session}/people/bob`, { right: "drive" });

  // The agent's commands are shown, and nobody types there.
  const own = await showTerminals(admin);
  await shows(own, 0, "looked at 6 things");
  await own.getByText("You can only watch.").waitFor();
  await admin.keep("terminal-agent");

  await own.getByRole("button", { name: "New terminal" }).click();
  await isConnected(own, 1);
  await admin.keyboard.type("PS1='$ '; echo from admin $((40+2))\n");
  await shows(own, 1, "from admin 42");

  const bob = await openPage(browser, wide);
  await bob.goto(link);
  await bob.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await bob.goto(admin.url());
  const bobs = await showTerminals(bob);
  await shows(bobs, 1, "from admin 42");
  await isConnected(bobs, 1);
  await bob.keyboard.type("echo from bob $((1+6))\n");
  await shows(own, 1, "from bob 7");

  // Names are for everybody.
  await own.getByRole("button", { name: "Terminal menu" }).click();
  await admin.getByRole("menuitem", { name: "Rename" }).click();
  await admin.getByRole("textbox", { name: "Name" }).fill("build");
  await admin.keyboard.press("Enter");
  await own.getByRole("tab", { name: "build" }).waitFor();
  await bobs.getByRole("tab", { name: "build" }).waitFor();
  await admin.keep("terminal-light");

  await admin.reload();
  const again = await showTerminals(admin);
  await again.getByRole("tab", { name: "build" }).click();
  await shows(again, 1, "from bob 7");
  await isConnected(again, 1);

  // Search, in the output.
  await again.getByRole("button", { name: "Search the output" }).click();
  await admin.getByRole("searchbox", { name: "Search the output" }).fill("from bob 7");
  await admin.keyboard.press("Enter");
  await again.getByRole("button", { name: "Copy", exact: true }).waitFor();
  await admin.keep("terminal-search");
  await admin.keyboard.press("Escape");

  // While bob has control, the others watch, and his earlier terminals are paused.
  await ask(bob, "PUT", `${session}/lease`, {});
  await again.getByText("bob has control, so only they can type.").waitFor();
  await bobs.getByText("Paused while you have control.").waitFor();
  await admin.emulateMedia({ colorScheme: "dark" });
  await admin.keep("terminal-dark-watching");
  await ask(bob, "DELETE", `${session}/lease`);
  await again.locator("[data-testid=terminal-1][data-read-only='']").waitFor();

  // On a phone there is one thing at a time. Whoever only watches sees all lines, in smaller letters.
  await ask(admin, "PUT", `${session}/lease`, {});
  await bob.setViewportSize(phone);
  const switcher = bob.getByRole("navigation", { name: "Conversation and panels" });
  await switcher.getByRole("button", { name: "Terminal" }).click();
  const grid = bobs.locator("[data-testid=terminal-1] .xterm-screen");
  await grid.waitFor();
  await bob.waitForFunction(() => {
    const screen = document.querySelector("[data-testid=terminal-1] .xterm-screen");
    const place = screen?.closest(".overflow-auto");
    return place && screen.getBoundingClientRect().bottom <= place.getBoundingClientRect().bottom + 1;
  });
  await bob.keep("terminal-phone-watching");
  await ask(admin, "DELETE", `${session}/lease`);
  await bobs.locator("[data-testid=terminal-1][data-read-only='']").waitFor();
  await bob.keep("terminal-phone");
  await bob.setViewportSize(wide.viewport);

  // The output of a program does nothing but paint: it sets no title, and not the clipboard.
  await admin.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await admin.bringToFront();
  await admin.evaluate(() => navigator.clipboard.writeText("mine"));
  const title = await admin.title();
  await again.locator("[data-testid=terminal-1] .xterm").click();
  await admin.keyboard.type("printf '\\033]0;evil\\a\\033]52;c;ZXZpbA==\\a%s\\n' painted; exit 3\n");
  await again.getByText("Ended with exit code 3.").waitFor();
  assert.equal(await admin.title(), title);
  assert.equal(await admin.evaluate(() => navigator.clipboard.readText()), "mine");
  await admin.keep("terminal-ended");
});

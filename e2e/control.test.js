// Two people and an agent at one computer: one has control, the others watch.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server } from "./server.js";

const wide = { viewport: { width: 1280, height: 800 } };
const phone = { width: 390, height: 844 };

const WORK = `
turns:
  - steps:
      - text: This takes an hour.
        calls:
          - bash: {command: sleep 3600}
      - expect: {handed_back: ["bob had mouse and keyboard", "how it looks now"]}
        text: "I was told: {{ handed_back }}"
  - steps:
      - text: Gladly.
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

async function open(options) {
  const page = await openPage(browser, options);
  page.log = page.getByRole("log", { name: "Conversation" });
  page.screen = page.getByRole("region", { name: "Screen" });
  return page;
}

/** Sends a request to the server as the user who is signed in on this page. */
function ask(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const init = { method, body: body && JSON.stringify(body) };
      const answer = await fetch(path, init);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === "" ? null : JSON.parse(text);
    },
    [method, path, body],
  );
}

/** Returns the position of the desktop's pointer. Only the user in control may ask. */
async function pointer(page, session) {
  const body = { tool: "computer", input: { action: "cursor_position" } };
  return (await ask(page, "POST", `${session}/actions`, body)).text;
}

/** Clicks at a position of the desktop, on the page's live screen. */
async function clickScreen(page, [x, y]) {
  const canvas = page.locator("[data-testid=screen]");
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + (box.width * x) / 1024, box.y + (box.height * y) / 768);
}

/** Moves the pointer with RFB messages that no page would send, and waits until the server has read them. */
function forge(page, session) {
  return page.evaluate(
    (path) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(path.replace(/^/, `ws://${location.host}`), "binary");
        socket.binaryType = "arraybuffer";
        const said = [
          [...new TextEncoder().encode("RFB 003.008\n")],
          [1],
          [1],
          // Moves the pointer to (9, 9), presses a key, and requests one pixel, whose update ends this.
          [5, 1, 0, 9, 0, 9, 4, 1, 0, 0, 0, 0, 0, 97, 3, 0, 0, 0, 0, 0, 0, 1, 0, 1],
        ];
        let n_heard = 0;
        socket.onmessage = ({ data }) => {
          n_heard += data.byteLength;
          // The version, the security types, the security result, and the size of the screen.
          const due = [12, 14, 18, 42][4 - said.length];
          if (said.length > 0 && n_heard >= due) socket.send(new Uint8Array(said.shift()));
          else if (said.length === 0) resolve(socket.close());
        };
        socket.onclose = () => reject(new Error("the screen was closed"));
      }),
    `${session}/vnc`,
  );
}

test("somebody takes over, the others watch, and the agent is told", async () => {
  const admin = await open(wide);
  await admin.goto(server.link);
  await admin.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  const user = await ask(admin, "POST", "/api/users", { name: "bob" });
  const { url: link } = await ask(admin, "POST", `/api/users/${user.id}/sign-in-links`);
  await admin.getByRole("textbox").first().fill("Work for an hour");
  await admin.keyboard.press("Enter");
  await admin.waitForURL(/\/sessions\//);
  await admin.log.getByText("This takes an hour.").waitFor();
  await admin.screen.getByText("The agent has control").waitFor();
  await admin.keep("control-agent");
  const session = `/api${new URL(admin.url()).pathname}`;
  await ask(admin, "PUT", `${session}/people/bob`, { right: "drive" });

  const bob = await open(wide);
  await bob.goto(link);
  await bob.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await bob.goto(admin.url());
  for (const page of [admin, bob]) {
    for (const name of ["admin", "bob"]) {
      await page.getByRole("list", { name: "Here now" }).getByRole("img", { name, exact: true }).waitFor();
    }
    await page.locator("[data-connection=connected]").waitFor();
  }

  // Each message has its author.
  await bob.getByRole("textbox", { name: "Message" }).fill("And greet me");
  await bob.keyboard.press("Enter");
  await admin.log.getByText("And greet me").waitFor();
  await admin.log.getByText("bob", { exact: true }).waitFor();
  await bob.log.getByText("admin", { exact: true }).waitFor();

  await bob.button("Take over").click();
  // The agent's command ends with it.
  const dialog = bob.getByRole("alertdialog", { name: "Take over and end a running command?" });
  await dialog.getByText("sleep 3600").waitFor();
  await dialog.getByRole("button", { name: "Take over" }).click();
  await bob.screen.getByText("You have control").waitFor();
  await bob.screen.getByRole("timer", { name: "Time left" }).waitFor();
  await admin.screen.getByText("bob has control, you are watching").waitFor();
  await admin.log.getByText("bob took over mouse and keyboard").waitFor();
  await admin.log.getByText("Waiting until bob hands back").waitFor();
  await bob.log.getByText("Waiting until you hand back").waitFor();
  await bob.keep("control-mine");
  await admin.keep("control-theirs");

  // Only bob's input reaches the desktop.
  await clickScreen(bob, [512, 384]);
  await clickScreen(admin, [100, 100]);
  await forge(admin, session);
  const at = await pointer(bob, session);
  const [x, y] = at.match(/\d+/g).map(Number);
  assert.ok(Math.abs(x - 512) < 4 && Math.abs(y - 384) < 4, at);

  await bob.setViewportSize(phone);
  await bob.emulateMedia({ colorScheme: "dark" });
  await bob.keep("control-mine-phone-dark");
  await bob.setViewportSize(wide.viewport);
  await bob.button("Hand back").click();
  await admin.log.getByText("bob handed back").waitFor();
  await admin.log.getByText(/I was told: \[bob had mouse and keyboard and gave them back/).first().waitFor();
  await admin.log.getByText("Gladly.").waitFor();
  await admin.keep("control-handed-back");

  // The owner may take control from another person, who is told.
  await bob.button("Take over").click();
  await bob.screen.getByText("You have control").waitFor();
  await admin.button("Take over from bob").click();
  await admin.screen.getByText("You have control").waitFor();
  await bob.getByText("admin took over from you.").waitFor();
  assert.ok(await bob.button("Take over from admin").isDisabled());
  await bob.keep("control-lost-dark");
  await admin.button("Keep for 5 min").click();
  // The keyboard's chord hands control back.
  await clickScreen(admin, [512, 384]);
  await admin.keyboard.press("Control+Alt+KeyW");
  await bob.log.getByText("admin handed back").waitFor();
  await admin.button("Take over").waitFor();

  // Messages keep their author even after the author has lost access.
  await ask(admin, "DELETE", `${session}/people/bob`);
  await bob.getByText("There is no such session").waitFor();
  await admin.reload();
  await admin.log.getByText("And greet me").waitFor();
  await admin.log.getByText("bob", { exact: true }).waitFor();
  await admin.keep("control-after");
});

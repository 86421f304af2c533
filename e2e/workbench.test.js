// The session page as a place to work: VS Code, a host that is allowed on the way, and every panel as people see it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { launch, launchWithProfile, openPage, openTab } from "./browser.js";
import { eventually, notRun, Server } from "./server.js";

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const codeFolder = process.env.DESKHAND_APPS_CODE_SERVER ?? "/opt/deskhand-code";
const hasCode = existsSync(join(codeFolder, "code-server/node_modules/code-server/package.json"));

// An address of the public internet, at which the test's own proxy answers.
const AFAR = "93.184.216.34";

const FETCHES = `
steps:
  - text: I get the list.
    calls:
      - bash: {command: "curl -sS --max-time 100 http://${AFAR}/list"}
  - text: "It says: {{ result.1 }}"
`;

const LOOKS = `
steps:
  - text: I look around.
    calls:
      - computer: {action: screenshot}
      - bash: {command: "mkdir -p ~/site && echo '<h1>Hello</h1>' > ~/site/index.html && ls -la"}
      - computer: {action: move, at: {x: 300, y: 200}}
  - text: That is all.
`;

let browser;
let server;
let afar;

before(async () => {
  // The proxy through which the server reaches the internet. It answers itself, whatever address it is asked for.
  afar = createServer();
  afar.on("connect", (request, socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\ntea and biscuit"));
  });
  await new Promise((resolve) => afar.listen(0, "127.0.0.1", resolve));
  const env = { DESKHAND_NETWORK_PROXY: `http://127.0.0.1:${afar.address().port}` };
  server = await Server.start({ demo: LOOKS, scenarios: { fetches: FETCHES }, env });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
  afar?.close();
});

async function signedIn(options) {
  return signIn(await openPage(browser, options));
}

async function signIn(page) {
  await page.goto((await server.api("POST", "/sign-in-links")).url);
  await page.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  page.open = (session, panel) => page.goto(`${server.url}/sessions/${session}${panel ? `?panel=${panel}` : ""}`);
  page.log = page.getByRole("log", { name: "Conversation" });
  return page;
}

test("a blocked host is allowed on the page, and the program goes on", async () => {
  const page = await signedIn({ viewport: wide });
  const network = { mode: "allow", allow: [] };
  const { id } = await server.api("POST", "/sessions", { model: "scripted/fetches", network });
  await page.open(id, "network");
  await page.getByRole("textbox", { name: "Message" }).fill("Get the list");
  await page.keyboard.press("Enter");
  // The browser of the desktop may have questions of its own.
  const question = page.log.getByRole("region", { name: "Network" }).filter({ hasText: AFAR });
  const allow = question.getByRole("button", { name: "Allow in this session" });
  await allow.waitFor();
  await page.keep("workbench-1-blocked");
  await allow.click();
  await page.log.getByText("It says: tea and biscuit").waitFor();
  // The panel shows whom the program contacted.
  await page.getByRole("tabpanel", { name: "Network" }).getByText(AFAR).first().waitFor();
  await page.keep("workbench-2-allowed");
  await page.context().close();
});

test("VS Code opens a file, and its edit appears in the terminal", async (t) => {
  if (!hasCode) {
    await notRun(t, "VS Code is not installed; `scripts/setup code` installs it");
    return;
  }
  const { id } = await server.api("POST", "/sessions", { model: "scripted/demo" });
  await server.shell(id, "echo one > ~/notes.txt");
  // A browser that blocks third-party cookies gives VS Code no storage in a frame. The person learns what to do.
  const blocking = await signedIn({ viewport: wide });
  await blocking.open(id, "code");
  const blocked = blocking.frameLocator("#panel-code iframe").getByText("Your browser blocks storage here");
  await blocked.waitFor();
  await blocking.keep("workbench-3-code-blocked");
  await blocking.context().close();

  const context = await launchWithProfile(join(server.folder, "profile"), { viewport: wide });
  t.after(() => context.close());
  const page = await signIn(await openTab(context));
  await page.open(id, "code");
  const code = page.frameLocator("#panel-code iframe");
  await code.getByRole("treeitem", { name: /notes\.txt/ }).dblclick();
  const editor = code.locator(".monaco-editor .view-lines").first();
  await editor.getByText("one").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("two and three");
  await page.keyboard.press("Control+S");
  await page.keep("workbench-3-code");
  await page.getByRole("tab", { name: "Terminal" }).click();
  const terminal = page.getByRole("region", { name: "Terminal" });
  await terminal.getByRole("button", { name: "New terminal" }).first().click();
  await terminal.locator("[data-testid=terminal-1][data-connection=connected]").click();
  await page.keyboard.type("grep -n three notes.txt\n");
  await terminal.getByText("2:two and three").first().waitFor();
  // VS Code is not one of the programs that are offered as previews.
  assert.deepEqual((await server.api("GET", `/sessions/${id}/ports`)).ports, []);

  // Whoever takes over is warned, and VS Code is opened again.
  await page.getByRole("tab", { name: "Screen" }).click();
  await page.locator("[data-connection=connected]").first().waitFor();
  await page.button("Take over").click();
  const dialog = page.getByRole("alertdialog", { name: "Take over while VS Code is open?" });
  await page.keep("workbench-4-take-over");
  await dialog.getByRole("button", { name: "Take over" }).click();
  await page.button("Hand back").waitFor();
  await page.getByRole("tab", { name: "Code" }).click();
  await page.getByText("VS Code starts again when you hand back").waitFor();
  await code.getByRole("treeitem", { name: /notes\.txt/ }).waitFor();
  await page.keep("workbench-5-code-in-control");
});

test("every panel is shown in light, in dark and on a phone", async () => {
  const page = await signedIn({ viewport: wide });
  await page.button("Show me the demo").click();
  await page.waitForURL(/\/sessions\//);
  await page.log.getByText("That is all.").waitFor();
  const session = page.url().split("/").at(-1);
  await server.shell(session, "cd ~/site; setsid python3 -m http.server 3000 >/dev/null 2>&1 &");
  await server.listens(session, 3000);
  const ready = {
    Screen: () => page.locator("[data-testid=screen] canvas").waitFor(),
    Terminal: () => page.getByRole("region", { name: "Terminal" }).waitFor(),
    Files: () => page.getByRole("region", { name: "Files" }).getByText("site").first().waitFor(),
    Code: () => (hasCode ? page.locator("#panel-code iframe") : page.getByText("VS Code is not installed")).waitFor(),
    Preview: () => page.frameLocator("#panel-preview iframe").getByText("Hello").waitFor(),
    Network: () => page.getByRole("region", { name: "Network" }).waitFor(),
    Replay: () => page.getByRole("slider", { name: "Screenshot" }).waitFor(),
  };
  for (const [name, isReady] of Object.entries(ready)) {
    await page.getByRole("tab", { name }).click();
    await isReady();
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.keep(`workbench-${name.toLowerCase()}-${colorScheme}`);
    }
  }
  await page.setViewportSize(phone);
  const bar = page.getByRole("navigation", { name: "Conversation and panels" });
  const fits = (element) => element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
  await eventually("the bar shows everything", () => fits(bar));
  await page.emulateMedia({ colorScheme: "light" });
  for (const [name, isReady] of Object.entries(ready)) {
    await bar.getByRole("button", { name, exact: true }).click();
    await isReady();
    assert.ok(await fits(page.locator("html")), `${name} fits`);
    await page.keep(`workbench-${name.toLowerCase()}-phone`);
  }
  await bar.getByRole("button", { name: "Conversation", exact: true }).click();
  await page.keep("workbench-conversation-phone");
  await page.context().close();
});

test("a session without a screen shows the page in its browser", async () => {
  const page = await signedIn({ viewport: wide });
  await page.button("Computer: Desktop").click();
  await page.keep("workbench-6-computers");
  await page.getByRole("menuitemradio", { name: /Browser only/ }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Look around");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sessions\//);
  // Another test may have left another panel in front.
  await page.getByRole("tab", { name: "Screen" }).click();
  // The demo of this server looks at the screen, which is refused.
  await page.log.getByText("That is all.").waitFor();
  await page.getByText("No page is open yet.").waitFor();
  const session = page.url().split("/").at(-1);
  assert.equal((await server.api("GET", `/sessions/${session}`)).computer, "browser");
  const html = "<body style='font: 32px sans-serif; background: #fdf6e3'><h1>Tea and biscuits</h1>";
  await server.shell(session, `mkdir site; cd site; echo "${html}" > index.html; setsid python3 -m http.server 3000 >/dev/null 2>&1 &`);
  await server.listens(session, 3000);
  const open = { tool: "browser", input: { action: "navigate", url: "http://localhost:3000/" } };
  await server.api("POST", `/sessions/${session}/actions`, open);
  const picture = page.getByRole("img", { name: "The page in the agent’s browser" });
  await eventually("the page is shown", () => picture.evaluate((image) => image.naturalWidth === 1280).catch(() => false));
  assert.equal(await page.button("Take over").count(), 0);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.keep(`workbench-7-page-${colorScheme}`);
  }
  await page.setViewportSize(phone);
  await page.getByRole("navigation", { name: "Conversation and panels" }).getByRole("button", { name: "Screen" }).click();
  await picture.waitFor();
  await page.keep("workbench-7-page-phone");
  await page.context().close();
});

// Two people in one session, each in their own browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server } from "./server.js";

const wide = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

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

const open = (options) => openPage(browser, options);

const button = (page, name) => page.getByRole("button", { name, exact: true });
const here = (page, name) =>
  page.getByRole("list", { name: "Here now" }).getByRole("img", { name, exact: true });

/** Greets an MCP server, as a client does. */
function greet(url, token) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a client", version: "1" } };
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
}

test("a client connects with the configuration that the page writes", async () => {
  const page = await open(wide);
  const { url } = await server.api("POST", "/sign-in-links", {});
  await page.goto(url);
  await button(page, "Account and theme").click();
  await page.getByRole("menuitem", { name: "Connect your agent" }).click();
  await page.getByRole("heading", { name: "Connect your agent" }).waitFor();
  await button(page, "Create a token").click();
  await page.getByText("No client has used it yet.").waitFor();
  await page.keep("connect");
  await page.setViewportSize(phone.viewport);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "it fits");
  await page.keep("connect-phone-dark");
  const configuration = page.getByRole("region", { name: "Configuration" });
  await configuration.getByRole("button", { name: "Show the token" }).click();
  const text = await configuration.locator("code").last().innerText();
  const [, address, token] = text.match(/deskhand (\S+) --header "Authorization: Bearer (\S+)"/) ?? [];
  assert.equal((await greet(address, token)).status, 200, text);
  await page.getByText("Your client has connected.").waitFor();
  await page.context().close();
});

test("an administrator brings somebody in, shares a session and takes it back", async () => {
  const admin = await open(wide);
  await admin.goto(server.link);
  await button(admin, "Account and theme").click();
  await admin.getByRole("menuitem", { name: "Settings" }).click();
  await admin.getByRole("textbox", { name: "Name", exact: true }).fill("bob");
  await button(admin, "Add a user").click();
  const link = await admin.getByRole("textbox", { name: "Sign-in link" }).inputValue();
  await admin.getByRole("textbox", { name: "Purpose" }).fill("nightly build");
  await button(admin, "Create a token").click();
  const token = await admin.getByRole("textbox", { name: "New token" }).inputValue();
  assert.match(token, /^dh_/);
  await admin.getByText("nightly build", { exact: false }).first().waitFor();
  await admin.getByRole("textbox", { name: "Name of the secret" }).fill("bank");
  await admin.getByLabel("Value").fill("open sesame");
  await admin.getByRole("textbox", { name: "Sites" }).fill("https://bank.example");
  await button(admin, "Store the secret").click();
  await button(admin, "Remove bank").waitFor();
  await admin.getByText("https://bank.example · never used").waitFor();
  await admin.keep("settings");
  await button(admin, "Remove bank").click();
  await button(admin, "Remove").click();
  await button(admin, "Remove bank").waitFor({ state: "detached" });
  await admin.setViewportSize(phone.viewport);
  await admin.keep("settings-phone");
  await admin.setViewportSize(wide.viewport);

  await admin.getByRole("link", { name: "All sessions" }).click();
  await admin.getByRole("textbox").first().fill("Show me the demo");
  await admin.keyboard.press("Enter");
  await button(admin, "Share").click();
  await admin.getByLabel("Right of the link").selectOption("suggest");
  await button(admin, "Create a link").click();
  const share = await admin.getByRole("textbox", { name: "New link" }).inputValue();
  await admin.keep("share");
  await admin.keyboard.press("Escape");

  // A person who only has the link has to sign in first, and then arrives at the session.
  const bob = await open(phone);
  await bob.goto(share);
  await bob.getByRole("textbox", { name: "Sign-in link or code" }).fill(link);
  await button(bob, "Sign in").click();
  await bob.getByText("You may suggest").waitFor();
  assert.ok(!bob.url().includes("share="), bob.url());
  await here(bob, "admin").waitFor();
  await here(admin, "bob").waitFor();
  assert.equal(await button(bob, "Take over").count(), 0);
  assert.equal(await button(bob, "Share").count(), 0);

  await bob.getByRole("textbox", { name: "Message" }).fill("And then once more");
  // On a phone, Enter begins a new line.
  await button(bob, "Send").click();
  const log = admin.getByRole("log", { name: "Conversation" });
  await log.getByText("And then once more").waitFor();
  await log.getByText("bob", { exact: true }).waitFor();
  await admin.keep("two-people");
  await bob.keep("two-people-phone");

  // A greater right shows up by itself, and so does its end.
  await button(admin, "Share").click();
  await admin.getByLabel("Right of bob").selectOption("drive");
  // A phone shows one thing at a time.
  await button(bob, "Screen").click();
  await button(bob, "Take over").waitFor();
  await admin.emulateMedia({ colorScheme: "dark" });
  await admin.keep("share-dark");
  await admin.setViewportSize(phone.viewport);
  await admin.keep("share-phone");
  await button(admin, "Remove bob").click();
  await button(admin, "Remove").click();
  await bob.getByText("There is no such session").waitFor();
  await admin.keyboard.press("Escape");
  await here(admin, "bob").waitFor({ state: "detached" });
});

test("a session is offered, and is the other's when they accept", async () => {
  const admin = await open(wide);
  const { url: mine } = await server.api("POST", "/sign-in-links", {});
  await admin.goto(mine);
  await admin.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  const user = await server.api("POST", "/users", { name: "eve" });
  const { url: link } = await server.api("POST", `/users/${user.id}/sign-in-links`, {});
  await admin.getByRole("textbox").first().fill("Show me the demo");
  await admin.keyboard.press("Enter");
  await button(admin, "Share").click();
  await admin.getByRole("textbox", { name: "Name of the new owner" }).fill("eve");
  await button(admin, "Offer").click();
  await admin.getByText("Offered to eve").waitFor();
  await admin.keep("offered");
  await admin.keyboard.press("Escape");

  const eve = await open(phone);
  await eve.goto(link);
  await eve.getByRole("link", { name: "1 thing for you" }).click();
  await eve.getByText("admin offers you the session").waitFor();
  await eve.keep("offer-phone");
  await button(eve, "Accept").click();
  await eve.getByText("eve accepted the session from admin and is its owner").waitFor();
  await admin.getByText("You may view", { exact: true }).waitFor();

  // A link to somebody else's account asks first.
  const { url: other } = await server.api("POST", "/sign-in-links", {});
  await eve.goto(other);
  await eve.getByRole("heading", { name: "You are eve. Sign in as admin instead?" }).waitFor();
  await eve.keep("other-user-phone");
  await button(eve, "Stay signed in as eve").click();
  await button(eve, "Account and theme").click();
  await eve.getByText("Signed in as eve").waitFor();
  await eve.getByRole("menuitem", { name: "Settings" }).click();
  await eve.getByText("this browser").waitFor();
  await eve.getByText("accepted a session of admin", { exact: false }).waitFor();
  await eve.keep("sign-ins-phone");
});

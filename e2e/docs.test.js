// The page of the HTTP API as a person reads it: rendered from the binary alone, within its own content policy.
import assert from "node:assert/strict";
import { test } from "node:test";

import { launch } from "./browser.js";
import { Server } from "./server.js";

test("the page of the API is drawn without anything from elsewhere, and tries a route", async () => {
  const server = await Server.start();
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(`${error}`));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && origin !== server.url) complaints.push(request.url());
    });
    await page.goto(server.link);
    await page.getByRole("textbox").first().waitFor();
    await page.goto(`${server.url}/api/docs`);

    const route = page.locator("#operations-people-me");
    await route.locator(".opblock-summary-control").click();
    await route.getByRole("button", { name: "Try it out" }).click();
    await route.getByRole("button", { name: "Execute" }).click();
    await route.locator(".live-responses-table").getByText("200").first().waitFor();

    await page.locator("#operations-sessions-follow_events").waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await server.end();
  }
});

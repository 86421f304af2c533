// A person's browser, whose pages fail the test if they throw an error.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";

const results = join(import.meta.dirname, "results");

/**
 * Features of Chromium that get in the way. It heeds only the last list of them, so this one also has what the walks
 * need of Playwright's own. The pages for suggestions below the address take longer to start than all of the rest.
 */
const disabledFeatures = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "GlobalMediaControls",
  "HttpsUpgrades",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "Translate",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxPopup",
];

const program = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    `--disable-features=${disabledFeatures.join(",")}`,
  ],
};

/** Starts a browser, and creates the folder for screenshots of its pages. */
export async function launch() {
  await mkdir(results, { recursive: true });
  return chromium.launch(program);
}

/**
 * Starts a browser that allows third-party cookies, with a profile in `folder`, and returns its context.
 *
 * The contexts of other browsers are private windows, which block them, and so does Debian's Chromium by itself.
 */
export async function launchWithProfile(folder, options) {
  const preferences = { profile: { block_third_party_cookies: false, cookie_controls_mode: 0 } };
  await mkdir(join(folder, "Default"), { recursive: true });
  await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(folder, { ...program, ...options });
  context.setDefaultTimeout(60_000);
  return context;
}

/**
 * Opens a page in a new context, which is not signed in.
 *
 * `page.keep(name)` keeps a screenshot in e2e/results/, and `page.button(name)` finds a button by its exact name.
 */
export async function openPage(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000);
  return openTab(context);
}

/** Opens another page in the same context, signed in as the others are. */
export async function openTab(context) {
  const page = await context.newPage();
  page.on("pageerror", (error) => assert.fail(`the page threw: ${error}`));
  page.keep = (name) => page.screenshot({ path: join(results, `${name}.png`), animations: "disabled" });
  page.button = (name) => page.getByRole("button", { name, exact: true });
  return page;
}

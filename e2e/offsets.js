// Watches a film that flashes and beeps by a watch link, and prints the milliseconds from each flash to its beep as JSON.
//
//   node offsets.js LINK
import { launch, openPage } from "./browser.js";
import { keepAnalysers, offsets } from "./watching.js";

const browser = await launch();
const page = await openPage(browser, { viewport: { width: 1280, height: 800 } });
await page.addInitScript(keepAnalysers);
await page.goto(process.argv[2]);
await page.locator("[data-watch=connected]").waitFor();
await page.button("Tap to hear the sound").click();
await page.locator("[data-sound=connected]").waitFor();
// The first beep decides how far the pictures are held back.
await page.evaluate(offsets, { ms: 3000, height: 0.02 });
console.log(JSON.stringify(await page.evaluate(offsets, { ms: 12_000, height: 0.02 })));
await browser.close();

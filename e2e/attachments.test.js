// Files with a message: attached on the page, shown to the model and put on the desktop.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PNG } from "pngjs";

import { launch, openPage } from "./browser.js";
import * as vendors from "./fakes/vendors.js";
import { sizeOf } from "./fakes/http.js";
import { Server } from "./server.js";

let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

/** A picture of one colour, larger than the model sees. */
function picture() {
  const png = new PNG({ width: 3000, height: 1500 });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([30, 120, 200, 255], at);
  return PNG.sync.write(png);
}

const PDF = Buffer.from("%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n%%EOF");
const files = () => [
  { name: "sea.png", mimeType: "image/png", buffer: picture() },
  // The name and the type that a client claims do not matter.
  { name: "notes.txt", mimeType: "text/plain", buffer: PDF },
];

/** Drops a file on the message. */
async function drop(page, name, text) {
  const data = await page.evaluateHandle(
    ([file, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], file, { type: "text/csv" }));
      return transfer;
    },
    [name, text],
  );
  await page.getByRole("textbox", { name: "Message" }).dispatchEvent("drop", { dataTransfer: data });
}

test("files go with the first message and with later ones", async () => {
  const fake = await vendors.anthropicToolset([
    [{ bash: "ls ~/uploads" }],
    "I see it.",
  ]);
  const server = await Server.start({ env: fake.env });
  try {
    const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
    await page.goto(server.link);
    await page.getByRole("button", { name: /^Model: / }).click();
    await page.getByRole("menuitemradio", { name: /^claude-opus-5(?![-.\w])/ }).click();

    // The first message, before there is a session.
    await page.getByLabel("Files to attach").setInputFiles(files());
    const chips = page.getByRole("list", { name: "Attached files" });
    await chips.getByText("sea.png").waitFor();
    await drop(page, "table.csv", "a;b\n");
    await chips.getByText("table.csv").waitFor();
    await page.getByRole("button", { name: "Remove table.csv" }).click();
    await page.keep("attachments-1-start");
    await page.getByRole("textbox", { name: "Message" }).fill("What is this?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/sessions\//);
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText("I see it.").waitFor();

    // The conversation shows a picture of one file and the name of the other.
    await log.getByRole("img", { name: "sea.png" }).waitFor();
    const download = page.waitForEvent("download");
    await log.getByRole("link", { name: "Download notes.txt" }).click();
    assert.equal((await download).suggestedFilename(), "notes.txt");
    await page.keep("attachments-2-conversation");

    // The model was shown the picture at its size and the PDF, and told the paths.
    const { content } = fake.requests[0].body.messages[0];
    // The rest is a picture of the screen.
    const kinds = content.slice(0, 5).map(({ type }) => type);
    assert.deepEqual(kinds, ["text", "text", "image", "text", "document"]);
    assert.match(content[0].text, /^What is this\?\n\n.*\n- \/home\/agent\/uploads\/sea\.png \(image\/png/s);
    assert.deepEqual(sizeOf(content[2].source.data), { width: 2000, height: 1000 });
    assert.equal(content[4].source.media_type, "application/pdf");
    assert.equal(Buffer.from(content[4].source.data, "base64").toString(), PDF.toString());

    // They are on the desktop.
    const session = page.url().split("/").at(-1);
    const listed = (await server.log(session)).find(({ type, data }) => type === "tool_result" && !data.partial);
    assert.equal(listed.data.text.trim(), "notes.txt\nsea.png");
    const kept = await server.api("GET", `/sessions/${session}/files/~/uploads/notes.txt`);
    assert.equal(kept.toString(), PDF.toString());

    // A later message, with nothing but a file.
    await drop(page, "table.csv", "a;b\n");
    await chips.getByText("4 B").waitFor();
    await page.keep("attachments-3-composer");
    await page.getByRole("button", { name: "Send" }).click();
    await log.getByRole("link", { name: "Download table.csv" }).waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keep("attachments-4-phone-dark");
  } finally {
    await server.end();
    await fake.close();
  }
});

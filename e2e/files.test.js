// The files of a desktop in the page: upload, view, edit, download, and a file that the agent shares.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { pdf } from "./fakes/pdf.js";
import { eventually, Server } from "./server.js";

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { width: 390, height: 844 };

const REPORT = pdf(["The quarterly report", "has two pages."]);
const TABLE = 'name;amount\n"Müller; Co";12,50\nSchmidt;7\n';
const NOTES = "# Plan\n\n- [x] read\n- [ ] write **more**\n";
const PROGRAM = 'package main\n\nfunc main() {\n\tprintln("hello")\n}\n';
/** A red square of 8 by 8 pixels. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4o6SEFTEMLQkAvM5EAUNdDNUAAAAASUVORK5CYII=",
  "base64",
);

const base64 = (content) => Buffer.from(content).toString("base64");
const SHARES = `
turns:
  - steps:
      - text: I write a report.
        calls:
          - bash: {command: "mkdir -p ~/work && cd ~/work && echo ${base64(REPORT)} | base64 -d > report.pdf && echo ${base64(TABLE)} | base64 -d > table.csv && echo ${base64(NOTES)} | base64 -d > notes.md && ln -s /etc/hostname link"}
          - share_file: {path: work/report.pdf}
      - text: There it is.
`;

let browser;
let server;
let page;
let id;

before(async () => {
  server = await Server.start({ demo: SHARES });
  browser = await launch();
  page = await openPage(browser, { ...wide, acceptDownloads: true });
  await page.goto(server.link);
  await page.getByRole("textbox").first().fill("Write a report");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sessions\//);
  id = new URL(page.url()).pathname.split("/").at(-1);
  await page.getByRole("log", { name: "Conversation" }).getByText("There it is.").waitFor();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

/** Returns the content of a file on the desktop. */
const content = async (path) => (await server.api("GET", `/sessions/${id}/files/${path}`)).toString();

/** Drops files on an element, as from the person's own computer. */
async function drop(target, files) {
  const data = await page.evaluateHandle((files) => {
    const data = new DataTransfer();
    for (const { name, bytes } of files) data.items.add(new File([new Uint8Array(bytes)], name));
    return data;
  }, files.map(({ name, bytes }) => ({ name, bytes: [...Buffer.from(bytes)] })));
  await target.dispatchEvent("dragover", { dataTransfer: data });
  await target.dispatchEvent("drop", { dataTransfer: data });
}

/** Has the page download something, and returns its bytes. */
async function downloaded(begin) {
  const [download] = await Promise.all([page.waitForEvent("download"), begin()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** Returns true once the canvas of a PDF's page has been painted: not everything on it is white. */
function isPainted(canvas) {
  return canvas.evaluate((canvas) => {
    if (canvas.width < 50) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value, at) => at % 4 === 0 && value < 100 && data[at + 3] > 0);
  });
}

test("a file that the agent shares has a preview and a download", async () => {
  const card = page.getByRole("figure").filter({ hasText: "report.pdf" });
  const first = card.getByRole("img", { name: "Page 1 of 2" });
  await eventually("the first page is painted", () => isPainted(first));
  assert.equal(await card.getByRole("img", { name: /^Page/ }).count(), 1);
  const saved = await downloaded(() => card.getByRole("link", { name: "Download report.pdf" }).click());
  assert.equal(saved.name, "report.pdf");
  assert.deepEqual(saved.bytes, REPORT);
  await page.keep("files-shared");
});

test("files are uploaded by drop, viewed, edited and downloaded", async () => {
  await page.getByRole("tab", { name: "Files", exact: true }).click();
  const panel = page.getByRole("region", { name: "Files" });
  const tree = panel.getByRole("tree");
  const open = (name) => tree.getByRole("treeitem", { name, exact: true }).getByRole("button").first().click();
  await open("work");
  await tree.getByRole("treeitem", { name: "report.pdf" }).waitFor();

  // Upload, into the folder that is open.
  await drop(panel, [
    { name: "hello.go", bytes: PROGRAM },
    { name: "red.png", bytes: PICTURE },
    { name: "windows.txt", bytes: "one\r\ntwo\r\n" },
  ]);
  const uploads = panel.getByRole("list", { name: "Uploads" });
  await eventually("three files are uploaded", async () => (await uploads.getByText("Uploaded").count()) === 3);
  assert.equal(await content("~/work/hello.go"), PROGRAM);
  await drop(panel, [{ name: "hello.go", bytes: "another" }]);
  await uploads.getByText("Already there").waitFor();
  assert.equal(await content("~/work/hello.go"), PROGRAM);
  await uploads.getByRole("button", { name: "Dismiss hello.go" }).last().click();

  // Text, with colours.
  await open("hello.go");
  const text = panel.getByRole("textbox", { name: "Text of hello.go" });
  await text.getByText("package").waitFor();
  await eventually("it has colours", async () => (await text.locator("span").count()) > 2);
  await page.keep("files-light-text");

  // An edit is saved, and changes nothing else. What is typed after the save stays.
  await open("windows.txt");
  const lines = panel.getByRole("textbox", { name: "Text of windows.txt" });
  await lines.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("three");
  await page.keyboard.press("Control+S");
  await panel.getByText("Not saved yet").waitFor({ state: "hidden" });
  assert.equal(await content("~/work/windows.txt"), "one\r\ntwo\r\nthree");
  await page.keyboard.type(" and four");
  await panel.getByText("Not saved yet").waitFor();
  await drop(panel, [{ name: "more.txt", bytes: "more" }]);
  await tree.getByRole("treeitem", { name: "more.txt" }).waitFor();
  await lines.getByText("three and four").waitFor();
  await open("red.png");
  await page.getByText("Discard your changes to windows.txt?").waitFor();
  await page.keep("files-discard");
  await page.button("Cancel").click();
  await page.button("Save").click();
  await panel.getByText("Not saved yet").waitFor({ state: "hidden" });
  assert.equal(await content("~/work/windows.txt"), "one\r\ntwo\r\nthree and four");

  // Pictures, tables, Markdown and PDFs.
  await open("red.png");
  const picture = panel.getByRole("img", { name: "red.png" });
  await eventually("the picture is drawn", () => picture.evaluate((image) => image.naturalWidth === 8));
  await open("table.csv");
  await panel.getByRole("cell", { name: "Müller; Co" }).waitFor();
  await page.keep("files-light-table");
  await open("notes.md");
  await panel.getByRole("heading", { name: "Plan" }).waitFor();
  await open("report.pdf");
  await eventually("the page is painted", () => isPainted(panel.getByRole("img", { name: "Page 1 of 2" })));
  await panel.getByText("The quarterly report").waitFor({ state: "attached" });
  await page.keep("files-light-pdf");

  // Downloads, of a file and of a folder.
  const saved = await downloaded(() => panel.getByRole("link", { name: "Download report.pdf" }).click());
  assert.deepEqual(saved.bytes, REPORT);
  await tree.getByRole("treeitem", { name: "work" }).getByRole("button", { name: "Menu of work" }).click();
  const packed = await downloaded(() => page.getByRole("menuitem", { name: "Download as tar.gz" }).click());
  assert.equal(packed.name, "work.tar.gz");
  assert.deepEqual([...packed.bytes.subarray(0, 2)], [0x1f, 0x8b]);

  // Links lead on, paths are typed, and there is a way up.
  await open("link");
  await page.button("Open its target").click();
  await panel.getByRole("textbox", { name: "Text of hostname" }).waitFor();
  const path = panel.getByRole("textbox", { name: "Path" });
  assert.equal(await path.inputValue(), "/etc");
  await page.button("Folder above").click();
  await tree.getByRole("treeitem", { name: "home", exact: true }).waitFor();
  await path.fill("/nowhere");
  await path.press("Enter");
  await panel.getByRole("alert").getByText("/nowhere").waitFor();
  await path.fill("~/work");
  await path.press("Enter");
  await tree.getByRole("treeitem", { name: "notes.md" }).waitFor();

  await page.emulateMedia({ colorScheme: "dark" });
  await open("hello.go");
  await text.getByText("package").waitFor();
  await page.keep("files-dark-text");
  await open("notes.md");
  await panel.getByRole("heading", { name: "Plan" }).waitFor();
  await page.keep("files-dark-markdown");

  // On a phone there is the list, or the file.
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(phone);
  const switcher = page.getByRole("navigation", { name: "Conversation and panels" });
  await switcher.getByRole("button", { name: "Files" }).click();
  await panel.getByRole("heading", { name: "Plan" }).waitFor();
  await page.keep("files-phone-markdown");
  await page.button("Back").click();
  await tree.getByRole("treeitem", { name: "report.pdf" }).waitFor();
  await page.keep("files-phone-list");
  await open("report.pdf");
  await eventually("the page is painted", () => isPainted(panel.getByRole("img", { name: "Page 1 of 2" })));
  await page.keep("files-phone-pdf");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.keep("files-phone-pdf-dark");
  await page.setViewportSize(wide.viewport);
});

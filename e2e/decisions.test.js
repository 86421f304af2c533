// Questions of an agent: in the conversation, in the inbox, and answered on another page meanwhile.
import { after, before, test } from "node:test";

import { launch, openPage } from "./browser.js";
import { Server } from "./server.js";


const ASKS = `
steps:
  - text: "I have to ask a few things."
    calls:
      - ask_user: {question: "Which **colour** do you want?", form: choices, choices: [Red, Green, Blue]}
      - ask_user: {question: "For whom is it?", default: Ada, expires_in_s: 600}
      - ask_user: {question: "What goes with it?", form: choices, several: true, choices: [Ribbon, Card]}
      - ask_user: {question: "Which list shall I use?", form: file}
      - bash: {command: "rm -rf ~/old && echo tidy || git push"}
  - text: "Told {{ result.1 }}, {{ result.2 }}, {{ result.3 }}, then {{ result.5 }}."
`;

let browser;
let server;

before(async () => {
  server = await Server.start({ demo: ASKS });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
});

const button = (page, name) => page.getByRole("button", { name, exact: true });

test("questions are answered in the conversation and in the inbox", async () => {
  const page = await openPage(browser, { viewport: { width: 1280, height: 800 } });
  await page.goto(server.link);
  await page.getByRole("textbox").first().fill("Ask me");
  await page.keyboard.press("Enter");

  const log = page.getByRole("log", { name: "Conversation" });
  await log.getByText("Which colour do you want?").first().waitFor();
  await page.keep("question");
  await button(page, "Green").click();
  await log.getByRole("region", { name: "Question" }).getByText("Green", { exact: true }).waitFor();

  // A second page answers, and the first one updates by itself.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("timer", { name: "Time left" }).waitFor();
  await page.keep("question-text");
  await other.getByRole("textbox", { name: "Your answer" }).fill("Grace");
  await other.keyboard.press("Enter");
  await log.getByText("Grace").first().waitFor();
  await other.close();

  await page.getByRole("link", { name: "1 thing for you" }).click();
  await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
  await page.getByRole("checkbox", { name: "Card" }).check();
  await page.keep("inbox");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.keep("inbox-dark-phone");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
  await button(page, "Answer").click();

  await page.getByText("Which list shall I use?").waitFor();
  const file = { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n") };
  await page.getByLabel("File").setInputFiles(file);
  await page.keep("inbox-file");
  await button(page, "Answer").click();

  await page.getByText("rm -rf ~/old && echo tidy || git push").waitFor();
  await page.getByRole("link", { name: "in Ask me" }).click();
  await button(page, "Allow once").waitFor();
  await page.keep("approval");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.keep("approval-dark");
  await button(page, "Refuse").click();
  await log.getByText("Told Green, Grace, Card, then Not executed", { exact: false }).waitFor();
  await page.getByRole("link", { name: "Nothing is waiting for you" }).click();
  await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
  await page.keep("inbox-empty");
});

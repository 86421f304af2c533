import { expect, it } from "vitest";

import { describeCall } from "./describeCall";

function said(tool: string, input: unknown): string {
  const { did, code, rest } = describeCall(tool, input);
  return [did, code === undefined ? "" : `\`${code}\``, rest].filter(Boolean).join(" ");
}

it.each([
  ["computer", { action: "screenshot" }, "Looked at the screen"],
  ["computer", { action: "click", at: { x: 312, y: 240 } }, "Clicked at (312, 240)"],
  ["computer", { action: "click", count: 2, at: { x: 1, y: 2 } }, "Double-clicked at (1, 2)"],
  [
    "computer",
    { action: "click", button: "right", at: { x: 1, y: 2 }, modifiers: ["shift"] },
    "Right-clicked at (1, 2) with shift",
  ],
  ["computer", { action: "click" }, "Clicked"],
  ["computer", { action: "type", text: "Ada Lovelace" }, "Typed “Ada Lovelace”"],
  ["computer", { action: "key", keys: "ctrl+s" }, "Pressed `ctrl+s`"],
  ["computer", { action: "key", keys: "Tab", repeat: 3 }, "Pressed `Tab` 3 times"],
  ["computer", { action: "hold_key", keys: "a", ms: 1500 }, "Held `a` for 1.5 s"],
  ["computer", { action: "scroll", at: { x: 5, y: 6 }, dy: -3 }, "Scrolled up 3 at (5, 6)"],
  ["computer", { action: "mouse_down" }, "Pressed the left mouse button"],
  [
    "computer",
    {
      action: "drag",
      path: [
        { x: 1, y: 1 },
        { x: 2, y: 2 },
        { x: 9, y: 9 },
      ],
    },
    "Dragged from (1, 1) to (9, 9)",
  ],
  ["computer", { action: "wait", ms: 250 }, "Waited 250 ms"],
  ["bash", { shell: "run", command: "cat orders.jsonl" }, "Ran `cat orders.jsonl`"],
  ["bash", { shell: "restart" }, "Restarted the shell"],
  ["fill_secret", { name: "bank" }, "Filled in the secret `bank`"],
  [
    "editor",
    { command: "create", path: "/home/agent/x.md", file_text: "" },
    "Wrote `/home/agent/x.md`",
  ],
  ["editor", { command: "insert", path: "/home/agent/x.md" }, "Edited `/home/agent/x.md`"],
])("%s %j reads %s", (tool, input, sentence) => {
  expect(said(tool, input)).toBe(sentence);
});

it("has a plain sentence for what it does not know", () => {
  expect(said("telephone", { number: 1 })).toBe("Used `telephone`");
  expect(said("computer", "nonsense")).toBe("Used `computer`");
  expect(said("bash", null)).toBe("Used `bash`");
});

import { expect, it } from "vitest";

import { callIcon, describeCall, describeOpenCall } from "./describeCall";

it("says what the tool says", () => {
  const call = { tool: "computer", input: { action: "click" }, description: "Clicked at (3, 4)" };
  expect(describeCall(call)).toBe("Clicked at (3, 4)");
});

it("has a plain sentence for calls without a description", () => {
  expect(describeCall({ tool: "telephone", input: { number: 1 } })).toBe('Used telephone {"number":1}');
  expect(describeCall({ tool: "bash", input: undefined })).toBe("Used bash null");
  const long = describeCall({ tool: "bash", input: "x".repeat(500) });
  expect(long).toHaveLength("Used bash ".length + 120);
});

it.each([
  ["computer", { action: "screenshot" }, "look"],
  ["computer", { action: "zoom" }, "look"],
  ["computer", { action: "click" }, "pointer"],
  ["computer", { action: "type" }, "keyboard"],
  ["computer", "nonsense", "pointer"],
  ["browser", { action: "navigate" }, "page"],
  ["browser", { action: "click" }, "pointer"],
  ["browser", { action: "screenshot" }, "look"],
  ["bash", { shell: "run" }, "shell"],
  ["editor", { command: "view" }, "file"],
  ["editor", { command: "create" }, "edit"],
  ["ask_user", {}, "ask"],
  ["fill_secret", {}, "secret"],
  ["telephone", null, "tool"],
])("%s %j has the icon %s", (tool, input, icon) => {
  expect(callIcon({ tool, input })).toBe(icon);
});

it.each([
  ["Waited 250 ms", "Waiting 250 ms"],
  ["Double-clicked at (3, 4)", "Double-clicking at (3, 4)"],
  ["Ran make", "Running make"],
  ["The pointer's position is not known", "The pointer's position is not known"],
])("%j reads %j while the call is not done", (description, expected) => {
  expect(describeOpenCall({ tool: "any", input: null, description })).toBe(expected);
});

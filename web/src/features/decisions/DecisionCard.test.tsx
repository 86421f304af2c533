import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { accountKeys } from "../../api/account";
import { requestRaw } from "../../api/client";
import type { Form, Right, User } from "../../api/types";
import { actionWords } from "./actionWords";
import { type Asked, DecisionCard } from "./DecisionCard";

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  fetched.mockImplementation(async () => new Response("{}"));
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

const QUESTION: Asked = {
  id: "d",
  kind: "question",
  prompt: "Which colour?",
  form: { type: "text" },
  state: "open",
};

function show(asked: Partial<Asked>, right: Right = "drive", role: User["role"] = "member") {
  const client = new QueryClient();
  const me: User = { id: "u", name: "ada", role, active: true, created_at: "2025-01-01T12:00:00Z" };
  client.setQueryData(accountKeys.me, me);
  render(
    <QueryClientProvider client={client}>
      <DecisionCard sessionId="s" asked={{ ...QUESTION, ...asked }} right={right} />
    </QueryClientProvider>,
  );
}

function sent(): unknown {
  const [path, init] = fetched.mock.calls[0] ?? [];
  expect(path).toBe("/api/sessions/s/decisions/d/answer");
  return JSON.parse(String(init?.body));
}

it("sends what was written", async () => {
  show({});
  await userEvent.type(screen.getByRole("textbox", { name: "Your answer" }), "blue{Enter}");
  expect(sent()).toEqual({ text: "blue" });
});

it("sends the one that was chosen, by its value", async () => {
  const choices = [
    { value: "r", label: "Red" },
    { value: "g", label: "Green" },
  ];
  show({ form: { type: "choices", choices, several: false } });
  await userEvent.click(screen.getByRole("button", { name: "Green" }));
  expect(sent()).toEqual({ choices: ["g"] });
});

it("sends all that were chosen", async () => {
  const choices = ["a", "b", "c"].map((value) => ({ value, label: value }));
  show({ form: { type: "choices", choices, several: true } });
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Answer" }).disabled).toBe(true);
  await userEvent.click(screen.getByRole("checkbox", { name: "a" }));
  await userEvent.click(screen.getByRole("checkbox", { name: "c" }));
  await userEvent.click(screen.getByRole("button", { name: "Answer" }));
  expect(sent()).toEqual({ choices: ["a", "c"] });
});

it.each([
  { type: "choices", choices: [{ value: "r", label: "Red" }], several: false },
  { type: "choices", choices: [{ value: "r", label: "Red" }], several: true },
  { type: "yes_no" },
] satisfies Form[])("takes another answer than those of the form $type", async (form) => {
  show({ form });
  await userEvent.click(screen.getByRole("button", { name: "Other…" }));
  const field = screen.getByRole("textbox", { name: "Your answer" });
  expect(document.activeElement).toBe(field);
  await userEvent.click(screen.getByRole("button", { name: "Back to the choices" }));
  await userEvent.click(screen.getByRole("button", { name: "Other…" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Your answer" }), "a dark blue{Enter}");
  expect(sent()).toEqual({ text: "a dark blue" });
});

it("offers no other answer to an approval", () => {
  show({ kind: "approval", form: { type: "yes_no" } });
  expect(screen.queryByRole("button", { name: "Other…" })).toBeNull();
});

it("sends a file with its bytes", async () => {
  show({ form: { type: "file" } });
  const file = new File([new Uint8Array([0, 255, 10])], "a.bin");
  await userEvent.upload(screen.getByLabelText("File"), file);
  await userEvent.click(screen.getByRole("button", { name: "Answer" }));
  await waitFor(() => expect(fetched).toHaveBeenCalled());
  expect(sent()).toEqual({ file: { name: "a.bin", base64: "AP8K" } });
});

it("shows exactly what would be done, and refuses it", async () => {
  const input = { shell: "run", command: "rm -rf build" };
  show({ kind: "approval", form: { type: "yes_no" }, subject: { tool: "bash", input } });
  expect(screen.getByText("rm -rf build")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Refuse" }));
  expect(sent()).toEqual({ yes: false });
});

it("says who was quicker, and takes the controls away", async () => {
  const error = { code: "settled", message: "bob answered this at 12:00" };
  fetched.mockImplementation(async () => new Response(JSON.stringify({ error }), { status: 409 }));
  show({ kind: "approval", form: { type: "yes_no" } });
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  expect((await screen.findByRole("alert")).textContent).toContain("Bob answered this");
  expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
});

it("keeps the controls when the answer could not be stored", async () => {
  const error = { code: "too_many_rules", message: "the policy has 100 rules already" };
  fetched.mockImplementation(async () => new Response(JSON.stringify({ error }), { status: 409 }));
  show({ kind: "approval", form: { type: "yes_no" } });
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  expect((await screen.findByRole("alert")).textContent).toContain("The policy has 100 rules");
  expect(screen.getByRole("button", { name: "Approve" })).toBeTruthy();
});

it("lets nobody answer who may not", () => {
  show({ kind: "approval", form: { type: "yes_no" } }, "suggest");
  expect(screen.queryByRole("button")).toBeNull();
  expect(screen.getByText(/somebody who may drive/)).toBeTruthy();
});

it.each([
  ["session_usd", "member", true],
  ["day_usd", "member", false],
  ["day_usd", "admin", true],
  ["unpriced", "member", false],
  ["unpriced", "admin", true],
] as const)("about %s, a %s may say yes: %s", async (bound, role, may) => {
  const over = { bound, used: 4.5, limit: 5, more: 5 };
  show({ kind: "budget", form: { type: "yes_no" }, over }, "drive", role);
  expect(screen.queryAllByRole("button", { name: "Go on" })).toHaveLength(may ? 1 : 0);
  expect(screen.queryAllByText(/administrator can let it go on/)).toHaveLength(may ? 0 : 1);
  await userEvent.click(screen.getByRole("button", { name: "End the turn" }));
  expect(sent()).toEqual({ yes: false });
});

it("does not call it a budget that the agent goes in circles", () => {
  const over = { bound: "repeats" as const, used: 5, limit: 5, more: 5 };
  show({ kind: "budget", form: { type: "yes_no" }, over });
  expect(screen.getByRole("region", { name: "Going in circles" })).toBeTruthy();
});

it("counts down to the default", () => {
  const expiresAt = new Date(Date.now() + 90_500).toISOString();
  show({ form: { type: "yes_no" }, default: { yes: true }, expiresAt });
  expect(screen.getByRole("timer", { name: "Time left" }).textContent).toBe("1 min 30 s left");
  expect(screen.getByText("Without an answer: Yes")).toBeTruthy();
});

it("tells what became of it", () => {
  const settledAt = "2025-01-01T12:00:00Z";
  show({ state: "answered", answer: { text: "blue" }, answeredBy: "bob", settledAt });
  expect(screen.getByText("blue")).toBeTruthy();
  expect(screen.getByText(/^bob, /)).toBeTruthy();
  cleanup();
  show({ state: "expired", settledAt });
  expect(screen.getByText(/Nobody answered in time/)).toBeTruthy();
  cleanup();
  show({ state: "withdrawn", settledAt });
  expect(screen.getByText(/No longer asked/)).toBeTruthy();
  expect(screen.queryByRole("textbox")).toBeNull();
  cleanup();
  show({ kind: "budget", form: { type: "yes_no" }, state: "answered", answer: { yes: true } });
  expect(screen.getByText("Went on")).toBeTruthy();
  cleanup();
  // Perhaps there was room again; then nobody was stopped.
  show({ kind: "budget", form: { type: "yes_no" }, state: "withdrawn" });
  expect(screen.getByText("No longer asked")).toBeTruthy();
});

it("leaves the use of a secret to the owner", async () => {
  const secret: Partial<Asked> = { kind: "owner_approval", form: { type: "yes_no" } };
  show(secret, "drive");
  screen.getByText(/Waiting for the owner of this session/);
  expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
  cleanup();
  show(secret, "owner");
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  expect(sent()).toEqual({ yes: true });
});

it("shows the whole command as it is, and how long it is", () => {
  const command = `echo \u202eharmless\n${"true\n".repeat(30)}rm -r ~`;
  const subject = { tool: "bash", input: { shell: "run", command } };
  show({ kind: "approval", form: { type: "yes_no" }, subject });
  const what = screen.getByLabelText("What the agent wants to do");
  expect(what.textContent).toContain("echo \\u202eharmless\n");
  expect(what.textContent).toMatch(/rm -r ~$/);
  expect(what.className).not.toContain("max-h");
  screen.getByText("32 lines");
});

it("offers to allow a host, and only the owner may do so for ever", async () => {
  const form: Asked["form"] = {
    type: "choices",
    several: false,
    choices: [
      { value: "once", label: "Allow in this turn" },
      { value: "always", label: "Always allow" },
      { value: "no", label: "No" },
    ],
  };
  const prompt = "A program wants to contact a.example:443. Allow it?";
  show({ kind: "network", prompt, form });
  expect(screen.queryByRole("button", { name: "Always allow" })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Allow in this turn" }));
  const [, init] = fetched.mock.calls[0] ?? [];
  expect(JSON.parse(String(init?.body))).toEqual({ choices: ["once"] });
  cleanup();
  show({ kind: "network", prompt, form }, "owner");
  expect(screen.getByRole("button", { name: "Always allow" })).toBeDefined();
});

it("says what an action on the desktop would do, and marks the point on the screen", () => {
  const input = { action: "click", at: { x: 256, y: 384 }, button: "right" };
  show({ kind: "safety_check", form: { type: "yes_no" }, subject: { tool: "computer", input } });
  screen.getByText("Click with the right mouse button at (256, 384)");
  const picture = screen.getByRole<HTMLImageElement>("img", { name: /The screen now/ });
  expect(picture.getAttribute("src")).toMatch(/^\/api\/sessions\/s\/screenshot/);
  Object.defineProperties(picture, { naturalWidth: { value: 1024 }, naturalHeight: { value: 768 } });
  fireEvent.load(picture);
  expect(screen.getByTestId("spot").style).toMatchObject({ left: "25%", top: "50%" });
});

it.each([
  [{ action: "key", keys: "Return" }, "Press Return"],
  [{ action: "key", keys: "ctrl+z", repeat: 3 }, "Press ctrl+z 3 times"],
  [{ action: "click", count: 2, modifiers: ["shift"] }, "Double-click, holding shift"],
  [{ action: "drag", path: [{ x: 1, y: 2 }, { x: 3, y: 4 }] }, "Drag to (3, 4)"],
  [{ action: "type", text: "x" }, "Type this text"],
])("says %o in words", (input, words) => {
  expect(actionWords(input)).toBe(words);
});

it("shows the whole text that would be typed", () => {
  const input = { action: "type", text: "first\nrm -r ~" };
  show({ kind: "safety_check", form: { type: "yes_no" }, subject: { tool: "computer", input }, state: "answered" });
  const [text] = screen.getAllByLabelText("What the agent wants to do");
  expect(text?.textContent).toBe("first\nrm -r ~");
  // The screen is another one by now.
  expect(screen.queryByRole("img")).toBeNull();
});

it("takes back that the server cannot be reached once it can", async () => {
  fetched.mockRejectedValueOnce(new TypeError("refused"));
  show({ kind: "approval", form: { type: "yes_no" } });
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  await screen.findByRole("alert");
  await act(async () => void (await requestRaw("/api/me")));
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getByRole("button", { name: "Approve" })).toBeTruthy();
});

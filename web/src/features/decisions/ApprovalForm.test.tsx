import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { accountKeys } from "../../api/account";
import type { ApprovalRule, Right, User } from "../../api/types";
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

const RULE = JSON.parse(
  '{"tool": "bash", "pattern": "git push", "then": "allow", "exact": true}',
) as ApprovalRule;
const PUSH: Asked = {
  id: "d",
  prompt: "The agent wants to run a command that changes something outside this computer.",
  state: "open",
  kind: "approval",
  form: { type: "yes_no" },
  call: "c",
  subject: { tool: "bash", input: { shell: "run", command: "git push" } },
  rule: RULE,
};

function show(asked: Partial<Asked>, right: Right = "drive", role: User["role"] = "member") {
  const client = new QueryClient();
  const me: User = { id: "u", name: "ada", role, active: true, created_at: "2025-01-01T12:00:00Z" };
  client.setQueryData(accountKeys.me, me);
  render(
    <QueryClientProvider client={client}>
      <DecisionCard sessionId="s" asked={{ ...PUSH, ...asked }} right={right} />
    </QueryClientProvider>,
  );
}

function sent(): unknown {
  const [path, init] = fetched.mock.calls[0] ?? [];
  expect(path).toBe("/api/sessions/s/decisions/d/answer");
  return JSON.parse(String(init?.body));
}

it.each([
  ["Allow once", { yes: true }],
  ["Allow for this session", { yes: true, for: "session" }],
  ["Always", { yes: true, for: "always" }],
  ["Refuse", { yes: false }],
])("answers a request that a rule can settle with %s", async (name, reply) => {
  show({}, "owner");
  screen.getByText(/adds a rule that allows exactly this command/);
  await userEvent.click(screen.getByRole("button", { name }));
  expect(sent()).toEqual(reply);
});

it("shows what a page calls itself as it is", () => {
  show({ prompt: "The agent wants to click “[**Buy**](https://evil.example)”." });
  screen.getByText("The agent wants to click “[**Buy**](https://evil.example)”.");
  expect(screen.queryByRole("link")).toBeNull();
});

it("lets only the owner allow something for ever", () => {
  show({}, "drive");
  expect(screen.getByRole("button", { name: "Allow for this session" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Always" })).toBeNull();
});

it("names the element that a rule for clicks allows", () => {
  const pattern = "click https://shop.example Buy now";
  show({ rule: { ...RULE, tool: "computer", pattern } });
  screen.getByText(/a click on “Buy now” at https:\/\/shop\.example/);
});

it("refuses with words for the agent", async () => {
  show({});
  const field = screen.getByRole("textbox", { name: "Words for the agent" });
  await userEvent.type(field, "{Enter}");
  expect(fetched).not.toHaveBeenCalled();
  await userEvent.type(field, " Ask Ada first.{Enter}");
  expect(sent()).toEqual({ yes: false, because: "Ask Ada first." });
});

it.each([
  [{ yes: true, for: "session" } as const, "Allowed for this session"],
  [{ yes: false, because: "Ask Ada first." } as const, "Refused: Ask Ada first."],
])("tells the answer %o", (answer, words) => {
  show({ state: "answered", answer });
  expect(screen.getByText(words)).toBeTruthy();
});

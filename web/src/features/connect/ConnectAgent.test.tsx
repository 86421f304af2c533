import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { accountKeys } from "../../api/account";
import type { User } from "../../api/types";
import { ConnectAgent } from "./ConnectAgent";

const AT = "2026-01-01T12:00:00Z";
const TOKEN = { id: "t", name: "Claude Code", prefix: "dh_abc", scope: "read", created_at: AT, expires_at: null };

const fetched = vi.fn<typeof fetch>();
let lastUsedAt: string | null;

beforeEach(() => {
  lastUsedAt = null;
  fetched.mockImplementation(async (_, init) => {
    const token = { ...TOKEN, last_used_at: lastUsedAt };
    const answer = init?.method === "POST" ? { ...token, token: "dh_abcdefgh" } : { tokens: [token] };
    return new Response(JSON.stringify(answer));
  });
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  fetched.mockReset();
});

function show(role: User["role"] = "member") {
  const client = new QueryClient();
  client.setQueryData(accountKeys.me, { id: "u", name: "ada", role } as User);
  render(
    <QueryClientProvider client={client}>
      <ConnectAgent server="https://desk.example" tokenList={<a href="/settings">your tokens</a>} />
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

const configuration = () => within(screen.getByRole("region", { name: "Configuration" }));
const shown = () => configuration().getByText(/deskhand/, { selector: "code" }).textContent;

it("creates a token that is named after the client, and puts it into the configuration", async () => {
  const user = show();
  const copied = vi.spyOn(navigator.clipboard, "writeText");
  expect(shown()).toContain("https://desk.example/mcp");
  expect(shown()).toContain("$DESKHAND_TOKEN");
  await user.click(screen.getByRole("radio", { name: "Codex" }));
  expect(screen.getByLabelText("Purpose")).toHaveProperty("value", "Codex");
  await user.click(screen.getByRole("radio", { name: "Claude Code" }));
  await user.selectOptions(screen.getByLabelText("Scope"), "Read and watch");
  await user.click(screen.getByRole("button", { name: "Create a token" }));

  const made = await screen.findByRole("group", { name: "The token Claude Code" });
  expect(document.activeElement).toBe(made);
  const [, init] = fetched.mock.calls.find(([, { method } = {}]) => method === "POST") ?? [];
  expect(JSON.parse(init?.body as string)).toMatchObject({ name: "Claude Code", scope: "read" });

  expect(shown()).toContain("Bearer dh_abc••••");
  await user.click(configuration().getByRole("button", { name: "Copy" }));
  expect(copied).toHaveBeenCalledWith(expect.stringContaining("Bearer dh_abcdefgh"));
  await user.click(screen.getByRole("button", { name: "Show the token" }));
  expect(shown()).toContain("Bearer dh_abcdefgh");

  // The next one is another token.
  await user.click(screen.getByRole("button", { name: "Create another" }));
  expect(shown()).toContain("$DESKHAND_TOKEN");
});

it("says when the client has connected", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = show();
  await user.click(screen.getByRole("button", { name: "Create a token" }));
  await screen.findByText("No client has used it yet.");
  lastUsedAt = AT;
  await vi.advanceTimersByTimeAsync(3000);
  await screen.findByText("Your client has connected.");
});

it("reports why there is no token", async () => {
  fetched.mockImplementation(async () => {
    const error = { code: "too_many_tokens", message: "you have 20 tokens; revoke one" };
    return new Response(JSON.stringify({ error }), { status: 429 });
  });
  const user = show();
  await user.click(screen.getByRole("button", { name: "Create a token" }));
  expect((await screen.findByRole("alert")).textContent).toBe("You have 20 tokens; revoke one.");
  expect(shown()).toContain("$DESKHAND_TOKEN");
});

it("offers an administrator the command that needs no token", async () => {
  const user = show("admin");
  await user.click(screen.getByRole("radio", { name: "Local command" }));
  expect(shown()).toBe("claude mcp add --transport stdio deskhand -- deskhand mcp");
  expect(screen.queryByRole("region", { name: "Token" })).toBeNull();
});

it("offers other users no command that acts as the administrator", () => {
  show("member");
  expect(screen.getAllByRole("radio", { name: /HTTP|ommand/ })).toHaveLength(2);
});

it("keeps at least one group of tools", async () => {
  const user = show();
  expect(screen.getByRole("checkbox", { name: /^Agents/ })).toHaveProperty("disabled", true);
  await user.click(screen.getByRole("checkbox", { name: /^Browser/ }));
  await user.click(screen.getByRole("checkbox", { name: /^Agents/ }));
  expect(shown()).toContain("/mcp?tools=browser");
  expect(screen.getByRole("checkbox", { name: /^Browser/ })).toHaveProperty("disabled", true);
});

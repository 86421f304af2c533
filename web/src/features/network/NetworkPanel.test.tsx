import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Right, Session, SessionNetwork } from "../../api/types";
import { NetworkPanel } from "./NetworkPanel";
import { bytesWords, placeWords, privateRules, rulesOf } from "./networkWords";

const AT = "2026-01-01T12:00:00Z";

const NETWORK: SessionNetwork = {
  policy: { mode: "allow", allow: ["pypi.org:443"] },
  in_force: "allow",
  ceiling: "open",
  open_connections: 1,
  transferred_bytes: 1_234_567,
  most_bytes: null,
  destinations: [
    {
      host: "pypi.org",
      port: 443,
      connections: 2,
      blocked_connections: 0,
      sent_bytes: 900,
      received_bytes: 1_233_667,
      first_at: AT,
      last_at: AT,
    },
    {
      host: "evil.example",
      port: 80,
      connections: 0,
      blocked_connections: 3,
      sent_bytes: 0,
      received_bytes: 0,
      blocked: "denied",
      reason: "a person refused this host",
      first_at: AT,
      last_at: AT,
    },
  ],
  next: null,
};

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  fetched.mockImplementation(async () => new Response(JSON.stringify(NETWORK)));
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

function show(right: Right) {
  const session = { id: "s", right, state: "running", network: NETWORK.policy } as Session;
  render(
    <QueryClientProvider client={new QueryClient()}>
      <NetworkPanel session={session} sandbox="stopped" lease={null} />
    </QueryClientProvider>,
  );
}

it("shows who was contacted and what was blocked", async () => {
  show("view");
  expect(await screen.findByText("pypi.org:443", { selector: "li p" })).toBeDefined();
  expect(screen.getByText("A person refused this host.")).toBeDefined();
  expect(screen.getByText("blocked 3 times")).toBeDefined();
  expect(screen.getByText(/1 open connection, 1.2 MB in all/)).toBeDefined();
  // Only the owner can change the policy.
  expect(screen.queryByLabelText("Listed hosts")).toBeNull();
});

it("lets the owner change the list and the mode", async () => {
  show("owner");
  const list = await screen.findByLabelText("Listed hosts");
  await userEvent.type(list, "{End}\n*.example.com");
  await userEvent.click(screen.getByRole("button", { name: "Save the list" }));
  const [, saving] = fetched.mock.calls.find(([, init]) => init?.method === "PATCH") ?? [];
  expect(JSON.parse(String(saving?.body))).toEqual({
    network: { mode: "allow", allow: ["pypi.org:443", "*.example.com"] },
  });
  fetched.mockClear();
  await userEvent.selectOptions(screen.getByLabelText("Network", { selector: "select" }), "closed");
  const [, closing] = fetched.mock.calls.find(([, init]) => init?.method === "PATCH") ?? [];
  expect(JSON.parse(String(closing?.body))).toEqual({
    network: { mode: "closed", allow: ["pypi.org:443"] },
  });
});

it("lets the owner allow a host that was blocked", async () => {
  show("owner");
  await userEvent.click(await screen.findByRole("button", { name: "Allow evil.example:80" }));
  const [, allowing] = fetched.mock.calls.find(([, init]) => init?.method === "PATCH") ?? [];
  expect(JSON.parse(String(allowing?.body))).toEqual({
    network: { mode: "allow", allow: ["pypi.org:443", "evil.example:80"] },
  });
  cleanup();
  show("drive");
  await screen.findByText("A person refused this host.");
  expect(screen.queryByRole("button", { name: /^Allow/ })).toBeNull();
});

it("keeps what the owner types when a host is added meanwhile", async () => {
  show("owner");
  const list = await screen.findByLabelText<HTMLTextAreaElement>("Listed hosts");
  await userEvent.type(list, "{End}\ndraft.example");
  const policy = { mode: "allow", allow: ["pypi.org:443", "added.example:443"] };
  fetched.mockImplementation(async () => new Response(JSON.stringify({ ...NETWORK, policy })));
  await userEvent.click(screen.getByRole("button", { name: "Allow evil.example:80" }));
  await screen.findByDisplayValue(/added.example:443/);
  expect(list.value.split("\n")).toEqual(["pypi.org:443", "draft.example", "added.example:443"]);
});

it("says that a list does not open private addresses", async () => {
  show("owner");
  const list = await screen.findByLabelText("Listed hosts");
  await userEvent.type(list, "{End}\n10.0.0.0/8");
  expect(screen.getByText(/only an administrator can open/)).toBeDefined();
});

it("says when the network cannot be loaded", async () => {
  fetched.mockImplementation(
    async () =>
      new Response(JSON.stringify({ error: { code: "no_session", message: "there is no session" } }), {
        status: 404,
      }),
  );
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const session = { id: "s", right: "owner", state: "running" } as Session;
  render(
    <QueryClientProvider client={client}>
      <NetworkPanel session={session} sandbox="ready" lease={null} />
    </QueryClientProvider>,
  );
  expect(await screen.findByRole("alert")).toBeDefined();
});

it("formats hosts, sizes and lists", () => {
  expect(placeWords({ host: "2606::1", port: 443 })).toBe("[2606::1]:443");
  expect(placeWords({ host: "a.example", port: 0 })).toBe("a.example");
  expect(placeWords({ host: "*", port: 0 })).toBe("Other hosts");
  expect([0, 999, 1500, 250_000, 3_400_000_000].map(bytesWords)).toEqual([
    "0 B",
    "999 B",
    "1.5 KB",
    "250 KB",
    "3.4 GB",
  ]);
  const rules = ["10.1.0.0/16:5432", "[fd00::1]:80", "172.20.0.1", "172.40.0.1", "10.example"];
  expect(privateRules(rules)).toEqual(["10.1.0.0/16:5432", "[fd00::1]:80", "172.20.0.1"]);
  expect(rulesOf(" a.example,\n*.b.example  c ")).toEqual(["a.example", "*.b.example", "c"]);
});

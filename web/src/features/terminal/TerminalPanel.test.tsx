import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { SandboxState, Session, Terminal } from "../../api/types";
import { TerminalPanel } from "./TerminalPanel";

// The panel chooses the terminal that is shown. Emulators and connections have tests of their own.
vi.mock("./TerminalView", () => ({
  TerminalView: ({ name, isShown }: { name: string; isShown: boolean }) =>
    isShown && <div role="tabpanel" aria-label={name} />,
}));

const SIZE = { cols: 80, rows: 24 };
const AGENT = { number: 0, id: "a", name: "agent", size: SIZE, paused: false } as Terminal;
const FIRST = { number: 1, id: "b", name: "Terminal 1", size: SIZE, paused: false } as Terminal;
const SECOND = { number: 2, id: "c", name: "Terminal 2", size: SIZE, paused: false } as Terminal;

/** The server's lists that were asked for and not answered yet. */
let asked: ((terminals: Terminal[]) => void)[] = [];
let open: (terminal: Terminal) => void;

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (_url: string, { method, signal }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      if (method === "POST") open = (terminal) => resolve(Response.json(terminal));
      else asked.push((terminals) => resolve(Response.json({ terminals })));
    }),
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(sandbox: SandboxState = "ready") {
  const session = { id: "s", right: "owner", state: "idle" } as Session;
  const client = createQueryClient();
  const panel = (state: SandboxState) => (
    <QueryClientProvider client={client}>
      <TerminalPanel session={session} sandbox={state} lease={null} />
    </QueryClientProvider>
  );
  const { rerender } = render(panel(sandbox));
  return { become: (state: SandboxState) => rerender(panel(state)), client };
}

test("a new terminal is shown at once, not the agent's until the list comes", async () => {
  show();
  asked.shift()?.([AGENT]);
  await screen.findByRole("tabpanel", { name: "agent" });

  await userEvent.click(screen.getByRole("button", { name: "New terminal" }));
  act(() => open(FIRST));
  await screen.findByRole("tabpanel", { name: "Terminal 1" });
  expect(screen.getByRole("tab", { name: "Terminal 1" }).getAttribute("aria-selected")).toBe("true");
});

test("a first list from before the new terminal does not hide it", async () => {
  const { become } = show("stopped");
  await userEvent.click(screen.getByRole("button", { name: "Open a terminal" }));
  // The desktop is there, and the list is asked for, before the terminal is open.
  become("ready");
  await waitFor(() => expect(asked).toHaveLength(1));
  act(() => open(FIRST));
  await screen.findByRole("tabpanel", { name: "Terminal 1" });

  asked[0]?.([AGENT]);
  await waitFor(() => expect(asked).toHaveLength(2));
  asked[1]?.([AGENT, FIRST]);
  await screen.findByRole("tab", { name: "Agent" });
  expect(screen.getByRole("tabpanel").getAttribute("aria-label")).toBe("Terminal 1");
});

test("a terminal that ends stays in view, and a terminal of somebody else does not push itself forward", async () => {
  const { client } = show();
  asked.shift()?.([AGENT, FIRST]);
  await screen.findByRole("tabpanel", { name: "Terminal 1" });

  void client.invalidateQueries();
  await waitFor(() => expect(asked).toHaveLength(1));
  asked.shift()?.([AGENT, { ...FIRST, ended: { end: "exited", code: 0 } }, SECOND]);
  await screen.findByRole("tab", { name: "Terminal 2" });
  expect(screen.getByRole("tabpanel").getAttribute("aria-label")).toBe("Terminal 1");
});

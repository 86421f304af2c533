import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { Session } from "../../api/types";
import type { HeldLease } from "../screen/control";
import { ShowPanelContext } from "../workplace/showPanel";
import { CodePanel } from "./CodePanel";
import { useIsCodeOpen } from "./openCode";

const shown = vi.fn();
let n_tokens = 0;

beforeEach(() => {
  // Frames would load their pages from the network.
  const { happyDOM } = window as unknown as { happyDOM: { settings: { disableIframePageLoading: boolean } } };
  happyDOM.settings.disableIframePageLoading = true;
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  shown.mockReset();
  n_tokens = 0;
});

function IsOpen() {
  return <output>{useIsCodeOpen() ? "VS Code is open" : "VS Code is not open"}</output>;
}

/** Returns the address that the frame shows. */
function frame(): string | null | undefined {
  return screen.queryByTitle("VS Code")?.getAttribute("src");
}

function leaseOf(user: string): HeldLease {
  return { user, name: user, until: "2026-01-01T00:00:00Z" };
}

function show({ vscode = true, lease = null as HeldLease | null } = {}) {
  vi.stubGlobal("fetch", (url: string) => {
    if (url === "/api/me") return Promise.resolve(Response.json({ id: "me", name: "me" }));
    if (url.endsWith("/ports")) return Promise.resolve(Response.json({ ports: [], shared: [], vscode }));
    n_tokens += 1;
    const urls = { vscode: "http://vscode--s.localhost" };
    return Promise.resolve(Response.json({ token: `t${n_tokens}`, service: "vscode", urls }));
  });
  const session = { id: "s", right: "owner", state: "idle" } as Session;
  const client = createQueryClient();
  const panel = (held: HeldLease | null) => (
    <QueryClientProvider client={client}>
      <ShowPanelContext value={shown}>
        <CodePanel session={session} sandbox="ready" lease={held} />
        <IsOpen />
      </ShowPanelContext>
    </QueryClientProvider>
  );
  const { rerender } = render(panel(lease));
  return (held: HeldLease | null) => rerender(panel(held));
}

it("leads to the panel Files if VS Code is not installed", async () => {
  show({ vscode: false });
  await screen.findByText("VS Code is not installed on this server");
  await userEvent.click(screen.getByRole("button", { name: "Open Files" }));
  expect(shown).toHaveBeenCalledWith("files");
  screen.getByText("VS Code is not open");
});

it("opens VS Code again whenever control changes hands", async () => {
  const change = show();
  await waitFor(() => expect(frame()).toBe("http://vscode--s.localhost/?token=t1"));
  screen.getByText("VS Code is open");
  expect(screen.queryByText(/starts again/)).toBeNull();
  change(leaseOf("me"));
  await waitFor(() => expect(frame()).toBe("http://vscode--s.localhost/?token=t2"));
  screen.getByText(/VS Code starts again when you hand back/);

  // More time is not a change.
  change({ ...leaseOf("me"), until: "2026-01-01T00:05:00Z" });
  expect(frame()).toBe("http://vscode--s.localhost/?token=t2");
  change(leaseOf("Bob"));
  await screen.findByText("Bob has control");
  expect(frame()).toBeUndefined();
  screen.getByText("VS Code is not open");
  change(null);
  await waitFor(() => expect(frame()).toBe("http://vscode--s.localhost/?token=t3"));
});

import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import { Gate } from "./Gate";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

interface Sent {
  code: string;
  replace: boolean;
}

function answer(status: number, body: unknown): Promise<Response> {
  return Promise.resolve(new Response(body === null ? null : JSON.stringify(body), { status }));
}

/** Serves Alice's browser, to which Mallory sent a sign-in link. */
function serve(): Sent[] {
  const sent: Sent[] = [];
  let name = "Alice";
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (url === "/api/me") return answer(200, { id: "1", name, role: "member", active: true, created_at: "" });
    const body = JSON.parse(String(init.body)) as Sent;
    sent.push(body);
    if (body.replace) {
      name = "Mallory";
      return answer(204, null);
    }
    const details = { current: "Alice", new: "Mallory" };
    return answer(409, { error: { code: "other_user", message: "somebody else", details } });
  });
  return sent;
}

function show() {
  render(
    <QueryClientProvider client={createQueryClient()}>
      <Gate arrivalCode="abc">
        <p>The page</p>
      </Gate>
    </QueryClientProvider>,
  );
}

it("asks before a link replaces the user who is signed in", async () => {
  const sent = serve();
  show();
  await screen.findByRole("heading", { name: "You are Alice. Sign in as Mallory instead?" });
  expect(screen.queryByText("The page")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Stay signed in as Alice" }));
  await screen.findByText("The page");
  expect(sent).toEqual([{ code: "abc", replace: false }]);
});

it("signs in as the other user when the person agrees", async () => {
  const sent = serve();
  show();
  await userEvent.click(await screen.findByRole("button", { name: "Sign in as Mallory" }));
  await screen.findByText("The page");
  expect(sent.map(({ replace }) => replace)).toEqual([false, true]);
});

import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { Offer } from "../../api/types";
import { OfferCard } from "./Offers";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const offer: Offer = {
  session_id: "s1",
  session_title: "Free desktop",
  from: "u1",
  from_name: "Mallory",
  to: "u2",
  to_name: "Alice",
  created_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-01-08T00:00:00Z",
  n_people: 2,
  has_instructions: true,
};

function show() {
  const sent: string[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    sent.push(`${init.method} ${url} ${String(init.body ?? "")}`.trim());
    const status = init.method === "DELETE" ? 204 : 200;
    return Promise.resolve(new Response(status === 204 ? null : "{}", { status }));
  });
  const onAccepted = vi.fn();
  render(
    <QueryClientProvider client={createQueryClient()}>
      <OfferCard offer={offer} onAccepted={onAccepted} />
    </QueryClientProvider>,
  );
  return { sent, onAccepted };
}

it("says what accepting means, and accepts with the right that the giver keeps", async () => {
  const { sent, onAccepted } = show();
  screen.getByText("Mallory offers you the session “Free desktop”.");
  screen.getByText(/As its owner you pay for it/);
  screen.getByText(/budget and network become those of a new session/);
  screen.getByText(/It has instructions for its agent/);
  screen.getByText("2 other people keep the right to look at it.");
  await userEvent.selectOptions(screen.getByLabelText("Right that Mallory keeps"), "suggest");
  await userEvent.click(screen.getByRole("button", { name: "Accept" }));
  await waitFor(() => expect(onAccepted).toHaveBeenCalled());
  expect(sent[0]).toBe('POST /api/me/offers/s1/accept {"giver_keeps":"suggest"}');
});

it("lets the giver only look unless something else is chosen", async () => {
  const { sent } = show();
  await userEvent.click(screen.getByRole("button", { name: "Accept" }));
  await waitFor(() => expect(sent[0]).toContain('{"giver_keeps":"view"}'));
});

it("declines", async () => {
  const { sent, onAccepted } = show();
  await userEvent.click(screen.getByRole("button", { name: "Decline" }));
  await waitFor(() => expect(sent[0]).toBe("DELETE /api/me/offers/s1"));
  expect(onAccepted).not.toHaveBeenCalled();
});

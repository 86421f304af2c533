import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { OwnHosts } from "./OwnHosts";

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  fetched.mockImplementation(
    async (_, init) =>
      new Response(init?.method === "PUT" ? String(init.body) : '{"allow":["a.example:443"]}'),
  );
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

it("shows the list, adds a host and takes one back", async () => {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <OwnHosts />
    </QueryClientProvider>,
  );
  await screen.findByText("a.example:443");
  await userEvent.type(screen.getByLabelText("Host"), "*.b.example");
  await userEvent.click(screen.getByRole("button", { name: "Allow the host" }));
  await screen.findByText("*.b.example");
  await userEvent.click(screen.getByRole("button", { name: "Remove a.example:443" }));
  await waitFor(() => expect(screen.queryByText("a.example:443")).toBeNull());
  const bodies = fetched.mock.calls
    .filter(([, init]) => init?.method === "PUT")
    .map(([, init]) => JSON.parse(String(init?.body)));
  expect(bodies).toEqual([{ allow: ["a.example:443", "*.b.example"] }, { allow: ["*.b.example"] }]);
});

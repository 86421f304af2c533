import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Secrets } from "./Secrets";

const AT = "2026-01-01T12:00:00Z";
const STORED = {
  name: "github",
  origins: ["https://api.github.com"],
  http: { headers: ["authorization"], env: "GITHUB_TOKEN" },
  created_at: AT,
  updated_at: AT,
  last_used_at: null,
  last_used_in: null,
};

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  fetched.mockImplementation(async (_, init) =>
    init?.method === "PUT"
      ? new Response(null, { status: 204 })
      : new Response(JSON.stringify({ secrets: [STORED] })),
  );
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

function show() {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Secrets />
    </QueryClientProvider>,
  );
}

function stored(): unknown {
  const call = fetched.mock.calls.find(([, init]) => init?.method === "PUT");
  return call === undefined ? undefined : JSON.parse(call[1]?.body as string);
}

it("shows the variable and the headers of a secret for an API", async () => {
  show();
  expect(await screen.findByText(/\$GITHUB_TOKEN in authorization/)).toBeDefined();
});

it("stores a secret for an API with headers and a variable, and not with one of them", async () => {
  const user = userEvent.setup();
  show();
  await user.type(screen.getByLabelText("Name of the secret"), "github");
  await user.type(screen.getByLabelText("Value"), "a token of mine");
  await user.type(screen.getByLabelText("Sites"), "https://api.github.com");
  await user.type(screen.getByLabelText("Headers, for an HTTP API"), "authorization, x-key");
  const button = screen.getByRole("button", { name: "Store the secret" });
  expect(button).toHaveProperty("disabled", true);
  await user.type(screen.getByLabelText("Variable, for an HTTP API"), "GITHUB_TOKEN");
  await user.click(button);
  expect(stored()).toEqual({
    value: "a token of mine",
    origins: ["https://api.github.com"],
    http: { headers: ["authorization", "x-key"], env: "GITHUB_TOKEN" },
  });
});

it("stores a secret to be typed without a use in requests", async () => {
  const user = userEvent.setup();
  show();
  await user.type(screen.getByLabelText("Name of the secret"), "bank");
  await user.type(screen.getByLabelText("Value"), "open sesame");
  await user.type(screen.getByLabelText("Sites"), "bank.example http://localhost:8000");
  await user.click(screen.getByRole("button", { name: "Store the secret" }));
  expect(stored()).toEqual({ value: "open sesame", origins: ["https://bank.example", "http://localhost:8000"] });
});

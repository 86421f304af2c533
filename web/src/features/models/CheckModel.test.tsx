import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { CheckModel } from "./CheckModel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const REPORT = {
  n_calls: 2,
  cost_usd: 0.02,
  findings: [
    { point: "answer", verdict: "passed", text: "The vendor accepts the key." },
    { point: "click", verdict: "failed", text: "The model missed.", remedy: "Set coordinates." },
  ],
};

it("says what a check costs, then what works and what to do about the rest", async () => {
  const answer = vi.fn((_url: string, options: RequestInit) => {
    const { estimate } = JSON.parse(String(options.body)) as { estimate: boolean };
    const view = { model: "ollama/a", estimate_usd: 0.05, report: estimate ? null : REPORT };
    return Promise.resolve(Response.json(view));
  });
  vi.stubGlobal("fetch", answer);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <CheckModel model="ollama/a" isOpen onOpenChange={() => {}} />
    </QueryClientProvider>,
  );
  await screen.findByText(/costs about \$0\.050/);
  expect(answer).toHaveBeenCalledTimes(1);
  await userEvent.click(screen.getByRole("button", { name: "Check" }));
  const report = await screen.findByRole("list", { name: "Report" });
  expect(report.textContent).toContain("OK: The vendor accepts the key.");
  expect(report.textContent).toContain("Failed: The model missed.Set coordinates.");
  expect(screen.getByRole("button", { name: "Check again" })).toBeTruthy();
});

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";

import { usageKeys } from "../../api/account";
import type { Session, Usage } from "../../api/types";
import { nothingSpent, type Spent } from "../../lib/money";
import { SessionSpent } from "./SessionSpent";

afterEach(cleanup);

const USAGE: Usage = {
  today: { usd: { used: 3, limit: 20 }, tokens: { used: 900, limit: null } },
  month: { usd: 40, tokens: 9000 },
  next_day_at: "2025-01-02T00:00:00Z",
};
const budget = { usd: { used: 0, limit: 5 }, tokens: { used: 0, limit: null } };
const spent: Spent = { usd: 1.5, tokens: 34_100, isUnpriced: false };
const programs: Spent = { usd: 0.25, tokens: 1200, isUnpriced: false };

function show(right: Session["right"], used: { spent: Spent; programs: Spent }) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(usageKeys.mine, USAGE);
  render(
    <QueryClientProvider client={client}>
      <SessionSpent session={{ right, budget } as Session} {...used} />
    </QueryClientProvider>,
  );
}

function figures(): string[] {
  return screen.getAllByRole("definition").map(({ textContent }) => textContent ?? "");
}

it("says what programs used of it, and what there is for the day", async () => {
  show("owner", { spent, programs });
  const button = screen.getByRole("button", { name: "Used: $1.50 · 34.1k tokens" });
  expect(button.textContent).toContain("of which programs $0.25");
  await userEvent.click(button);
  expect(figures()).toEqual([
    "$1.50 · 34.1k tokens",
    "$0.25 · 1.2k tokens",
    "$1.50 of $5.00",
    "$3.00 of $20.00",
  ]);
});

it("keeps one's own day out of other people's sessions", async () => {
  show("drive", { spent, programs: nothingSpent });
  await userEvent.click(screen.getByRole("button", { name: /^Used/ }));
  expect(figures()).toEqual(["$1.50 · 34.1k tokens", "$1.50 of $5.00"]);
});

it("is not there before anything was used", () => {
  show("owner", { spent: nothingSpent, programs: nothingSpent });
  expect(screen.queryByRole("button")).toBeNull();
});

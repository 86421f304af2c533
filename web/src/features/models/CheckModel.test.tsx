import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { accountKeys } from "../../api/account";
import { modelKeys } from "../../api/models";
import { createQueryClient } from "../../api/queryClient";
import type { Finding, ModelCheck, User } from "../../api/types";
import { ModelPicker } from "./ModelPicker";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const GOOD: Finding[] = [
  { point: "answer", verdict: "passed", text: "the model answers" },
  { point: "cache", verdict: "warned", text: "nothing was read from the cache", remedy: "check again later" },
];
const BAD: Finding[] = [
  { point: "answer", verdict: "failed", text: "the key was refused", remedy: "set another `ANTHROPIC_API_KEY`" },
  { point: "click", verdict: "skipped", text: "the model did not answer" },
];

interface Scene {
  role?: User["role"];
  estimate?: number | null;
  findings?: Finding[];
  /** The status and the code of the server's refusal. */
  refuse?: [status: number, code: string, message: string];
  /** True if the check never ends. */
  isSlow?: boolean;
}

/** Opens the model's menu, and returns the bodies of the checks. */
async function open({ role = "admin", estimate = 0.0123, findings = GOOD, refuse, isSlow = false }: Scene) {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    expect(url).toBe("/api/models/check");
    const body = JSON.parse(String(init.body)) as { estimate?: boolean };
    sent.push(body);
    if (refuse && body.estimate !== true) {
      const [status, code, message] = refuse;
      return Promise.resolve(new Response(JSON.stringify({ error: { code, message } }), { status }));
    }
    if (isSlow && body.estimate !== true) return new Promise(() => {});
    const report = body.estimate === true ? null : { findings, n_calls: 2, cost_usd: 0.0041 };
    const check: ModelCheck = { model: "anthropic/opus", estimate_usd: estimate, report };
    return Promise.resolve(new Response(JSON.stringify(check)));
  });
  const client = createQueryClient();
  client.setDefaultOptions({ queries: { staleTime: Infinity, retry: false } });
  const me: User = { id: "u", name: "ada", role, active: true, created_at: "2025-01-01T12:00:00Z" };
  client.setQueryData(accountKeys.me, me);
  client.setQueryData(modelKeys.list, {
    default: "anthropic/opus",
    models: [{ name: "anthropic/opus", usable: true, problem: null, price: null }],
  });
  render(
    <QueryClientProvider client={client}>
      <ModelPicker value={null} onChange={() => {}} effort={{ value: null, onChange: () => {} }} />
    </QueryClientProvider>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Model: anthropic/opus" }));
  return sent;
}

async function openDialog(scene: Scene = {}) {
  const sent = await open(scene);
  await userEvent.click(screen.getByRole("menuitem", { name: "Check this model…" }));
  return { sent, dialog: within(screen.getByRole("dialog", { name: "Check this model" })) };
}

it("says what a check costs, and checks only when told to", async () => {
  const { sent, dialog } = await openDialog();
  await dialog.findByText("Costs about $0.0123. It counts towards no session and no budget.");
  expect(sent).toEqual([{ model: "anthropic/opus", estimate: true }]);
  await userEvent.click(dialog.getByRole("button", { name: "Check" }));
  const rows = within(await dialog.findByRole("list", { name: "Findings" })).getAllByRole("listitem");
  expect(rows.map(({ textContent }) => textContent)).toEqual([
    "Answer: Works.The model answers.",
    "Cache: Needs attention.Nothing was read from the cache.Check again later.",
  ]);
  expect(dialog.getByRole("status").textContent).toBe("This model works.");
  dialog.getByText("2 calls, $0.0041");
  expect(sent[1]).toEqual({ model: "anthropic/opus", estimate: false });
});

it("names what failed, with its remedy", async () => {
  const { dialog } = await openDialog({ findings: BAD, estimate: null });
  await dialog.findByText("The price of this model is not known.");
  await userEvent.click(dialog.getByRole("button", { name: "Check" }));
  const [first, second] = within(await dialog.findByRole("list", { name: "Findings" })).getAllByRole("listitem");
  expect(first?.textContent).toBe("Answer: Does not work.The key was refused.Set another ANTHROPIC_API_KEY.");
  expect(second?.textContent).toContain("Not checked");
  expect(dialog.getByRole("status").textContent).toBe("1 point failed.");
});

it("shows that it is at it, and lets nobody begin twice", async () => {
  const { dialog } = await openDialog({ isSlow: true });
  await userEvent.click(await dialog.findByRole("button", { name: "Check" }));
  expect((await dialog.findByRole("status")).textContent).toContain("The model is being called.");
  expect(dialog.getByRole("button", { name: "Checking…" })).toHaveProperty("disabled", true);
});

it("says why there was no check", async () => {
  const message = "another model is being checked; wait until that is done";
  const { dialog } = await openDialog({ refuse: [409, "check_running", message] });
  await userEvent.click(await dialog.findByRole("button", { name: "Check" }));
  expect((await dialog.findByRole("alert")).textContent).toContain("Another model is being checked");
});

it("is only for administrators", async () => {
  await open({ role: "member" });
  screen.getByRole("menuitem", { name: "Another model…" });
  expect(screen.queryByRole("menuitem", { name: "Check this model…" })).toBeNull();
});

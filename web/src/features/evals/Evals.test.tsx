import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { Eval, EvalResults, ModelFigures, Models, Trial } from "../../api/types";
import { EvalList } from "./EvalList";
import { EvalView } from "./EvalView";
import { StartEval } from "./StartEval";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const RUN: Eval = {
  id: "e1",
  suite: "desktop",
  models: ["anthropic/opus", "ollama/qwen3"],
  runs: 2,
  parallel: 4,
  budget_usd: 5,
  state: "running",
  waits_for: null,
  n_trials: 4,
  n_ended: 3,
  n_passed: 2,
  n_failed: 1,
  cost_usd: 1.5,
  created_at: "2026-01-01T00:00:00Z",
  ended_at: null,
};

const FIGURES: ModelFigures = {
  model: "anthropic/opus",
  n_passed: 2,
  n_failed: 0,
  n_errors: 0,
  n_skipped: 0,
  n_open: 0,
  success: { rate: 1, low: 0.34, high: 1 },
  median_steps: 7.5,
  median_seconds: 42.3,
  median_usd: 0.75,
  total_usd: 1.5,
};

const TRIAL: Trial = {
  number: 0,
  model: "anthropic/opus",
  round: 1,
  state: "passed",
  reason: "the file is there",
  session: "s1",
  n_steps: 7,
  cost_usd: 0.75,
  seconds: 40,
  n_restarts: 0,
  started_at: "2026-01-01T00:00:01Z",
  ended_at: "2026-01-01T00:00:41Z",
};

const RESULTS: EvalResults = {
  ...RUN,
  description: "small tasks on a desktop",
  figures: [
    FIGURES,
    {
      ...FIGURES,
      model: "ollama/qwen3",
      n_passed: 0,
      n_failed: 1,
      n_open: 1,
      success: { rate: 0, low: 0, high: 0.79 },
      median_usd: null,
      total_usd: 0,
    },
  ],
  tasks: [
    {
      name: "clock",
      tags: ["shell"],
      task: "Write the time into a file.",
      trials: [
        TRIAL,
        { ...TRIAL, number: 1, round: 2 },
        { ...TRIAL, number: 2, model: "ollama/qwen3", state: "failed", reason: "no such file", session: "s3" },
        { ...TRIAL, number: 3, model: "ollama/qwen3", round: 2, state: "waiting", session: null, reason: null },
      ],
    },
  ],
};

const MODELS: Models = {
  default: "anthropic/opus",
  models: [
    { name: "anthropic/opus", usable: true, problem: null, price: null },
    { name: "scripted/demo", usable: true, problem: null, price: null },
    { name: "openai/sol", usable: false, problem: "no key", price: null },
  ],
};

interface Scene {
  list?: Eval[];
  run?: EvalResults;
  /** The operation that the server refuses, and its answer. */
  refuse?: [operation: string, status: number, code: string, message: string];
}

/** Shows a part of the pages, and returns the requests that change something. */
function show(part: "list" | "run" | "start", scene: Scene = {}) {
  const sent: [string, unknown][] = [];
  const answers: Record<string, unknown> = {
    "GET /api/evals": { evals: scene.list ?? [], next: null },
    "GET /api/evals/e1": scene.run ?? RESULTS,
    "POST /api/evals": RESULTS,
    "POST /api/evals/e1/stop": { ...RESULTS, state: "stopped" },
    "DELETE /api/evals/e1": "",
    "GET /api/eval-suites": {
      suites: [{ name: "desktop", description: "small tasks on a desktop", n_tasks: 12 }],
    },
    "GET /api/models": MODELS,
  };
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    const operation = `${init.method} ${url.split("?")[0]}`;
    if (init.method !== "GET") sent.push([url, init.body === undefined ? null : JSON.parse(String(init.body))]);
    if (scene.refuse?.[0] === operation) {
      const [, status, code, message] = scene.refuse;
      return Promise.resolve(new Response(JSON.stringify({ error: { code, message } }), { status }));
    }
    return Promise.resolve(new Response(JSON.stringify(answers[operation])));
  });
  const parts = { list: EvalList, run: () => <EvalView id="e1" />, start: StartEval };
  const root = createRootRoute({ component: Outlet });
  const routes = [
    createRoute({ getParentRoute: () => root, path: "/", component: parts[part] }),
    createRoute({ getParentRoute: () => root, path: "/evals", component: () => <p>All evals.</p> }),
    createRoute({ getParentRoute: () => root, path: "/evals/$evalId", component: () => <p>The eval is open.</p> }),
    createRoute({ getParentRoute: () => root, path: "/sessions/$sessionId", component: () => <p>A session.</p> }),
  ];
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return sent;
}

it("lists evals with their progress, each with a way to it", async () => {
  show("list", { list: [RUN, { ...RUN, id: "e0", suite: "mine", state: "done", n_ended: 4, n_passed: 2 }] });
  const table = await screen.findByRole("table", { name: "Evals" });
  const [, first, second] = within(table).getAllByRole("row");
  expect(first?.textContent).toContain("Running");
  expect(first?.textContent).toContain("2 of 3 (4)");
  expect(first?.textContent).toContain("$1.50 of $5.00");
  expect(within(table).getByRole("progressbar").getAttribute("aria-valuetext")).toBe("3 of 4");
  expect(within(table).getByRole("link", { name: "desktop" }).getAttribute("href")).toBe("/evals/e1");
  // The trial without a result counts neither way.
  expect(second?.textContent).toContain("2 of 3");
  expect(second?.textContent).not.toContain("(4)");
  expect(second?.textContent).toContain("Done");
});

it("says when there are no evals, and when they could not be loaded", async () => {
  show("list");
  await screen.findByRole("heading", { name: "No evals yet" });
  cleanup();
  show("list", { refuse: ["GET /api/evals", 429, "too_fast", "too many requests"] });
  expect((await screen.findByRole("alert")).textContent).toBe("Too many requests.");
});

it("shows the models of an eval side by side", async () => {
  show("run");
  const [, opus, qwen] = within(await screen.findByRole("table", { name: "Models" })).getAllByRole("row");
  expect(opus?.textContent).toContain("2 passed");
  expect(opus?.textContent).toContain("100 %");
  expect(opus?.textContent).toContain("95 % interval: 34–100 %");
  expect(opus?.textContent).toContain("7.5");
  expect(opus?.textContent).toContain("42.3 s");
  expect(opus?.textContent).toContain("$0.75");
  expect(qwen?.textContent).toContain("1 failed, 1 to come");
  expect(qwen?.textContent).toContain("0–79 %");
  expect(qwen?.textContent).toContain("–");
});

it("marks each trial, and leads to its session", async () => {
  show("run");
  const table = await screen.findByRole("table", { name: "Tasks" });
  const links = within(table).getAllByRole("link");
  expect(links.map((link) => [link.getAttribute("aria-label"), link.getAttribute("href")])).toEqual([
    ["anthropic/opus, round 1: passed", "/sessions/s1"],
    ["anthropic/opus, round 2: passed", "/sessions/s1"],
    ["ollama/qwen3, round 1: failed", "/sessions/s3"],
  ]);
  within(table).getByRole("img", { name: "ollama/qwen3, round 2: waiting" });
  await userEvent.click(within(table).getByRole("button", { name: "clock" }));
  within(table).getByText("Write the time into a file.");
  const trials = within(within(table).getByRole("list", { name: "Trials of clock" })).getAllByRole("listitem");
  expect(trials.map(({ textContent }) => textContent)[2]).toBe(
    "ollama/qwen3 round 1, failedNo such file. 7 steps, 40.0 s, $0.75",
  );
});

it("stops an eval after a question, and says so", async () => {
  const sent = show("run", { run: { ...RESULTS, waits_for: "5 of 5 sessions are awake" } });
  expect((await screen.findByText("5 of 5 sessions are awake.")).getAttribute("role")).toBe("status");
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  const dialog = screen.getByRole("alertdialog", { name: "Stop this eval?" });
  expect(sent).toEqual([]);
  await userEvent.click(within(dialog).getByRole("button", { name: "Stop the eval" }));
  await waitFor(() => expect(sent).toEqual([["/api/evals/e1/stop", null]]));
  await screen.findByText("Stopped");
  expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("heading", { name: "desktop" }));
});

it("deletes an eval after a question, with its sessions if that is wanted", async () => {
  const sent = show("run", { run: { ...RESULTS, state: "done" } });
  await userEvent.click(await screen.findByRole("button", { name: "Delete…" }));
  const dialog = screen.getByRole("alertdialog", { name: "Delete this eval?" });
  await userEvent.click(within(dialog).getByRole("checkbox", { name: "Delete the sessions of its trials, too" }));
  expect(sent).toEqual([]);
  await userEvent.click(within(dialog).getByRole("button", { name: "Delete eval" }));
  await screen.findByText("All evals.");
  expect(sent).toEqual([["/api/evals/e1?sessions=true", null]]);
});

it("says that an eval was not deleted, and cannot delete one that runs", async () => {
  show("run", {
    run: { ...RESULTS, state: "stopped" },
    refuse: ["DELETE /api/evals/e1", 409, "eval_running", "the eval e1 is running"],
  });
  await userEvent.click(await screen.findByRole("button", { name: "Delete…" }));
  await userEvent.click(screen.getByRole("button", { name: "Delete eval" }));
  expect((await screen.findByRole("alert")).textContent).toBe("The eval e1 is running.");
  cleanup();
  show("run");
  await screen.findByRole("button", { name: "Stop" });
  expect(screen.queryByRole("button", { name: "Delete…" })).toBeNull();
});

it("says that there is no such eval", async () => {
  show("run", { refuse: ["GET /api/evals/e1", 404, "no_eval", "there is no eval e1"] });
  await screen.findByRole("heading", { name: "Eval not found" });
});

it("starts a built-in suite with the default model, and opens the eval", async () => {
  const sent = show("start");
  const form = await screen.findByRole("form", { name: "Start an eval" });
  await within(form).findByText("12 trials, each in a session of its own");
  await userEvent.click(within(form).getByRole("checkbox", { name: "scripted/demo" }));
  await userEvent.type(within(form).getByRole("textbox", { name: /^Another model/ }), "vllm/org/model{Enter}");
  await userEvent.clear(within(form).getByRole("spinbutton", { name: "Trials of each task" }));
  await userEvent.type(within(form).getByRole("spinbutton", { name: "Trials of each task" }), "3");
  await userEvent.type(within(form).getByRole("spinbutton", { name: "Budget in US dollars" }), "2.5");
  within(form).getByText("108 trials, each in a session of its own");
  expect(within(form).queryByRole("checkbox", { name: "openai/sol" })).toBeNull();
  await userEvent.click(within(form).getByRole("button", { name: "Start" }));
  await screen.findByText("The eval is open.");
  const models = ["anthropic/opus", "scripted/demo", "vllm/org/model"];
  expect(sent).toEqual([["/api/evals", { built_in: "desktop", models, runs: 3, budget_usd: 2.5 }]]);
});

it("starts a suite that was pasted, and says what is wrong with it", async () => {
  const message = "line 3, column 5: a task needs a check";
  const sent = show("start", { refuse: ["POST /api/evals", 400, "bad_suite", message] });
  const form = await screen.findByRole("form", { name: "Start an eval" });
  await userEvent.click(await within(form).findByRole("radio", { name: "Your own" }));
  await userEvent.click(within(form).getByRole("button", { name: "Start" }));
  expect(within(form).getByRole("alert").textContent).toBe("Paste a suite.");
  await userEvent.type(within(form).getByRole("textbox", { name: "Suite as YAML" }), "name: mine");
  await userEvent.click(within(form).getByRole("button", { name: "Start" }));
  await within(form).findByText("Line 3, column 5: a task needs a check.");
  expect(sent).toEqual([["/api/evals", { suite: "name: mine", models: ["anthropic/opus"], runs: 1 }]]);
});

it("needs a model, and a number of trials that is one", async () => {
  const sent = show("start");
  const form = await screen.findByRole("form", { name: "Start an eval" });
  await userEvent.click(await within(form).findByRole("checkbox", { name: "anthropic/opus" }));
  await userEvent.click(within(form).getByRole("button", { name: "Start" }));
  expect(within(form).getByRole("alert").textContent).toBe("Choose a model.");
  await userEvent.click(within(form).getByRole("checkbox", { name: "anthropic/opus" }));
  await userEvent.clear(within(form).getByRole("spinbutton", { name: "Trials of each task" }));
  await userEvent.click(within(form).getByRole("button", { name: "Start" }));
  expect(within(form).getByRole("alert").textContent).toBe("The trials of each task are a number from 1 to 100.");
  expect(sent).toEqual([]);
});

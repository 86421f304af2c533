import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { modelKeys } from "../../api/models";
import type { DecisionData, Session } from "../../api/types";
import { nothingSpent } from "../../lib/money";
import { SessionComposer } from "./SessionComposer";

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  sessionStorage.clear();
  fetched.mockImplementation(async () => new Response("{}"));
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

const QUESTION: DecisionData = {
  turn: "t",
  decision: "d",
  kind: "question",
  prompt: "Which colour?",
  form: { type: "text" },
};

function show(question: DecisionData | undefined, state: Session["state"] = "waiting") {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(modelKeys.list, { default: "a/b", models: [] });
  const session = { id: "s", right: "owner", model: "a/b", effort: null } as Session;
  render(
    <QueryClientProvider client={client}>
      <SessionComposer
        session={session}
        state={state}
        spent={nothingSpent}
        programs={nothingSpent}
        question={question}
      />
    </QueryClientProvider>,
  );
  return screen.getByRole("textbox", { name: "Message" });
}

function sent(): [string, unknown] {
  const [path, init] = fetched.mock.calls.find(([, request]) => request?.method === "POST") ?? [];
  return [String(path), JSON.parse(String(init?.body))];
}

it("answers the question that the agent waits with", async () => {
  const field = show(QUESTION);
  expect(field.getAttribute("placeholder")).toBe("Answer the question…");
  await userEvent.type(field, "dark blue{Enter}");
  expect(sent()).toEqual(["/api/sessions/s/decisions/d/answer", { text: "dark blue" }]);
});

it("queues a message all the same if somebody wants that", async () => {
  const field = show(QUESTION);
  await userEvent.click(screen.getByRole("button", { name: "When the agent sees it: Answer" }));
  await userEvent.click(screen.getByRole("menuitemradio", { name: "When it is done" }));
  expect(field.getAttribute("placeholder")).toBe("Add a message for later…");
  await userEvent.type(field, "later{Enter}");
  const [path, body] = sent();
  expect(path).toBe("/api/sessions/s/messages");
  expect(body).toMatchObject({ content: "later", delivery: "queue" });
});

it("forgets why an answer failed when a message is sent in its place", async () => {
  const error = { code: "bad_answer", message: "that is not an answer" };
  fetched.mockImplementation(async (path) =>
    String(path).endsWith("/answer")
      ? new Response(JSON.stringify({ error }), { status: 422 })
      : new Response("{}"),
  );
  const field = show(QUESTION);
  await userEvent.type(field, "dark blue{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("That is not an answer.");
  await userEvent.click(screen.getByRole("button", { name: "When the agent sees it: Answer" }));
  await userEvent.click(screen.getByRole("menuitemradio", { name: "When it is done" }));
  await userEvent.type(field, "{Enter}");
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

it("sends a message while nothing is asked", async () => {
  const field = show(undefined, "running");
  await userEvent.click(screen.getByRole("button", { name: "When the agent sees it: Later" }));
  expect(screen.queryByRole("menuitemradio", { name: "It answers the question" })).toBeNull();
  await userEvent.keyboard("{Escape}");
  await userEvent.type(field, "more{Enter}");
  expect(sent()[0]).toBe("/api/sessions/s/messages");
});

it("sends one message with another effort, and the next with the session's", async () => {
  const field = show(undefined, "idle");
  await userEvent.click(screen.getByRole("button", { name: "Model: a/b" }));
  await userEvent.click(screen.getByRole("menuitemcheckbox", { name: "Only for the next message" }));
  await userEvent.click(screen.getByRole("menuitemradio", { name: "High" }));
  await userEvent.keyboard("{Escape}");
  expect(screen.getByRole("button", { name: "Model: a/b, high effort" })).toBeTruthy();
  await userEvent.type(field, "think{Enter}");
  expect(sent()[1]).toMatchObject({ content: "think", effort: "high" });
  await screen.findByRole("button", { name: "Model: a/b" });
});

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { modelKeys } from "../../api/models";
import type { Models } from "../../api/types";
import { ModelPicker } from "./ModelPicker";

afterEach(cleanup);

const price = { input: 4, cache_write: 5, cache_read: 0.2, output: 20 };
const missing = { usable: false, problem: "set OPENAI_API_KEY to use it", price };
const MODELS: Models = {
  default: "anthropic/opus",
  models: [
    { name: "anthropic/opus", usable: true, problem: null, price },
    { name: "scripted/demo", usable: true, problem: null, price: null },
    { name: "openai/sol", ...missing },
    { name: "openai/luna", ...missing },
  ],
};

function show(props: Partial<Parameters<typeof ModelPicker>[0]>) {
  const client = new QueryClient();
  client.setQueryData(modelKeys.list, MODELS);
  render(
    <QueryClientProvider client={client}>
      <ModelPicker
        value={null}
        onChange={() => {}}
        effort={{ value: null, onChange: () => {} }}
        {...props}
      />
    </QueryClientProvider>,
  );
}

it("shows what there is by vendor, with prices and what is missing", async () => {
  const onChange = vi.fn();
  show({ onChange });
  await userEvent.click(screen.getByRole("button", { name: "Model: anthropic/opus" }));
  const items = screen.getAllByRole("menuitemradio").map((item) => item.textContent);
  expect(items.slice(0, 2)).toEqual(["opusdefault$4 in, $20 out", "demo"]);
  const greyed = screen.getByRole("menuitem", { name: "2 models: Set OPENAI_API_KEY to use it." });
  expect(greyed.getAttribute("aria-disabled")).toBe("true");
  await userEvent.click(screen.getByRole("menuitemradio", { name: "demo" }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith("scripted/demo");
});

it("takes the name of a model that is not in the list, and shows it as chosen", async () => {
  const onChange = vi.fn();
  show({ value: "ollama/qwen3", onChange });
  await userEvent.click(screen.getByRole("button", { name: "Model: ollama/qwen3" }));
  const [chosen] = screen.getAllByRole("menuitemradio", { checked: true });
  expect(chosen?.textContent).toContain("ollama/qwen3");
  await userEvent.click(screen.getByRole("menuitem", { name: "Another model…" }));
  const field = screen.getByRole("textbox", { name: "vendor/name" });
  await userEvent.type(field, "nameless");
  expect(screen.getByRole("button", { name: "Choose" })).toHaveProperty("disabled", true);
  await userEvent.clear(field);
  await userEvent.type(field, "vllm/org/model{Enter}");
  expect(onChange).toHaveBeenCalledExactlyOnceWith("vllm/org/model");
});

it("says when the choice is for one message", async () => {
  const onChange = vi.fn();
  show({ value: "scripted/demo", once: { isOnce: false, onChange } });
  await userEvent.click(screen.getByRole("button", { name: "Model: scripted/demo" }));
  await userEvent.click(screen.getByRole("menuitemcheckbox", { name: "Only for the next message" }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(true);
});

it("chooses an effort with the keyboard, and goes back to the usual one", async () => {
  const onChange = vi.fn();
  show({ effort: { value: "low", onChange } });
  await userEvent.click(screen.getByRole("button", { name: "Model: anthropic/opus, low effort" }));
  const group = screen.getByRole("group", { name: "Effort" });
  const options = within(group).getAllByRole("menuitemradio");
  expect(options.map(({ textContent }) => textContent)).toEqual(["Default", "Low", "Medium", "High"]);
  expect(within(group).getByRole("menuitemradio", { checked: true }).textContent).toBe("Low");
  await userEvent.keyboard("high{Enter}");
  expect(onChange).toHaveBeenLastCalledWith("high");
  // The menu stays open for more than one choice.
  await userEvent.click(within(group).getByRole("menuitemradio", { name: "Default" }));
  expect(onChange).toHaveBeenLastCalledWith(null);
});

it("leaves a message's effort to the session", async () => {
  show({ sessions: { model: "scripted/demo", onChoose: () => {} } });
  await userEvent.click(screen.getByRole("button", { name: "Model: scripted/demo" }));
  const group = screen.getByRole("group", { name: "Effort" });
  expect(within(group).getByRole("menuitemradio", { checked: true }).textContent).toBe("Session");
});

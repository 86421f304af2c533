import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import type { Control } from "./control";
import { ControlButtons } from "./ControlBar";

afterEach(cleanup);

const onTake = vi.fn();
const onHandBack = vi.fn();

function buttons(control: Control, isChanging = false) {
  return (
    <ControlButtons
      control={control}
      isLive
      mayForce={false}
      isChanging={isChanging}
      onTake={onTake}
      onHandBack={onHandBack}
    />
  );
}

it("keeps the focus while control goes back and forth", async () => {
  const user = userEvent.setup();
  const mine: Control = { holder: "me", until: "2025-01-01T12:00:00Z" };
  const { rerender } = render(buttons(mine));
  const button = screen.getByRole("button", { name: "Hand back" });
  expect(button.getAttribute("aria-keyshortcuts")).toBe("Control+Alt+W");
  button.focus();
  await user.keyboard("{Enter}");
  expect(onHandBack).toHaveBeenCalledTimes(1);
  rerender(buttons(mine, true));
  await user.keyboard("{Enter}");
  expect(onHandBack).toHaveBeenCalledTimes(1);
  rerender(buttons({ holder: "agent" }));
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Take over" }));
  await user.keyboard("{Enter}");
  expect(onTake).toHaveBeenCalledTimes(1);
});

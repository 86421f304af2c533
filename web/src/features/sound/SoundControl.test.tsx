import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { SoundControl } from "./SoundControl";
import { levelOf } from "./soundPlayer";
import { changeSound, parsed, soundSetting } from "./soundSetting";
import type { Sound, SoundState } from "./useSound";

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.resetAllMocks();
});

const toggle = vi.fn();
const setVolume = vi.fn();

function sound(state: SoundState): Sound {
  return { state, volume: 0.5, problem: null, toggle, setVolume, level: () => 0, offsetMs: () => null };
}

it("is turned on and off with the keyboard, and has a volume while it is on", async () => {
  const user = userEvent.setup();
  const { rerender } = render(<SoundControl sound={sound("off")} />);
  const button = screen.getByRole("button", { name: "Sound" });
  expect(button.getAttribute("aria-pressed")).toBe("false");
  expect(screen.queryByRole("slider")).toBeNull();
  button.focus();
  await user.keyboard("{Enter}");
  expect(toggle).toHaveBeenCalledTimes(1);

  rerender(<SoundControl sound={sound("connected")} />);
  expect(document.activeElement).toBe(button);
  expect(button.getAttribute("aria-pressed")).toBe("true");
  const volume = screen.getByRole("slider", { name: "Volume" });
  expect((volume as HTMLInputElement).value).toBe("50");
});

it("is not turned off by the click that the browser waits for", async () => {
  const user = userEvent.setup();
  const { rerender } = render(<SoundControl sound={sound("waiting")} />);
  const button = screen.getByRole("button", { name: "Sound" });
  await user.pointer({ target: button, keys: "[MouseLeft>]" });
  rerender(<SoundControl sound={sound("connecting")} />);
  await user.pointer({ target: button, keys: "[/MouseLeft]" });
  expect(toggle).not.toHaveBeenCalled();
  await user.click(button);
  expect(toggle).toHaveBeenCalledTimes(1);
});

it("tells screen readers what it waits for", () => {
  render(<SoundControl sound={sound("lost")} />);
  expect(screen.getByRole("status").textContent).toContain("Trying again");
});

it("remembers the choice of each person", () => {
  expect(soundSetting("ada").get()).toEqual({ isOn: false, volume: 0.8 });
  changeSound("ada", { isOn: true });
  changeSound("ada", { volume: 0.3 });
  expect(soundSetting("ada").get()).toEqual({ isOn: true, volume: 0.3 });
  expect(parsed(localStorage.getItem("deskhand.sound.ada"))).toEqual({ isOn: true, volume: 0.3 });
  expect(soundSetting("bob").get().isOn).toBe(false);
  for (const broken of ["", "null", "7", '{"isOn":"yes","volume":"loud"}']) {
    expect(parsed(broken)).toEqual({ isOn: false, volume: 0.8 });
  }
  expect(parsed('{"isOn":true,"volume":7}').volume).toBe(1);
});

it("shows the level by its order of magnitude", () => {
  expect(levelOf(1)).toBe(1);
  expect(levelOf(0.001)).toBeCloseTo(0);
  expect(levelOf(0.0316)).toBeCloseTo(0.5, 2);
  expect([levelOf(0), levelOf(0.000001)]).toEqual([0, 0]);
});

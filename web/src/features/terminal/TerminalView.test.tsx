import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import type { TerminalConnection } from "./connectTerminal";
import { TerminalView } from "./TerminalView";

interface Handlers {
  onLeave: () => void;
}

const focus = vi.fn();
let connection: TerminalConnection = "connected";
let leave: () => void;

vi.mock("./useTerminal", () => ({
  useTerminal: ({ onLeave }: Handlers) => {
    leave = onLeave;
    return {
      connection,
      state: null,
      readOnly: null,
      hasSelection: false,
      emulator: { current: null },
      retryNow: () => undefined,
      focus,
    };
  },
}));

afterEach(() => {
  cleanup();
  focus.mockReset();
  connection = "connected";
});

function Page() {
  return (
    <>
      <textarea aria-label="Message" />
      <button type="button">Show Terminal</button>
      <section aria-label="Terminal">
        <button type="button" role="tab" aria-selected>
          Terminal 1
        </button>
        <TerminalView
          sessionId="s"
          number={1}
          name="Terminal 1"
          isShown
          isSearching={false}
          onSearching={() => undefined}
          holder={null}
          remedies={{}}
          onLost={() => undefined}
        />
      </section>
    </>
  );
}

test("a terminal takes the keyboard when it is shown, but not from somebody who writes elsewhere", () => {
  connection = "lost";
  const { rerender } = render(<Page />);
  screen.getByRole("textbox", { name: "Message" }).focus();
  connection = "connected";
  rerender(<Page />);
  expect(focus).not.toHaveBeenCalled();

  connection = "lost";
  rerender(<Page />);
  screen.getByRole("button", { name: "Show Terminal" }).focus();
  connection = "connected";
  rerender(<Page />);
  expect(focus).toHaveBeenCalledOnce();
});

test("a key leads out of a terminal, to its tab", () => {
  render(<Page />);
  leave();
  expect(document.activeElement).toBe(screen.getByRole("tab", { name: "Terminal 1" }));
});

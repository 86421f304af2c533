import { expect, it } from "vitest";

import type { StatusItem } from "./items";
import { statusWords } from "./statusWords";

const WAITING: StatusItem = {
  id: 1,
  at: "2025-01-01T12:00:00Z",
  kind: "status",
  state: "waiting",
  sandbox: "ready",
};

it("tells of a desktop that became ready while the agent waits", () => {
  expect(statusWords({ ...WAITING, tookMs: 151 })).toBe("The computer is ready");
  expect(statusWords({ ...WAITING, tookMs: 2100 })).toBe("The computer is ready after 2.1 s");
  expect(statusWords({ ...WAITING, reason: "the server was restarted" })).toBe(
    "The agent waits for you. The server was restarted.",
  );
});

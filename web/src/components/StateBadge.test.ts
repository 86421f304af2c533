import { expect, it } from "vitest";

import { stateWord } from "./StateBadge";

it("says that an agent waits for you only to those who may answer", () => {
  expect(stateWord("waiting", "ready", "owner")).toBe("Waiting for you");
  expect(stateWord("waiting", "ready", "drive")).toBe("Waiting for you");
  expect(stateWord("waiting", "ready", "view")).toBe("Waiting for an answer");
});

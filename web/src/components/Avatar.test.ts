import { expect, it } from "vitest";

import { faceColour } from "./Avatar";

it("gives people colours of their own", () => {
  const colours = ["admin", "grace", "bob", "eve", "alice"].map(faceColour);
  expect(new Set(colours).size).toBe(5);
});

import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";

import { useDraft } from "./useDraft";

beforeEach(() => sessionStorage.clear());
afterEach(cleanup);

/** Writes and sends a message, and writes on before the server has answered. */
function sendWhileWriting(sent: string, meanwhile: string): string {
  const { result } = renderHook(() => useDraft("s"));
  act(() => result.current.change(sent));
  const { clearSent } = result.current;
  act(() => result.current.change(meanwhile));
  act(() => clearSent(sent.trim()));
  expect(renderHook(() => useDraft("s")).result.current.text).toBe(result.current.text);
  return result.current.text;
}

test("a message that was sent leaves the field, and what was written meanwhile stays", () => {
  expect(sendWhileWriting("Book a flight", "Book a flight")).toBe("");
  expect(sendWhileWriting(" Book a flight\n", " Book a flight\nand a hotel")).toBe("and a hotel");
  expect(sendWhileWriting("Book a flight", "Something else")).toBe("Something else");
});

test("files that are sent without a text leave the text alone", () => {
  expect(sendWhileWriting("", "What is in it?")).toBe("What is in it?");
});

import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";

import { lineEndsOf } from "./lineEnds";

test("the ends of lines are told apart", () => {
  expect(lineEndsOf("")).toBe("lf");
  expect(lineEndsOf("a\nb\n")).toBe("lf");
  expect(lineEndsOf("a\r\nb")).toBe("crlf");
  expect(lineEndsOf("a\r\nb\n")).toBe("mixed");
  expect(lineEndsOf("a\rb")).toBe("mixed");
});

test("an edit changes no other line", () => {
  for (const [text, lineEnd] of [
    ["a\r\nb\r\n", "\r\n"],
    ["\ufeffa\nb\n", "\n"],
  ] as const) {
    const extensions = [EditorState.lineSeparator.of(lineEnd)];
    const before = EditorState.create({ doc: text, extensions });
    expect(before.sliceDoc()).toBe(text);
    const after = before.update({ changes: { from: before.doc.length, insert: "c" } }).state;
    expect(after.sliceDoc()).toBe(`${text}c`);
  }
});

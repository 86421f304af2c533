import { expect, test } from "vitest";

import {
  folderOf,
  joined,
  lookOf,
  movedPath,
  normalPath,
  readTable,
  separatorOf,
  sizeWords,
  targetOf,
  textOf,
} from "./fileKinds";

test("a file is shown by its name and size", () => {
  expect(lookOf("a.PNG", 10)).toBe("image");
  expect(lookOf("a.svg", 10)).toBe("text");
  expect(lookOf("notes.md", 10)).toBe("markdown");
  expect(lookOf("data.csv", 10)).toBe("csv");
  expect(lookOf("Makefile", 10)).toBe("text");
  expect(lookOf(".png", 10)).toBe("text");
  expect(lookOf("report.pdf", 10)).toBe("pdf");
  expect(lookOf("report.docx", 10)).toBe("none");
  expect(lookOf("log.txt", 3_000_000)).toBe("none");
});

test("tables have quotes, empty cells and an end", () => {
  expect(readTable('a,"b, ""c""",\r\n1,,"2\n3"\n', ",", 10)).toEqual([
    ["a", 'b, "c"', ""],
    ["1", "", "2\n3"],
  ]);
  expect(readTable("a\tb\nc", "\t", 10)).toEqual([["a", "b"], ["c"]]);
  expect(readTable("1\n2\n3\n", ",", 2)).toEqual([["1"], ["2"]]);
});

test("the first line tells the separator of a table", () => {
  expect(separatorOf("a.csv", "a,b;c,d\n1;2;3;4;5\n")).toBe(",");
  expect(separatorOf("a.csv", 'a;"b,c,d,e";f\n')).toBe(";");
  expect(separatorOf("a.csv", "a\tb\n")).toBe("\t");
  expect(separatorOf("a.csv", "one column\n")).toBe(",");
  expect(separatorOf("a.tsv", "a,b\n")).toBe("\t");
  expect(readTable("\ufeffa;b\n", ";", 10)).toEqual([["a", "b"]]);
});

test("paths lead where the shell's would", () => {
  expect(targetOf("/home/agent/link", "../other/a.txt")).toBe("/home/other/a.txt");
  expect(targetOf("/link", "./a")).toBe("/a");
  expect(targetOf("/home/agent/link", "/etc//passwd")).toBe("/etc/passwd");
  expect([normalPath("~/"), normalPath("~/a/../b"), normalPath("/"), normalPath("tmp/")]).toEqual([
    "~",
    "~/b",
    "/",
    "/tmp",
  ]);
  expect(movedPath("/a/b/c", "/a/b", "/x")).toBe("/x/c");
  expect(movedPath("/a/bc", "/a/b", "/x")).toBe("/a/bc");
  expect(movedPath("/a/b", "/a/b", "/x")).toBe("/x");
});

test("only text is shown as text", async () => {
  expect(await textOf(new Blob(["\ufeffa"]))).toBe("\ufeffa");
  expect(await textOf(new Blob(["grün"]))).toBe("grün");
  expect(await textOf(new Blob([new Uint8Array([0xff, 0xfe])]))).toBe(null);
  expect(await textOf(new Blob(["a\0b"]))).toBe(null);
});

test("sizes and paths are for people", () => {
  expect([0, 1023, 1536, 20_000_000, 5e12].map(sizeWords)).toEqual([
    "0 B",
    "1023 B",
    "1.5 KiB",
    "19 MiB",
    "4657 GiB",
  ]);
  expect(folderOf("/a")).toBe("/");
  expect(folderOf("/a/b")).toBe("/a");
  expect(joined("/", "a")).toBe("/a");
});

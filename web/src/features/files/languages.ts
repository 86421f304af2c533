import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

import { endingOf } from "./fileKinds";

type Load = () => Promise<Extension>;

const javascript =
  (options: { jsx?: boolean; typescript?: boolean }): Load =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript(options);

const shell: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/shell")).shell);
const yaml: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/yaml")).yaml);
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();

const clike = (name: "c" | "cpp" | "java" | "csharp" | "kotlin" | "scala"): Load => async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/clike"))[name]);
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();

/** Languages by the ending of a file's name. Each is loaded when it is needed. */
const LANGUAGES: Record<string, Load> = {
  js: javascript({ jsx: true }),
  mjs: javascript({}),
  cjs: javascript({}),
  jsx: javascript({ jsx: true }),
  ts: javascript({ typescript: true }),
  tsx: javascript({ jsx: true, typescript: true }),
  json: async () => (await import("@codemirror/lang-json")).json(),
  py: async () => (await import("@codemirror/lang-python")).python(),
  rs: async () => (await import("@codemirror/lang-rust")).rust(),
  html,
  htm: html,
  svg: html,
  xml: html,
  css,
  scss: css,
  sh: shell,
  bash: shell,
  yaml,
  yml: yaml,
  toml: async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/toml")).toml),
  go: async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/go")).go),
  c: clike("c"),
  h: clike("c"),
  cc: clike("cpp"),
  cpp: clike("cpp"),
  cxx: clike("cpp"),
  hpp: clike("cpp"),
  java: clike("java"),
  cs: clike("csharp"),
  kt: clike("kotlin"),
  scala: clike("scala"),
  sql: async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/sql")).standardSQL),
  md: markdown,
  markdown,
  dockerfile: async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile),
  rb: async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/ruby")).ruby),
  diff: async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/diff")).diff),
  ini: async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/properties")).properties),
};

/** Languages of files whose names have no ending. */
const NAMES: Record<string, string> = { dockerfile: "dockerfile", containerfile: "dockerfile" };

/** Returns the language of a file, or nothing if it is shown as plain text. */
export async function languageOf(name: string): Promise<Extension | null> {
  const load = LANGUAGES[NAMES[name.toLowerCase()] ?? endingOf(name)];
  return load === undefined ? null : load();
}

/** The way in which a file is shown, judged by its name. */
export type Look = "text" | "markdown" | "csv" | "image" | "pdf" | "none";

/** Larger texts are only downloaded: the page would become slow. */
export const LARGEST_TEXT_BYTES = 2 * 1024 * 1024;
export const LARGEST_IMAGE_BYTES = 20 * 1024 * 1024;
export const LARGEST_PDF_BYTES = 50 * 1024 * 1024;

/** Pictures that a browser draws without running anything. SVG is text here. */
const IMAGES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
};

const BINARY = new Set(
  "zip gz tgz xz bz2 7z tar exe bin so o a class jar wasm mp3 mp4 mov mkv webm ogg wav flac ttf otf woff woff2 doc docx xls xlsx ppt pptx odt ods odp db sqlite sqlite3 pyc".split(
    " ",
  ),
);

export function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** Returns the look of a file. Unknown kinds are tried as text, if they are small. */
export function lookOf(name: string, size: number): Look {
  const ending = endingOf(name);
  if (ending in IMAGES) return size <= LARGEST_IMAGE_BYTES ? "image" : "none";
  if (ending === "pdf") return size <= LARGEST_PDF_BYTES ? "pdf" : "none";
  if (BINARY.has(ending) || size > LARGEST_TEXT_BYTES) return "none";
  if (ending === "md" || ending === "markdown") return "markdown";
  if (ending === "csv" || ending === "tsv") return "csv";
  return "text";
}

export function imageType(name: string): string {
  return IMAGES[endingOf(name)] ?? "application/octet-stream";
}

/** Returns the text of a file, or null if it is not UTF-8. A byte order mark stays, so that a save writes it again. */
export async function textOf(blob: Blob): Promise<string | null> {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await blob.arrayBuffer());
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

export type Separator = "," | ";" | "\t";

/** Returns the separator of a table: that of its name, or the one that its first line has more of. */
export function separatorOf(name: string, text: string): Separator {
  if (endingOf(name) === "tsv") return "\t";
  // Signs in quotes separate nothing.
  const [first = ""] = text.replaceAll(/"[^"]*"/g, "").split("\n", 1);
  const count = (separator: Separator) => first.split(separator).length;
  const separators: Separator[] = [",", ";", "\t"];
  return separators.reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** Reads separated values, with quotes. */
export function readTable(text: string, separator: Separator, mostRows: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  // A byte order mark is no part of the first cell.
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length && rows.length < mostRows; at++) {
    const char = text[at] ?? "";
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (char === '"' && cell === "") isQuoted = true;
    else if (char === separator) endCell();
    else if (char === "\n") endRow();
    else if (char !== "\r") cell += char;
  }
  if (rows.length < mostRows) endRow();
  return rows;
}

/** Returns a size for people. */
export function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns the folder that a path is in. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the path that a link leads to. Its target may be relative to the folder that the link is in. */
export function targetOf(link: string, target: string): string {
  return normalPath(target.startsWith("/") ? target : joined(folderOf(link), target));
}

/** Returns a path without empty parts, `.` and `..`. It is absolute, or begins with `~`. */
export function normalPath(path: string): string {
  const isHome = path === "~" || path.startsWith("~/");
  const parts: string[] = [];
  for (const part of path.split("/").slice(isHome ? 1 : 0)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const rest = parts.join("/");
  if (!isHome) return `/${rest}`;
  return rest === "" ? "~" : `~/${rest}`;
}

/** Returns the path of something after the thing at `from` was moved to `to`. */
export function movedPath(path: string, from: string, to: string): string {
  return path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

export function joined(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** Returns the reason why a name cannot be used, if there is one. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === "") return "Give it a name.";
  if (name.includes("/")) return "A name has no slash in it.";
  return name === "." || name === ".." ? "This name has another meaning." : undefined;
}

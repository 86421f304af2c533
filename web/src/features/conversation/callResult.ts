import type { NotDone, ToolResultData } from "../../api/types";
import type { CallItem } from "./items";

/** Returns the outcome of a call that was not done, or not to its end. */
export function notDoneWords(reason: NotDone, refusedBy: string | undefined): string {
  switch (reason) {
    case "refused":
      return `Not run: ${refusedBy ?? "somebody"} refused it`;
    case "unanswered":
      return "Not run: nobody answered in time";
    case "forbidden":
      return "Not run: the approval rules refuse it";
    case "skipped":
      return "Not run";
    case "stopped":
      return "Stopped";
  }
}

/** Returns a call with its result, or with one more piece of its output. */
export function withResult(item: CallItem, data: ToolResultData): CallItem {
  if (data.partial === true) return { ...item, output: item.output + data.text };
  const { exit_code: exitCode } = (data.state ?? {}) as { exit_code?: unknown };
  return {
    ...item,
    output: data.text,
    state: data.not_done !== undefined ? "not_done" : data.is_error ? "failed" : "ok",
    durationMs: data.duration_ms,
    ...(typeof exitCode === "number" && { exitCode }),
    ...(data.not_done !== undefined && { notDone: data.not_done }),
  };
}

import type { ToolResultData } from "../../api/types";
import type { CallItem } from "./items";

/** Returns a call with its result, or with one more piece of its output. */
export function withResult(item: CallItem, data: ToolResultData): CallItem {
  if (data.partial === true) return { ...item, output: item.output + data.text };
  const { exit_code: exitCode } = (data.state ?? {}) as { exit_code?: unknown };
  return {
    ...item,
    output: data.text,
    state: data.is_error ? "failed" : "ok",
    durationMs: data.duration_ms,
    ...(typeof exitCode === "number" && { exitCode }),
  };
}

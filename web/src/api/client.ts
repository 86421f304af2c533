import { sentence } from "../lib/text";
import { formatSoon } from "../lib/time";
import type { Problem } from "./types";

/** A request the server refused, or could not be asked. */
export class ApiError extends Error {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Asks the server. `body` goes as JSON; an empty answer is `undefined`. */
export async function request<Answer>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const init: RequestInit = { method, headers: { accept: "application/json" } };
  if (body !== undefined) {
    init.headers = { accept: "application/json", "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  if (signal) init.signal = signal;

  const response = await send(path, init);
  const text = await response.text();
  if (!response.ok) throw refusal(response, text);
  if (text === "") return undefined as Answer;
  return JSON.parse(text) as Answer;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "Deskhand cannot be reached. Is the server running?");
  }
}

function refusal(response: Response, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as Problem;
    const message = `${sentence(error.message)}${roomWords(error.details)}`;
    return new ApiError(response.status, error.code, message);
  } catch {
    // Something between the page and the server answered, such as a proxy.
    const message = `The server answered ${response.status} ${response.statusText}`;
    return new ApiError(response.status, "unreadable", sentence(message));
  }
}

/** When a limit that is reached has room again, if the server knows. */
function roomWords(details: unknown): string {
  if (typeof details !== "object" || details === null || !("frees_at" in details)) return "";
  const { frees_at } = details;
  return typeof frees_at === "string" ? ` There is room again ${formatSoon(frees_at)}.` : "";
}

/** What to tell people about any failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

import { observable } from "../lib/observable";
import { sentence } from "../lib/text";
import { formatSoon } from "../lib/time";
import type { Operations, Problem } from "./types";

/** A request that the server refused or that did not reach it. */
export class ApiError extends Error {
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number;
  /** A stable code, for programs. */
  readonly code: string;
  /** The facts behind the message, if there are any. */
  readonly details: unknown;

  constructor(status: number, code: string, message: string, details?: unknown) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** An operation of the server, such as `GET /api/sessions/{id}`. */
type Operation = keyof Operations;

/** The names of the parameters in a path. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** The parts of a request. Those that the operation needs are required. */
type RequestParts<O extends Operation> = {
  query?: Record<string, string | number | boolean | undefined>;
  signal?: AbortSignal;
} & ([PathNames<O>] extends [never] ? unknown : { path: Record<PathNames<O>, string> }) &
  (Operations[O]["body"] extends undefined ? unknown : { body: Operations[O]["body"] });

/** Requests an operation. `body` is sent as JSON. An empty response is `undefined`. */
export async function request<O extends Operation>(
  operation: O,
  ...[parts]: object extends RequestParts<O> ? [RequestParts<O>?] : [RequestParts<O>]
): Promise<Operations[O]["answer"]> {
  const { path = {}, query = {}, body, signal } = (parts ?? {}) as Partial<AnyParts>;
  const [method = "", template = ""] = operation.split(" ");
  const init: RequestInit = { method, headers: { accept: "application/json" } };
  if (body !== undefined) {
    init.headers = { accept: "application/json", "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  if (signal) init.signal = signal;

  const response = await send(urlOf(template, path, query), init);
  const text = await response.text();
  if (!response.ok) throw refusal(response, text);
  return text === "" ? undefined : JSON.parse(text);
}

/** The parts of any request. */
interface AnyParts {
  path: Record<string, string>;
  query: Record<string, string | number | boolean | undefined>;
  body: unknown;
  signal: AbortSignal;
}

/** Fills in the parameters. A query parameter that is undefined is left out. */
function urlOf(template: string, path: AnyParts["path"], query: AnyParts["query"]): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`)
    .join("&");
  return search === "" ? filled : `${filled}?${search}`;
}

/** Requests something that is not JSON. A refusal is thrown. */
export async function requestRaw(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await send(path, init);
  if (!response.ok) throw refusal(response, await response.text());
  return response;
}

/** False from a request that did not reach the server until one that did. */
const isReachable = observable(true);

/** Returns an error, unless it was that the server could not be reached, and now it can. */
export function useStanding(error: Error | null): Error | null {
  const canReach = isReachable.use();
  return canReach && error instanceof ApiError && error.code === "unreachable" ? null : error;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, init);
    isReachable.set(true);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    isReachable.set(false);
    throw new ApiError(0, "unreachable", "Deskhand cannot be reached. Is the server running?");
  }
}

/** Returns the error for a response that refuses something. */
export function refusal(
  response: Pick<Response, "status" | "statusText">,
  text: string,
): ApiError {
  try {
    const { error } = JSON.parse(text) as Problem;
    const message = `${sentence(error.message)}${roomWords(error.details)}`;
    return new ApiError(response.status, error.code, message, error.details);
  } catch {
    // Something between the page and the server answered, such as a proxy.
    const message = `The server answered ${response.status} ${response.statusText}`;
    return new ApiError(response.status, "unreadable", sentence(message));
  }
}

/** Returns a sentence about when a limit has room again, if the server knows. */
function roomWords(details: unknown): string {
  if (typeof details !== "object" || details === null || !("frees_at" in details)) return "";
  const { frees_at } = details;
  return typeof frees_at === "string" ? ` There is room again ${formatSoon(frees_at)}.` : "";
}

/** Returns the message for people about any failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}

/** Returns true for a refusal with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

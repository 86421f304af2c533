/** The shapes of `docs/api.md`. */

export type SessionState = "initializing" | "idle" | "running" | "waiting" | "error" | "terminated";
export type SandboxState = "none" | "starting" | "ready" | "paused" | "stopped" | "lost";

export interface User {
  id: string;
  name: string;
  role: "admin" | "member";
  /** Whoever is not active cannot sign in. */
  active: boolean;
  created_at: string;
}

export interface UsersPage {
  users: User[];
  next: string | null;
}

/** What a token is good for; each includes those before it. */
export type Scope = "read" | "write" | "admin";

export interface Token {
  id: string;
  name: string;
  /** How it begins. */
  prefix: string;
  scope: Scope;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

/** A new token; the secret is shown this once. */
export interface MadeToken extends Token {
  token: string;
}

export interface SignInLink {
  url: string;
  expires_at: string;
}

/** What somebody may do in a session; each includes those before it. */
export type Right = "view" | "suggest" | "drive" | "owner";
/** A right that the owner can give. */
export type GivenRight = Exclude<Right, "owner">;

export interface Person {
  id: string;
  name: string;
  right: Right;
  /** Whether they have the session open. */
  here: boolean;
}

/** A link that lets people into a session. */
export interface Share {
  id: string;
  right: GivenRight;
  created_at: string;
  expires_at: string;
}

/** A new link; the address is shown this once. */
export interface MadeShare extends Share {
  url: string;
}

export interface Session {
  id: string;
  owner: string;
  /** What the one who asks may do with it. */
  right: Right;
  /** Empty until somebody names it or the first prompt does. */
  title: string;
  model: string;
  state: SessionState;
  sandbox: SandboxState;
  metadata: Record<string, unknown>;
  last_seq: number;
  created_at: string;
  updated_at: string;
}

export interface SessionsPage {
  sessions: Session[];
  next: string | null;
}

export interface Message {
  id: string;
  session_id: string;
  role: "user" | "assistant";
  content: string;
  author: string | null;
  created_at: string;
}

export interface StatusData {
  state: SessionState;
  sandbox: SandboxState;
  reason?: string;
  /** When a turn begins, its id and the message it works on. */
  turn?: string;
  prompt?: string;
}
export interface MessageData {
  id: string;
  role: "user" | "assistant";
  content: string;
  author?: string;
  turn?: string;
}
export interface SaidData {
  turn: string;
  block: number;
  text: string;
}
export interface ToolUseData {
  turn?: string;
  call: string;
  tool: string;
  input: unknown;
  by?: string;
}
export interface ToolResultData {
  turn?: string;
  call: string;
  text: string;
  is_error: boolean;
  duration_ms: number;
  /** Only what is new; more of the same call follows. */
  partial?: boolean;
}
export interface ScreenshotData {
  turn?: string;
  call?: string;
  blob: string;
  width: number;
  height: number;
}
export interface ErrorData {
  turn?: string;
  code: string;
  message: string;
}
export interface CompleteData {
  turn: string;
  outcome: "done" | "stopped";
  n_steps: number;
  duration_ms: number;
}

interface Numbered<Type extends string, Data> {
  seq: number;
  type: Type;
  at: string;
  data: Data;
}

/** One fact of a session's log. A newer server may send other types too; they are passed over. */
export type SessionEvent =
  | Numbered<"status", StatusData>
  | Numbered<"message", MessageData>
  | Numbered<"thinking", SaidData>
  | Numbered<"text", SaidData>
  | Numbered<"tool_use", ToolUseData>
  | Numbered<"tool_result", ToolResultData>
  | Numbered<"screenshot", ScreenshotData>
  | Numbered<"error", ErrorData>
  | Numbered<"complete", CompleteData>;

/** Somebody came or went. It stands between the events and has no number. */
export interface PresenceMessage {
  type: "collaborator_join" | "collaborator_leave";
  data: { id: string; name: string };
}

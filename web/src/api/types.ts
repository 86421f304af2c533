/** The shapes of `docs/api.md`. */

export type SessionState = "initializing" | "idle" | "running" | "waiting" | "error" | "terminated";
export type SandboxState = "none" | "starting" | "ready" | "paused" | "stopped" | "lost";

export interface User {
  id: string;
  name: string;
}

export interface Session {
  id: string;
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

/** How a message reaches an agent that is at work. */
export type Delivery = "queue" | "steer" | "interrupt";

export interface Message {
  id: string;
  session_id: string;
  role: "user" | "assistant";
  content: string;
  author: string | null;
  delivery: Delivery;
  created_at: string;
}

export interface StatusData {
  state: SessionState;
  sandbox: SandboxState;
  reason?: string;
  /** When a turn begins or is steered, its id and the message. */
  turn?: string;
  prompt?: string;
}
export interface MessageData {
  id: string;
  role: "user" | "assistant";
  content: string;
  author?: string;
  /** `queue` when it is not there. */
  delivery?: Delivery;
  turn?: string;
}
export type QueueData = { message: string; by: string } & (
  | { change: "edited"; content: string }
  | { change: "redelivered"; delivery: Delivery }
  | { change: "moved"; before?: string }
  | { change: "removed" }
);
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
export interface CostData {
  turn: string;
  step: number;
  usd: number;
}
export interface ErrorData {
  turn?: string;
  code: string;
  message: string;
}
export interface CompleteData {
  turn: string;
  outcome: "done" | "stopped" | "interrupted";
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
  | Numbered<"queue", QueueData>
  | Numbered<"thinking", SaidData>
  | Numbered<"text", SaidData>
  | Numbered<"tool_use", ToolUseData>
  | Numbered<"tool_result", ToolResultData>
  | Numbered<"screenshot", ScreenshotData>
  | Numbered<"cost", CostData>
  | Numbered<"error", ErrorData>
  | Numbered<"complete", CompleteData>;

import type {
  DecisionData,
  Delivery,
  LeaseData,
  Reply,
  SandboxState,
  SessionState,
  SettledState,
} from "../../api/types";
import type { Spent } from "../../lib/money";

/** A picture of the screen in the log. */
export interface Shot {
  id: number;
  blob: string;
  width: number;
  height: number;
  at: string;
}

/** Every item carries the number of the event it began with, which is also its place. */
export interface ItemBase {
  id: number;
  at: string;
}
export interface PromptItem extends ItemBase {
  kind: "prompt";
  /** The id of the message. */
  message: string;
  text: string;
  /** The user who wrote it. */
  author?: string;
  /** Their name when they wrote it. */
  authorName?: string;
  delivery: Delivery;
  /** The model that works on it, when it is not the session's. */
  model?: string;
  /** Whether the agent was shown it in the middle of a turn. */
  isSteering: boolean;
}
export interface SaidItem extends ItemBase {
  kind: "text" | "thinking";
  turn: string;
  block: number;
  text: string;
  /** When its newest piece came. */
  lastAt: string;
  /** Whether the model's answer broke off in it. */
  isCut?: boolean;
}
/** The agent's whole answer, where it was not already spoken in pieces. */
export interface AnswerItem extends ItemBase {
  kind: "answer";
  text: string;
}
export interface CallItem extends ItemBase {
  kind: "call";
  turn?: string;
  call: string;
  tool: string;
  input: unknown;
  /** The tool's sentence about it. */
  description?: string;
  byHand: boolean;
  /** `waiting` while a person is asked, `cut` when the turn ended before a result came. */
  state: "running" | "waiting" | "ok" | "failed" | "cut";
  output: string;
  durationMs?: number;
  shots: readonly Shot[];
}
export interface ShotItem extends ItemBase {
  kind: "shot";
  shot: Shot;
}
export interface StatusItem extends ItemBase {
  kind: "status";
  state: SessionState;
  sandbox: SandboxState;
  reason?: string;
  /** How long the desktop took to start, on the line that says it is ready. */
  tookMs?: number;
}
/** Somebody took control, or does not have it any more. */
export interface LeaseItem extends ItemBase {
  kind: "lease";
  data: LeaseData;
}
/** The model could not be reached, and another one goes on. */
export interface FallbackItem extends ItemBase {
  kind: "fallback";
  model: string;
  message: string;
}
/** Somebody gave the session another model. */
export interface ModelItem extends ItemBase {
  kind: "model";
  model: string;
  by: string;
  /** Their name when they did. */
  byName: string;
}
/** The agent comes close to what it may use. */
export interface NoticeItem extends ItemBase {
  kind: "notice";
  message: string;
}
export interface ErrorItem extends ItemBase {
  kind: "error";
  code: string;
  message: string;
  /** What the turn used, when this was its end. */
  spent?: Spent;
}
export interface CompleteItem extends ItemBase {
  kind: "complete";
  outcome: "done" | "stopped" | "interrupted" | "enough";
  nSteps: number;
  durationMs: number;
  /** What the turn used. */
  spent: Spent;
}
export interface DecisionItem extends ItemBase {
  kind: "decision";
  asked: DecisionData;
  /** How it was settled, once it was. */
  settled?: { state: SettledState; at: string; answer?: Reply; by?: string };
}
export type Item =
  | PromptItem
  | SaidItem
  | AnswerItem
  | CallItem
  | ShotItem
  | DecisionItem
  | StatusItem
  | LeaseItem
  | FallbackItem
  | ModelItem
  | NoticeItem
  | ErrorItem
  | CompleteItem;

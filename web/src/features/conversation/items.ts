import type {
  AttachmentData,
  DecisionData,
  Delivery,
  Effort,
  LeaseData,
  NotDone,
  Reply,
  SandboxState,
  SessionState,
  SettledState,
} from "../../api/types";
import type { Spent } from "../../lib/money";

/** A screenshot in the log. */
export interface Shot {
  id: number;
  blob: string;
  width: number;
  height: number;
  at: string;
}

/**
 * The common part of all items. `id` is the number of the event an item began with, which is also
 * its position.
 */
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
  /** The author's name at that time. */
  authorName?: string;
  delivery: Delivery;
  /** The model that works on it, if it is not the session's. */
  model?: string;
  /** The effort of the model that works on it, if it is not the session's. */
  effort?: Effort;
  /** True if it waits until somebody sends it, because the agent was stopped. */
  isHeld: boolean;
  /** The files that came with it. */
  files: readonly AttachmentData[];
  /** True if the agent received it in the middle of a turn. */
  isSteering: boolean;
}
export interface SaidItem extends ItemBase {
  kind: "text" | "thinking";
  turn: string;
  block: number;
  text: string;
  /** The time of its newest piece. */
  lastAt: string;
  /** True if the model's answer broke off here. */
  isCut?: boolean;
}
/** The agent's complete answer, if it did not already arrive in pieces. */
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
  /** The tool's description of it. */
  description?: string;
  byHand: boolean;
  /**
   * `waiting` while a person is asked, `cut` if the turn ended before there was a result, `not_done` if it was refused,
   * stopped or left out.
   */
  state: "running" | "waiting" | "ok" | "failed" | "cut" | "not_done";
  /** The reason why it was not done. */
  notDone?: NotDone;
  /** The user who refused it. */
  refusedBy?: string;
  output: string;
  durationMs?: number;
  /** The exit code of a command. */
  exitCode?: number;
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
  /** The time that the desktop took to start, on the line that says it is ready. */
  tookMs?: number;
}
/** A person took control, or no longer has it. */
export interface LeaseItem extends ItemBase {
  kind: "lease";
  data: LeaseData;
}
/** The model could not be reached, and another one continues. */
export interface FallbackItem extends ItemBase {
  kind: "fallback";
  model: string;
  message: string;
}
/** A person gave the session another model. */
export interface ModelItem extends ItemBase {
  kind: "model";
  model: string;
  by: string;
  /** Their name at that time. */
  byName: string;
}
/** The session has another owner. */
export interface HandedOverItem extends ItemBase {
  kind: "handed_over";
  fromName: string;
  toName: string;
}
/** The agent is close to a limit. */
export interface NoticeItem extends ItemBase {
  kind: "notice";
  message: string;
}
/** The conversation was shortened for the model. Without a text, only old results were. */
export interface SummaryItem extends ItemBase {
  kind: "summary";
  text: string | undefined;
}
/** The page that a message begins with was opened, or could not be. */
export interface OpenedItem extends ItemBase {
  kind: "opened";
  url: string;
  problem: string | undefined;
}
/** A file that the agent handed to people. */
export interface ArtifactItem extends ItemBase {
  kind: "artifact";
  name: string;
  size: number;
}
export interface ErrorItem extends ItemBase {
  kind: "error";
  code: string;
  message: string;
  /** The usage of the turn, if this ended it. */
  spent?: Spent;
}
export interface CompleteItem extends ItemBase {
  kind: "complete";
  outcome: "done" | "stopped" | "interrupted" | "enough";
  nSteps: number;
  durationMs: number;
  /** The usage of the turn. */
  spent: Spent;
}
export interface DecisionItem extends ItemBase {
  kind: "decision";
  asked: DecisionData;
  /** The outcome, once the decision is settled. */
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
  | HandedOverItem
  | NoticeItem
  | SummaryItem
  | OpenedItem
  | ArtifactItem
  | ErrorItem
  | CompleteItem;

import type {
  LeaseData,
  RetryData,
  ScreenshotData,
  SessionEvent,
  StatusData,
} from "../../api/types";
import { nothingSpent, type Spent } from "../../lib/money";
import type { HeldLease } from "../screen/control";
import { changeCalls, settle } from "./decisionItems";
import type { CallItem, ErrorItem, Item, ItemBase, PromptItem, SaidItem, Shot, StatusItem } from "./items";
import { breakOff, changeModel, withCost } from "./modelItems";
import { changeWaiting } from "./waitingItems";

/** What a session's log amounts to on the page. */
export interface Timeline {
  lastSeq: number;
  items: readonly Item[];
  /** Prompts no turn has begun on, in the order people gave them. They follow the items. */
  waiting: readonly PromptItem[];
  shots: readonly Shot[];
  status: StatusData | null;
  /** The person who has mouse and keyboard, if one has. */
  lease: HeldLease | null;
  /** What last happened to a lease. */
  leaseChange: { seq: number; data: LeaseData } | null;
  /** Since when the agent works on the current turn. */
  turnStartedAt: string | null;
  /** The try of the model that failed last, until it speaks again. */
  retry: RetryData | null;
  /** What the session has used: the agent's turns, and programs on its desktop. */
  spent: Spent;
  /** What programs on the desktop have used of that. */
  programsSpent: Spent;
  /** What the current turn has used. */
  turnSpent: Spent;
}

export const emptyTimeline: Timeline = {
  lastSeq: 0,
  items: [],
  waiting: [],
  shots: [],
  status: null,
  lease: null,
  leaseChange: null,
  turnStartedAt: null,
  retry: null,
  spent: nothingSpent,
  programsSpent: nothingSpent,
  turnSpent: nothingSpent,
};

/** A timeline that one batch of events may be written into. */
interface Draft extends Timeline {
  items: Item[];
  waiting: PromptItem[];
  shots: Shot[];
}

/** The timeline after more events. Events it has already seen change nothing. */
export function addEvents(timeline: Timeline, events: readonly SessionEvent[]): Timeline {
  const fresh = events.filter(({ seq }) => seq > timeline.lastSeq);
  if (fresh.length === 0) return timeline;
  const draft: Draft = {
    ...timeline,
    items: [...timeline.items],
    waiting: [...timeline.waiting],
    shots: [...timeline.shots],
  };
  for (const event of fresh) {
    addEvent(draft, event);
    draft.lastSeq = event.seq;
  }
  return draft;
}

function addEvent(draft: Draft, event: SessionEvent): void {
  const turn = "turn" in event.data ? event.data.turn : undefined;
  const base: ItemBase = { id: event.seq, at: event.at };
  switch (event.type) {
    case "status":
      return addStatus(draft, base, event.data);
    case "message":
      if (event.data.role === "user") {
        const { id: message, content: text, author, delivery = "queue" } = event.data;
        const { author_name: authorName, model } = event.data;
        const prompt: PromptItem = {
          ...base,
          kind: "prompt",
          message,
          text,
          delivery,
          isSteering: false,
        };
        draft.waiting.push({
          ...prompt,
          ...(author !== undefined && { author }),
          ...(authorName !== undefined && { authorName }),
          ...(model !== undefined && { model }),
        });
      } else if (!wasSpoken(draft, event.data.content, turn)) {
        draft.items.push({ ...base, kind: "answer", text: event.data.content });
      }
      return;
    case "queue":
      return changeWaiting(draft.waiting, event.data);
    case "lease":
      return changeLease(draft, base, event.data);
    case "thinking":
    case "text":
      draft.retry = null;
      return addSaid(draft, { ...base, kind: event.type, ...event.data, lastAt: event.at });
    case "tool_use": {
      if (turn !== undefined) draft.retry = null;
      const { call, tool, input, description, by } = event.data;
      const item: CallItem = {
        ...base,
        kind: "call",
        call,
        tool,
        input,
        ...(description === undefined ? {} : { description }),
        byHand: by !== undefined,
        state: "running",
        output: "",
        shots: [],
      };
      draft.items.push(turn === undefined ? item : { ...item, turn });
      return;
    }
    case "tool_result": {
      const { call, text, is_error, duration_ms, partial } = event.data;
      return changeCall(draft, call, (item) =>
        partial === true
          ? { ...item, output: item.output + text }
          : {
              ...item,
              output: text,
              state: is_error ? "failed" : "ok",
              durationMs: duration_ms,
            },
      );
    }
    case "screenshot":
      return addShot(draft, base, event.data);
    case "decision":
      changeCalls(draft.items, event.data.turn, "running", "waiting");
      draft.items.push({ ...base, kind: "decision", asked: event.data });
      return;
    case "answer":
      changeCalls(draft.items, event.data.turn, "waiting", "running");
      return settle(draft.items, event.at, event.data);
    case "notice":
      draft.items.push({ ...base, kind: "notice", message: event.data.message });
      return;
    case "error": {
      const { code, message } = event.data;
      const item: ErrorItem = { ...base, kind: "error", code, message };
      draft.items.push(turn === undefined ? item : { ...item, spent: draft.turnSpent });
      if (turn !== undefined) endTurn(draft, turn);
      return;
    }
    case "cost":
      // One that broke off is asked for again.
      if (!event.data.broken_off) draft.retry = null;
      draft.spent = withCost(draft.spent, event.data);
      draft.turnSpent = withCost(draft.turnSpent, event.data);
      return;
    case "gateway":
      draft.spent = withCost(draft.spent, event.data);
      draft.programsSpent = withCost(draft.programsSpent, event.data);
      if (turn !== undefined) draft.turnSpent = withCost(draft.turnSpent, event.data);
      return;
    case "model":
      return changeModel(draft.items, base, event.data);
    case "retry":
      draft.retry = event.data;
      return breakOff(draft.items, base, event.data);
    case "complete": {
      const { outcome, n_steps, duration_ms } = event.data;
      draft.items.push({
        ...base,
        kind: "complete",
        outcome,
        nSteps: n_steps,
        durationMs: duration_ms,
        spent: draft.turnSpent,
      });
      endTurn(draft, event.data.turn);
    }
  }
}

/** A turn begins or is steered: the message moves to where it is worked on. */
function takeUp(draft: Draft, prompt: string, at: string): void {
  const isSteering = draft.turnStartedAt !== null;
  draft.turnStartedAt ??= at;
  const taken = draft.waiting.find(({ message }) => message === prompt);
  if (taken === undefined) return;
  draft.waiting = draft.waiting.filter((item) => item !== taken);
  draft.items.push({ ...taken, isSteering });
}

function changeLease(draft: Draft, base: ItemBase, data: LeaseData): void {
  draft.leaseChange = { seq: base.id, data };
  const { user, name } = data;
  draft.lease = data.change === "ended" ? null : { user, name, until: data.until };
  // A line per extension would say nothing that the clock does not.
  if (data.change !== "extended") draft.items.push({ ...base, kind: "lease", data });
}

function endTurn(draft: Draft, turn: string): void {
  draft.turnStartedAt = null;
  draft.retry = null;
  draft.turnSpent = nothingSpent;
  changeCalls(draft.items, turn, "running", "cut");
}

function addStatus(draft: Draft, base: ItemBase, status: StatusData): void {
  const before = draft.status;
  draft.status = status;
  if (status.prompt !== undefined) takeUp(draft, status.prompt, base.at);
  else if (status.state !== "running" && status.state !== "waiting") draft.turnStartedAt = null;

  // That the agent began, waits and ended is told by the prompt, the question and the turn's last line.
  const isBeginning = before === null && status.sandbox === "none";
  const isNews =
    (status.sandbox !== before?.sandbox && !isBeginning) ||
    status.reason !== undefined ||
    (status.state !== before?.state && ["error", "terminated"].includes(status.state));
  if (!isNews) return;

  const item: StatusItem = { ...base, kind: "status", ...status };
  const index = draft.items.findLastIndex(({ kind }) => kind === "status");
  const last = draft.items[index];
  // "Starting" turns into "ready" where it stands, also when a prompt came in between.
  if (last?.kind === "status" && last.sandbox === "starting" && status.sandbox === "ready") {
    const tookMs = Date.parse(base.at) - Date.parse(last.at);
    draft.items[index] = { ...item, tookMs };
  } else {
    draft.items.push(item);
  }
}

function addSaid(draft: Draft, piece: SaidItem): void {
  const index = draft.items.findLastIndex(
    (item) => item.kind === piece.kind && item.turn === piece.turn && item.block === piece.block,
  );
  const item = draft.items[index];
  if (item?.kind === "text" || item?.kind === "thinking") {
    draft.items[index] = { ...item, text: item.text + piece.text, lastAt: piece.at };
  } else {
    draft.items.push(piece);
  }
}

/** Whether the pieces of this turn already say what the whole answer repeats. */
function wasSpoken(draft: Draft, content: string, turn: string | undefined): boolean {
  const said = draft.items
    .filter((item) => item.kind === "text" && item.turn === turn)
    .map((item) => (item.kind === "text" ? item.text : ""))
    .join("");
  return withoutSpace(said).includes(withoutSpace(content));
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

function changeCall(draft: Draft, call: string, change: (item: CallItem) => CallItem): void {
  const index = draft.items.findLastIndex((item) => item.kind === "call" && item.call === call);
  const item = draft.items[index];
  if (item?.kind === "call") draft.items[index] = change(item);
}

function addShot(draft: Draft, base: ItemBase, data: ScreenshotData): void {
  const shot: Shot = { ...base, blob: data.blob, width: data.width, height: data.height };
  draft.shots.push(shot);
  const { call } = data;
  if (
    call !== undefined &&
    draft.items.some((item) => item.kind === "call" && item.call === call)
  ) {
    changeCall(draft, call, (item) => ({ ...item, shots: [...item.shots, shot] }));
  } else {
    draft.items.push({ ...base, kind: "shot", shot });
  }
}

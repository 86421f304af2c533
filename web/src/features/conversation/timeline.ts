import type {
  CompleteData,
  ErrorData,
  LeaseData,
  MessageData,
  RetryData,
  ScreenshotData,
  SessionEvent,
  StatusData,
  ToolResultData,
  ToolUseData,
} from "../../api/types";
import { nothingSpent, type Spent } from "../../lib/money";
import type { HeldLease } from "../screen/control";
import { withResult } from "./callResult";
import { changeCalls, holdsAgent, noteRefusal, settle } from "./decisionItems";
import type { CallItem, ErrorItem, Item, ItemBase, PromptItem, SaidItem, Shot, StatusItem } from "./items";
import { breakOff, changeModel, withCost } from "./modelItems";
import { wasSpoken } from "./spoken";
import { changeWaiting } from "./waitingItems";

/** A session's log in the form that the page shows. */
export interface Timeline {
  lastSeq: number;
  /** The data of the newest event of each kind. */
  newest: Newest;
  items: readonly Item[];
  /** Prompts that no turn has taken, in the order in which people sent them. They follow the items. */
  waiting: readonly PromptItem[];
  shots: readonly Shot[];
  status: StatusData | null;
  /** The person who has control, if any. */
  lease: HeldLease | null;
  /** The last change of a lease. */
  leaseChange: { seq: number; data: LeaseData } | null;
  /** The start of the current turn. */
  turnStartedAt: string | null;
  /** The last failed attempt of the model, until it speaks again. */
  retry: RetryData | null;
  /** The usage of the session: the agent's turns, and programs on its desktop. */
  spent: Spent;
  /** The part of it that programs on the desktop have used. */
  programsSpent: Spent;
  /** The usage of the current turn. */
  turnSpent: Spent;
}

export const emptyTimeline: Timeline = {
  lastSeq: 0,
  newest: {},
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

/** A timeline that is being changed by one batch of events. */
interface Draft extends Timeline {
  newest: Record<string, unknown>;
  items: Item[];
  waiting: PromptItem[];
  shots: Shot[];
}

/** Returns the timeline after more events. Events that it already contains change nothing. */
export function addEvents(timeline: Timeline, events: readonly SessionEvent[]): Timeline {
  const fresh = events.filter(({ seq }) => seq > timeline.lastSeq);
  if (fresh.length === 0) return timeline;
  const draft: Draft = {
    ...timeline,
    newest: { ...timeline.newest },
    items: [...timeline.items],
    waiting: [...timeline.waiting],
    shots: [...timeline.shots],
  };
  for (const event of fresh) {
    addEvent(draft, event);
    draft.newest[event.type] = event.data;
    draft.lastSeq = event.seq;
  }
  return draft;
}

type Kind = SessionEvent["type"];
type Data<K extends Kind> = Extract<SessionEvent, { type: K }>["data"];
type Newest = { readonly [K in Kind]?: Data<K> };

/** Writes the data of an event of one kind into a draft. */
type Add<K extends Kind> = (draft: Draft, base: ItemBase, data: Data<K>) => void;

/** The effect of each kind of event. The timeline ignores other kinds. */
const effects: { [K in Kind]?: Add<K> } = {
  status: addStatus,
  message: addMessage,
  queue: (draft, _, data) => changeWaiting(draft.waiting, data),
  lease: changeLease,
  thinking: (draft, base, data) => addSaid(draft, { ...base, kind: "thinking", ...data, lastAt: base.at }),
  text: (draft, base, data) => addSaid(draft, { ...base, kind: "text", ...data, lastAt: base.at }),
  tool_use: addCall,
  tool_result: addResult,
  screenshot: addShot,
  decision: (draft, base, data) => {
    if (holdsAgent(data)) changeCalls(draft.items, data.turn, "running", "waiting");
    draft.items.push({ ...base, kind: "decision", asked: data });
  },
  answer: (draft, base, data) => {
    const asked = settle(draft.items, base.at, data);
    if (asked && holdsAgent(asked)) changeCalls(draft.items, data.turn, "waiting", "running");
    if (asked) noteRefusal(draft.items, asked, data);
  },
  notice: (draft, base, { message }) => draft.items.push({ ...base, kind: "notice", message }),
  summary: (draft, base, { text }) => draft.items.push({ ...base, kind: "summary", text }),
  opened: (draft, base, { url, problem }) => draft.items.push({ ...base, kind: "opened", url, problem }),
  artifact: (draft, base, { name, size }) => draft.items.push({ ...base, kind: "artifact", name, size }),
  error: addError,
  cost: (draft, _, data) => {
    // An answer that broke off is requested again.
    if (!data.broken_off) draft.retry = null;
    draft.spent = withCost(draft.spent, data);
    draft.turnSpent = withCost(draft.turnSpent, data);
  },
  gateway: (draft, _, data) => {
    draft.spent = withCost(draft.spent, data);
    draft.programsSpent = withCost(draft.programsSpent, data);
    if (data.turn !== undefined) draft.turnSpent = withCost(draft.turnSpent, data);
  },
  handed_over: (draft, base, { from_name: fromName, to_name: toName }) => {
    draft.items.push({ ...base, kind: "handed_over", fromName, toName });
  },
  model: (draft, base, data) => changeModel(draft.items, base, data),
  retry: (draft, base, data) => {
    draft.retry = data;
    breakOff(draft.items, base, data);
  },
  complete: addEnd,
};

function addEvent(draft: Draft, event: SessionEvent): void {
  // The compiler cannot see that the type of an event and its data belong together.
  const add = effects[event.type] as Add<Kind> | undefined;
  add?.(draft, { id: event.seq, at: event.at }, event.data as Data<Kind>);
}

function addMessage(draft: Draft, base: ItemBase, data: MessageData): void {
  const { id: message, content: text, author, delivery = "queue", model, effort, turn } = data;
  if (data.role === "assistant") {
    if (!wasSpoken(draft.items, text, turn)) draft.items.push({ ...base, kind: "answer", text });
    return;
  }
  const { author_name: authorName } = data;
  draft.waiting.push({
    ...base,
    kind: "prompt",
    message,
    text,
    delivery,
    files: data.attachments ?? [],
    isSteering: false,
    isHeld: false,
    ...(author !== undefined && { author }),
    ...(authorName !== undefined && { authorName }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
  });
}

function addCall(draft: Draft, base: ItemBase, data: ToolUseData): void {
  const { turn, call, tool, input, description, by } = data;
  if (turn !== undefined) draft.retry = null;
  draft.items.push({
    ...base,
    kind: "call",
    call,
    tool,
    input,
    ...(description !== undefined && { description }),
    byHand: by !== undefined,
    state: "running",
    output: "",
    shots: [],
    ...(turn !== undefined && { turn }),
  });
}

function addResult(draft: Draft, _: ItemBase, data: ToolResultData): void {
  changeCall(draft, data.call, (item) => withResult(item, data));
}

function addError(draft: Draft, base: ItemBase, data: ErrorData): void {
  const { turn, code, message } = data;
  const item: ErrorItem = { ...base, kind: "error", code, message };
  draft.items.push(turn === undefined ? item : { ...item, spent: draft.turnSpent });
  if (turn !== undefined) endTurn(draft, turn);
}

function addEnd(draft: Draft, base: ItemBase, data: CompleteData): void {
  const { turn, outcome, n_steps: nSteps, duration_ms: durationMs } = data;
  draft.items.push({
    ...base,
    kind: "complete",
    outcome,
    nSteps,
    durationMs,
    spent: draft.turnSpent,
  });
  endTurn(draft, turn);
}

/** Moves a message to the conversation when a turn begins with it or is steered by it. */
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
  // A line per extension would say no more than the clock does.
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

  // The prompt, the question and the turn's last line already say that the agent began, waits or
  // ended.
  const isBeginning = before === null && status.sandbox === "none";
  const isNews =
    (status.sandbox !== before?.sandbox && !isBeginning) ||
    status.reason !== undefined ||
    (status.state !== before?.state && ["error", "terminated"].includes(status.state));
  if (!isNews) return;

  const item: StatusItem = { ...base, kind: "status", ...status };
  const index = draft.items.findLastIndex(({ kind }) => kind === "status");
  const last = draft.items[index];
  // "Starting" turns into "ready" in its place, even if a prompt came in between.
  if (last?.kind === "status" && last.sandbox === "starting" && status.sandbox === "ready") {
    const tookMs = Date.parse(base.at) - Date.parse(last.at);
    draft.items[index] = { ...item, tookMs };
  } else {
    draft.items.push(item);
  }
}

function addSaid(draft: Draft, piece: SaidItem): void {
  draft.retry = null;
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

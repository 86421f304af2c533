import { type Backoff, backoffMs } from "../lib/backoff";
import type { PresenceMessage, SessionEvent } from "./types";

/**
 * The state of the stream. `connecting` is the first attempt, `reconnecting` any later one, and
 * `ended` follows the end of the session itself.
 */
export type Connection = "connecting" | "live" | "reconnecting" | "ended";

export interface StreamHandlers {
  /** Receives new events in order, each exactly once. */
  onEvents: (events: SessionEvent[]) => void;
  onConnection: (connection: Connection) => void;
  /** Called when a person came or went. After a reconnect, everyone present is announced again. */
  onPresence?: () => void;
}

/** The heartbeat, exactly as the server expects it. */
const HEARTBEAT = '{"type":"heartbeat"}';
const BACKOFF: Backoff = { firstMs: 500, longestMs: 15_000 };
/**
 * Events that follow each other this closely are passed on together, so that a long history is not
 * rendered piece by piece.
 */
const QUIET_MS = 16;
/** The longest time that an event is held back. */
const LONGEST_GATHER_MS = 200;
/** A connection that lasted this long was good, so the backoff starts over after it is lost. */
const GOOD_AFTER_MS = 5_000;

/**
 * Streams a session's events from the first one on, and reconnects when the WebSocket is lost.
 *
 * After a loss, it resumes after the last number it saw. Numbers have no gaps, so a repeated event
 * is dropped, and a missing one is a reason to reconnect.
 */
export class EventStream {
  readonly #urlAfter: (seq: number) => string;
  readonly #handlers: StreamHandlers;
  #lastSeq = 0;
  #n_failed = 0;
  #sessionEnded = false;
  #closed = false;
  #socket: WebSocket | null = null;
  #openedAt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #gatherTimer: ReturnType<typeof setTimeout> | undefined;
  #gathered: SessionEvent[] = [];
  #gatheringSince = 0;

  constructor(urlAfter: (seq: number) => string, handlers: StreamHandlers) {
    this.#urlAfter = urlAfter;
    this.#handlers = handlers;
    handlers.onConnection("connecting");
    this.#connect();
  }

  /** Skips the wait before the next attempt. */
  retryNow(): void {
    if (this.#closed || this.#retryTimer === undefined) return;
    this.#connect();
  }

  /** Tells the server that a person is viewing the session, so that it stays awake. */
  heartbeat(): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(HEARTBEAT);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#gatherTimer);
    this.#socket?.close();
  }

  #connect(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    const socket = new WebSocket(this.#urlAfter(this.#lastSeq));
    this.#socket = socket;
    this.#openedAt = 0;
    socket.addEventListener("open", () => {
      if (this.#socket !== socket || this.#closed) return;
      this.#openedAt = Date.now();
      this.#handlers.onConnection("live");
    });
    socket.addEventListener("message", (message) => {
      if (this.#socket === socket && !this.#closed) this.#take(message.data);
    });
    socket.addEventListener("close", () => {
      if (this.#socket === socket && !this.#closed) this.#lost();
    });
  }

  #take(data: unknown): void {
    if (typeof data !== "string") return;
    const event = JSON.parse(data) as SessionEvent | PresenceMessage;
    if (!("seq" in event)) {
      this.#handlers.onPresence?.();
      return;
    }
    if (event.seq <= this.#lastSeq) return;
    if (event.seq > this.#lastSeq + 1) {
      this.#socket?.close();
      return;
    }
    this.#lastSeq = event.seq;
    this.#n_failed = 0;
    if (event.type === "status") this.#sessionEnded = event.data.state === "terminated";
    this.#gather(event);
  }

  #gather(event: SessionEvent): void {
    const now = Date.now();
    if (this.#gathered.length === 0) this.#gatheringSince = now;
    this.#gathered.push(event);
    const left = this.#gatheringSince + LONGEST_GATHER_MS - now;
    clearTimeout(this.#gatherTimer);
    this.#gatherTimer = setTimeout(() => this.#handOn(), Math.min(QUIET_MS, Math.max(0, left)));
  }

  #handOn(): void {
    const events = this.#gathered;
    this.#gathered = [];
    this.#handlers.onEvents(events);
  }

  #lost(): void {
    this.#socket = null;
    if (this.#sessionEnded) {
      this.#handlers.onConnection("ended");
      return;
    }
    if (this.#openedAt > 0 && Date.now() - this.#openedAt > GOOD_AFTER_MS) this.#n_failed = 0;
    const waitMs = backoffMs(this.#n_failed, BACKOFF);
    this.#n_failed += 1;
    this.#handlers.onConnection("reconnecting");
    this.#retryTimer = setTimeout(() => this.#connect(), waitMs);
  }
}

import { type Backoff, backoffMs } from "../lib/backoff";
import type { BusMessage } from "./types";

const BACKOFF: Backoff = { firstMs: 500, longestMs: 15_000 };

/**
 * Receives all changes of the user's sessions, and reconnects when the WebSocket is lost.
 *
 * This is not a log: after a loss, a new snapshot contains the current state.
 */
export class SessionsBus {
  readonly #url: string;
  readonly #onMessage: (message: BusMessage) => void;
  #n_failed = 0;
  #isClosed = false;
  #socket: WebSocket | null = null;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, onMessage: (message: BusMessage) => void) {
    this.#url = url;
    this.#onMessage = onMessage;
    this.#connect();
  }

  /** Skips the wait before the next attempt. */
  retryNow(): void {
    if (!this.#isClosed && this.#retryTimer !== undefined) this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#socket?.close();
  }

  #connect(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket !== socket || this.#isClosed || typeof data !== "string") return;
      this.#n_failed = 0;
      this.#onMessage(JSON.parse(data) as BusMessage);
    });
    socket.addEventListener("close", () => {
      if (this.#socket !== socket || this.#isClosed) return;
      this.#socket = null;
      this.#retryTimer = setTimeout(() => this.#connect(), backoffMs(this.#n_failed, BACKOFF));
      this.#n_failed += 1;
    });
  }
}

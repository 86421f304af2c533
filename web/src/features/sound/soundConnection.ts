import { type Backoff, backoffMs } from "../../lib/backoff";
import { parseSoundFrame, type SoundFrame } from "./soundFrame";

/** `connected` also while it is silent. `lost` waits for the next attempt, and `unavailable` for nothing. */
export type SoundConnectionState = "connecting" | "connected" | "lost" | "unavailable";

interface SoundConnectionOptions {
  url: string;
  /** Asks the server why nobody can listen. Returns `null` if it is worth another attempt. */
  askWhy: () => Promise<string | null>;
  onFrame: (frame: SoundFrame) => void;
  /** `reason` is there if the sound is unavailable. */
  onState: (state: SoundConnectionState, reason?: string) => void;
}

const BACKOFF: Backoff = { firstMs: 500, longestMs: 10_000 };

/** Takes the frames of a desktop, and reconnects when the connection is lost. */
export class SoundConnection {
  readonly #options: SoundConnectionOptions;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #n_failed = 0;
  #isOver = false;

  constructor(options: SoundConnectionOptions) {
    this.#options = options;
    this.#connect();
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    this.#options.onState("connecting");
    const socket = new WebSocket(this.#options.url);
    let wasOpen = false;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      wasOpen = true;
      this.#n_failed = 0;
      if (!this.#isOver) this.#options.onState("connected");
    });
    socket.addEventListener("message", ({ data }) => {
      const frame = data instanceof ArrayBuffer ? parseSoundFrame(data) : null;
      if (frame && !this.#isOver) this.#options.onFrame(frame);
    });
    socket.addEventListener("close", () => void this.#lost(wasOpen));
    this.#socket = socket;
  }

  async #lost(wasOpen: boolean): Promise<void> {
    // Browsers do not tell pages why a server refused a WebSocket.
    const reason = wasOpen || this.#isOver ? null : await this.#options.askWhy();
    if (this.#isOver) return;
    if (reason !== null) {
      this.#options.onState("unavailable", reason);
      return;
    }
    this.#options.onState("lost");
    this.#timer = setTimeout(() => this.#connect(), backoffMs(this.#n_failed, BACKOFF));
    this.#n_failed += 1;
  }
}

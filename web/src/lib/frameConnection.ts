import { type Backoff, backoffMs } from "./backoff";

/** `connected` also while nothing is sent. `lost` waits for the next attempt, and `unavailable` for nothing. */
export type FrameConnectionState = "connecting" | "connected" | "lost" | "unavailable";

interface FrameConnectionOptions<Frame> {
  url: string;
  /** Reads a message. Returns `null` for one that this page does not know. */
  parse: (message: ArrayBuffer) => Frame | null;
  /** Asks the server why it sends nothing. Returns `null` if it is worth another attempt. */
  askWhy: () => Promise<string | null>;
  onFrame: (frame: Frame) => void;
  /** `reason` is there if the frames are unavailable. */
  onState: (state: FrameConnectionState, reason?: string) => void;
}

const BACKOFF: Backoff = { firstMs: 500, longestMs: 10_000 };

/** Takes frames of sound or video, and reconnects when the connection is lost. */
export class FrameConnection<Frame> {
  readonly #options: FrameConnectionOptions<Frame>;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #n_failed = 0;
  #isOver = false;

  constructor(options: FrameConnectionOptions<Frame>) {
    this.#options = options;
    this.#connect();
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** Begins anew with another connection. */
  restart(): void {
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
      const frame = data instanceof ArrayBuffer ? this.#options.parse(data) : null;
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

/**
 * The conversation of an Activity with Discord, which shows it in a frame.
 *
 * Messages are pairs of an operation and its data. The Activity introduces itself, Discord says that it is ready, and
 * then answers commands, each by its nonce.
 */

const HANDSHAKE = 0;
const FRAME = 1;
const CLOSE = 2;

/** The longest time that Discord has, in which the person may be asked for their consent. */
const PATIENCE_MS = 120_000;
const NONCE = "authorize";

/** The parts of the address by which Discord opens an Activity. */
export interface ActivityPlace {
  frameId: string;
  guildId: string;
}

/** Reads the address. Returns null if the page was not opened by Discord. */
export function activityPlace(search: string): ActivityPlace | null {
  const params = new URLSearchParams(search);
  const frameId = params.get("frame_id");
  return frameId === null ? null : { frameId, guildId: params.get("guild_id") ?? "" };
}

interface AskOptions {
  place: ActivityPlace;
  clientId: string;
  /** The origins of Discord. Messages of others are ignored. */
  hosts: readonly string[];
  /** The window that shows the Activity. */
  parent: Pick<Window, "postMessage">;
  signal: AbortSignal;
}

/** Returns a code by which the server learns from Discord who opened the Activity. */
export function askForCode({ place, clientId, hosts, parent, signal }: AskOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const fail = (message: string) => {
      done.abort();
      reject(new Error(message));
    };
    // Nothing of this is secret, and browsers deliver it to the page around this one only.
    const send = (operation: number, data: object) => parent.postMessage([operation, data], "*");
    const onMessage = ({ origin, data }: MessageEvent<unknown>) => {
      if (!hosts.includes(origin) || !Array.isArray(data)) return;
      const [operation, message] = data as [unknown, DiscordMessage | undefined];
      if (operation === CLOSE) fail("Discord closed the Activity. Open it again.");
      if (operation !== FRAME || !message) return;
      if (message.cmd === "DISPATCH" && message.evt === "READY") {
        const args = { client_id: clientId, response_type: "code", state: "", prompt: "none", scope: ["identify"] };
        send(FRAME, { cmd: "AUTHORIZE", args, nonce: NONCE });
      } else if (message.nonce === NONCE) {
        const code = message.data?.code;
        if (message.evt === "ERROR" || typeof code !== "string") {
          fail("Discord did not say who you are. Open the Activity again and agree.");
        } else {
          done.abort();
          resolve(code);
        }
      }
    };
    window.addEventListener("message", onMessage, { signal: done.signal });
    signal.addEventListener("abort", () => fail("The Activity was closed."), { signal: done.signal });
    const timer = setTimeout(() => fail("Discord does not answer. Open the Activity again."), PATIENCE_MS);
    done.signal.addEventListener("abort", () => clearTimeout(timer));
    send(HANDSHAKE, { v: 1, encoding: "json", client_id: clientId, frame_id: place.frameId });
  });
}

interface DiscordMessage {
  cmd?: unknown;
  evt?: unknown;
  nonce?: unknown;
  data?: { code?: unknown };
}

import { HIGHEST_LAYER, type VideoFrame } from "./videoFrame";

/** The longest time that a picture waits for its sound. */
export const LONGEST_WAIT_MS = 400;
/** The numbers of undecoded frames from which on the highest layer is left out, and the next one, too. */
const LEAVE_OUT_FROM = [6, 12] as const;
/** The number of undecoded frames at which the decoder has caught up. */
const CAUGHT_UP_AT = 2;

interface WaitingFrame {
  frame: VideoFrame;
  arrivedAt: number;
}

/**
 * Holds frames back until their sound is heard. Times are in milliseconds of `performance.now()`.
 *
 * They wait undecoded, since decoders have room for a few pictures only.
 */
export class PictureQueue {
  #waiting: WaitingFrame[] = [];
  #needsKey = true;
  #highestLayer = HIGHEST_LAYER;

  /** Adds a frame, unless it cannot be decoded or the decoder cannot keep up. */
  push(frame: VideoFrame, now: number, nUndecoded: number): void {
    if (frame.isKey) this.#needsKey = false;
    if (this.#needsKey) return;
    const nLeftOut = LEAVE_OUT_FROM.filter((from) => nUndecoded >= from).length;
    this.#highestLayer = Math.min(this.#highestLayer, HIGHEST_LAYER - nLeftOut);
    // A frame of a higher layer may need one that was left out, unless it comes after this one.
    if (nUndecoded <= CAUGHT_UP_AT && frame.layer === 0) {
      this.#highestLayer = Math.min(HIGHEST_LAYER, this.#highestLayer + 1);
    }
    if (frame.layer <= this.#highestLayer) this.#waiting.push({ frame, arrivedAt: now });
  }

  /** Returns the frames to decode now, in order. `offsetMs` is the time from capture to hearing, if there is sound. */
  due(now: number, offsetMs: number | null): VideoFrame[] {
    const first = this.#waiting.findIndex((waiting) => dueAt(waiting, offsetMs) > now);
    const due = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first);
    return due.map(({ frame }) => frame);
  }

  /** Returns the time at which the next frame is due, or `null` if none waits. */
  next(offsetMs: number | null): number | null {
    const [first] = this.#waiting;
    return first ? dueAt(first, offsetMs) : null;
  }

  /** Forgets everything. The next frame has to be a key frame. */
  clear(): void {
    this.#waiting = [];
    this.#needsKey = true;
  }
}

function dueAt({ frame, arrivedAt }: WaitingFrame, offsetMs: number | null): number {
  if (offsetMs === null) return arrivedAt;
  const heardAt = frame.capturedAtUs / 1000 + offsetMs;
  return Math.min(Math.max(heardAt, arrivedAt), arrivedAt + LONGEST_WAIT_MS);
}

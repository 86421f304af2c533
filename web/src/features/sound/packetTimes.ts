/** The distance between two times of capture from which on there was silence between them, in microseconds. */
const SILENCE_FROM_US = 100_000;

/**
 * The times of capture of the packets that are in a decoder, in microseconds.
 *
 * Decoders return what they decode in order, but some give it times of their own: they count on from the first packet,
 * as if there had been no silence since.
 */
export class PacketTimes {
  #inside: number[] = [];
  #last = 0;

  /** Adds a packet. `isIdle` says that the decoder has no other, so that one that it swallowed is forgotten. */
  push(capturedAtUs: number, isIdle: boolean): void {
    if (isIdle && capturedAtUs - this.#last > SILENCE_FROM_US) this.clear();
    this.#last = capturedAtUs;
    this.#inside.push(capturedAtUs);
  }

  /** Returns the time of the packet that was decoded next, if it is known. */
  next(): number | null {
    return this.#inside.shift() ?? null;
  }

  clear(): void {
    this.#inside = [];
  }
}

/** The sound that is kept before it is played, in seconds: frames do not arrive evenly. */
export const USUAL_DELAY_S = 0.08;
/** The most sound that may wait, in seconds. Beyond it, the sound would lag behind the picture. */
export const MOST_DELAY_S = 0.25;
/** The difference in the times of capture up to which one frame directly follows another, in seconds. */
const NEXT_WITHIN_S = 0.01;

/** The last frame that was given a time: its end by both clocks. */
interface Placed {
  playedUntil: number;
  capturedUntil: number;
}

/**
 * Decides when each frame is played, in seconds of the audio clock.
 *
 * Silence is not sent. The time from capture to playing stays the same across it, so that the pictures of the next sound
 * are still in step.
 */
export class Playout {
  #last: Placed | null = null;
  #isCatchingUp = false;

  /**
   * Returns the time at which a frame begins, or `null` if it must be left out to catch up. `captured` is the time at
   * which its first sample was captured, in seconds of the desktop's clock.
   */
  place(now: number, captured: number, duration: number): number | null {
    let start = this.#follow(captured);
    if (start === null || start <= now) {
      // It is the first frame, or it came too late. Begin anew with some sound in reserve.
      start = Math.max(now + USUAL_DELAY_S, this.#last?.playedUntil ?? 0);
      this.#isCatchingUp = false;
    }
    if (start - now > MOST_DELAY_S) this.#isCatchingUp = true;
    if (this.#isCatchingUp) {
      const end = this.#last?.playedUntil ?? now;
      if (end - now > USUAL_DELAY_S) return null;
      this.#isCatchingUp = false;
      start = end > now ? end : now + USUAL_DELAY_S;
    }
    this.#last = { playedUntil: start + duration, capturedUntil: captured + duration };
    return start;
  }

  /** Returns the time that keeps the distance to the last frame. */
  #follow(captured: number): number | null {
    if (this.#last === null) return null;
    const silence = captured - this.#last.capturedUntil;
    return this.#last.playedUntil + (Math.abs(silence) <= NEXT_WITHIN_S ? 0 : Math.max(0, silence));
  }
}

/** The sound that is kept before it is played, in seconds: frames do not arrive evenly. */
export const USUAL_DELAY_S = 0.08;
/** The most sound that may wait, in seconds. Beyond it, the sound would lag behind the picture. */
export const MOST_DELAY_S = 0.25;

/** Decides when each frame is played. Times are in seconds of the audio clock. */
export class Playout {
  /** The end of the last frame that was given a time. */
  #end: number | null = null;
  #isCatchingUp = false;

  /** Returns the time at which the next frame begins, or `null` if it must be left out to catch up. */
  place(now: number, duration: number): number | null {
    if (this.#end === null || this.#end <= now) {
      // It was silent, or the frames came too late. Begin anew with some sound in reserve.
      this.#end = now + USUAL_DELAY_S;
      this.#isCatchingUp = false;
    }
    const waiting = this.#end - now;
    if (waiting > MOST_DELAY_S) this.#isCatchingUp = true;
    else if (waiting <= USUAL_DELAY_S) this.#isCatchingUp = false;
    if (this.#isCatchingUp) return null;
    const start = this.#end;
    this.#end += duration;
    return start;
  }
}

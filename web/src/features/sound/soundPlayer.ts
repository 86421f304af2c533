import { PacketTimes } from "./packetTimes";
import { Playout } from "./playout";
import { FRAME_US, SOUND_CHANNELS, SOUND_RATE, type SoundFrame } from "./soundFrame";

/** The most packets that may wait for the decoder. More only arrive if the browser was asleep. */
const MOST_UNDECODED = 25;

/** The quietest sound that the level shows, in decibels below the loudest. */
const QUIETEST_DB = 60;

/** Returns the reason why this browser cannot play the sound, or `null` if it can. */
export function soundObstacle(): string | null {
  if ("AudioDecoder" in globalThis) return null;
  return globalThis.isSecureContext
    ? "This browser cannot play the sound of the desktop. Use a newer one: Chrome or Edge 94, Firefox 130, Safari 26."
    : "Browsers play the sound of the desktop only over HTTPS or at localhost. Open Deskhand there.";
}

/** Decodes frames and plays them, a moment after they arrive. */
export class SoundPlayer {
  readonly #context = new AudioContext({ sampleRate: SOUND_RATE, latencyHint: "interactive" });
  readonly #gain = this.#context.createGain();
  readonly #analyser = this.#context.createAnalyser();
  readonly #playout = new Playout();
  readonly #times = new PacketTimes();
  readonly #samples: Float32Array<ArrayBuffer>;
  #decoder: AudioDecoder | null = null;
  #offsetMs: number | null = null;

  constructor() {
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(this.#analyser.fftSize);
    // The level shows the sound before the volume, so that it is seen even if the volume is 0.
    this.#analyser.connect(this.#gain).connect(this.#context.destination);
  }

  /** True once the browser lets the page play. Before that, it waits for a click or a key. */
  get isAllowed(): boolean {
    return this.#context.state === "running";
  }

  /** Asks the browser to let the page play, which it does during a click or a key. */
  async allow(): Promise<void> {
    if (this.#context.state === "suspended") await this.#context.resume();
  }

  setVolume(volume: number): void {
    // People hear loudness by its order of magnitude, so the middle of the slider is a quarter.
    this.#gain.gain.setTargetAtTime(volume * volume, this.#context.currentTime, 0.01);
  }

  play(frame: SoundFrame): void {
    if (!this.isAllowed) return;
    const decoder = this.#openDecoder();
    if (decoder.decodeQueueSize > MOST_UNDECODED) return;
    this.#times.push(frame.capturedAtUs, decoder.decodeQueueSize === 0);
    decoder.decode(
      new EncodedAudioChunk({
        type: "key",
        timestamp: frame.capturedAtUs,
        duration: FRAME_US,
        data: frame.packet,
      }),
    );
  }

  /** Returns how loud it is now, from 0 to 1. */
  level(): number {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    let sum = 0;
    for (const sample of this.#samples) sum += sample * sample;
    return levelOf(Math.sqrt(sum / this.#samples.length));
  }

  /**
   * Returns the milliseconds from the capture of a sound, by the desktop's clock, to the moment at which it is heard, by
   * `performance.now()`. It is `null` before anything was heard, and stays the same while it is silent.
   */
  offsetMs(): number | null {
    return this.#offsetMs;
  }

  close(): void {
    if (this.#decoder?.state === "configured") this.#decoder.close();
    this.#decoder = null;
    void this.#context.close();
  }

  /** Returns the decoder. A new one is made after a packet that could not be decoded. */
  #openDecoder(): AudioDecoder {
    if (this.#decoder?.state === "configured") return this.#decoder;
    const decoder = new AudioDecoder({
      output: (data) => this.#schedule(data, this.#times.next() ?? data.timestamp),
      // The decoder is closed then, and the next packet makes another.
      error: () => {},
    });
    this.#times.clear();
    decoder.configure({ codec: "opus", sampleRate: SOUND_RATE, numberOfChannels: SOUND_CHANNELS });
    this.#decoder = decoder;
    return decoder;
  }

  #schedule(data: AudioData, capturedAtUs: number): void {
    const duration = data.numberOfFrames / data.sampleRate;
    const captured = capturedAtUs / 1e6 - duration;
    const start = this.#playout.place(this.#context.currentTime, captured, duration);
    if (start !== null) {
      const buffer = this.#context.createBuffer(data.numberOfChannels, data.numberOfFrames, data.sampleRate);
      for (let channel = 0; channel < data.numberOfChannels; channel += 1) {
        data.copyTo(buffer.getChannelData(channel), { planeIndex: channel, format: "f32-planar" });
      }
      const source = this.#context.createBufferSource();
      source.buffer = buffer;
      source.connect(this.#analyser);
      source.start(start);
      this.#noteOffset(start + buffer.duration, capturedAtUs);
    }
    data.close();
  }

  /** Remembers when the end of a frame is heard, whose last sample was captured at `capturedAtUs`. */
  #noteOffset(end: number, capturedAtUs: number): void {
    const { currentTime, outputLatency } = this.#context;
    // Some browsers do not know how long the device takes.
    const heardAt = performance.now() + 1000 * (end - currentTime + (outputLatency || 0));
    this.#offsetMs = heardAt - capturedAtUs / 1000;
  }
}

/** Returns the level of an amplitude, both from 0 to 1. */
export function levelOf(amplitude: number): number {
  if (amplitude <= 0) return 0;
  return Math.min(1, Math.max(0, 1 + (20 * Math.log10(amplitude)) / QUIETEST_DB));
}

import { PictureQueue } from "./pictureQueue";
import { codecOf, type VideoFrame as EncodedFrame } from "./videoFrame";

/** The codec of a screen of 1280×720, by which a browser is asked whether it can play at all. */
const USUAL_CODEC = "avc1.42c01f";
/** The longest time from decoding to drawing that counts. A tab that was asleep takes longer once. */
const LONGEST_DELAY_MS = 100;
/** The pictures over which that time is averaged. */
const AVERAGED = 16;

interface VideoPlayerOptions {
  canvas: HTMLCanvasElement;
  /** Returns the time from capture to hearing, if there is sound. */
  offsetMs: () => number | null;
  /** Called with the first picture. */
  onShown: () => void;
  /** Called if a frame could not be decoded. Only a key frame helps. */
  onBroken: () => void;
}

/** Returns the reason why this browser cannot play the video, or `null` if it can. */
export async function videoObstacle(): Promise<string | null> {
  if (!("VideoDecoder" in globalThis)) {
    return globalThis.isSecureContext
      ? "Use a newer one: Chrome or Edge 94, Firefox 130, Safari 16.4, or later."
      : "Browsers play it only over HTTPS or at localhost. Open the link there.";
  }
  const { supported } = await VideoDecoder.isConfigSupported({ codec: USUAL_CODEC });
  return supported === true ? null : "It has no decoder for H.264. Use Chrome, Edge, Safari or Firefox.";
}

/** Decodes frames and draws them, in step with the sound. */
export class VideoPlayer {
  readonly #options: VideoPlayerOptions;
  readonly #queue = new PictureQueue();
  #decoder: VideoDecoder | null = null;
  #codec = "";
  /** The times at which the frames that are being decoded were given to the decoder. */
  #begun: number[] = [];
  /** The usual time from there to the drawn picture. */
  #delayMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: VideoPlayerOptions) {
    this.#options = options;
  }

  play(frame: EncodedFrame): void {
    this.#queue.push(frame, performance.now(), this.#decoder?.decodeQueueSize ?? 0);
    this.#decodeDue();
  }

  /** Forgets all frames. The next one has to be a key frame. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#queue.clear();
  }

  close(): void {
    this.clear();
    if (this.#decoder?.state === "configured") this.#decoder.close();
    this.#decoder = null;
  }

  /** Decodes the frames that are due, and comes back for the next one. */
  #decodeDue(): void {
    clearTimeout(this.#timer);
    const offsetMs = this.#offsetMs();
    for (const frame of this.#queue.due(performance.now(), offsetMs)) this.#decode(frame);
    const next = this.#queue.next(offsetMs);
    if (next !== null) {
      this.#timer = setTimeout(() => this.#decodeDue(), Math.max(0, next - performance.now()));
    }
  }

  /** Returns the time from capture to decoding, so that a picture is drawn when its sound is heard. */
  #offsetMs(): number | null {
    const offsetMs = this.#options.offsetMs();
    return offsetMs === null ? null : offsetMs - this.#delayMs;
  }

  #decode(frame: EncodedFrame): void {
    const decoder = frame.isKey ? this.#configured(frame) : this.#decoder;
    if (decoder?.state !== "configured") return;
    this.#begun.push(performance.now());
    decoder.decode(
      new EncodedVideoChunk({
        type: frame.isKey ? "key" : "delta",
        timestamp: frame.capturedAtUs,
        data: frame.picture,
      }),
    );
  }

  /** Returns a decoder for the frames from this key frame on. */
  #configured(frame: EncodedFrame): VideoDecoder | null {
    const codec = codecOf(frame.picture);
    if (codec === null) return null;
    if (this.#decoder?.state === "configured" && codec === this.#codec) return this.#decoder;
    if (this.#decoder?.state === "configured") this.#decoder.close();
    const decoder = new VideoDecoder({
      output: (picture) => this.#draw(picture),
      // The decoder is closed then.
      error: () => {
        this.clear();
        this.#options.onBroken();
      },
    });
    decoder.configure({ codec, optimizeForLatency: true });
    this.#begun = [];
    this.#codec = codec;
    this.#decoder = decoder;
    return decoder;
  }

  #draw(picture: VideoFrame): void {
    const { canvas, onShown } = this.#options;
    const { displayWidth: width, displayHeight: height } = picture;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
    picture.close();
    this.#noteDelay();
    onShown();
  }

  #noteDelay(): void {
    const begun = this.#begun.shift();
    if (begun === undefined) return;
    const delayMs = Math.min(performance.now() - begun, LONGEST_DELAY_MS);
    this.#delayMs += (delayMs - this.#delayMs) / AVERAGED;
  }
}

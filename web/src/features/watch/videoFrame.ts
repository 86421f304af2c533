/** One picture of the desktop. docs/api.md has the format. */
export interface VideoFrame {
  /** Counts the frames. A gap means that frames were left out. */
  number: number;
  /** When it was captured, in microseconds since 1970 by the same clock as the sound. */
  capturedAtUs: number;
  /** True if it can be decoded without any other. */
  isKey: boolean;
  /** From 0 to 2. No frame needs one of a higher layer. */
  layer: number;
  width: number;
  height: number;
  /** The picture in H.264, with start codes. */
  picture: Uint8Array<ArrayBuffer>;
}

export const HIGHEST_LAYER = 2;

const VERSION = 1;
const H264 = 1;
const HEAD_BYTES = 20;
/** The kind of the part of a key frame that says how it is encoded. */
const PARAMETERS = 7;

/** Parses a message of the server. Returns `null` for one that this page does not know. */
export function parseVideoFrame(message: ArrayBuffer): VideoFrame | null {
  if (message.byteLength <= HEAD_BYTES) return null;
  const view = new DataView(message);
  if (view.getUint8(0) !== VERSION || view.getUint8(1) !== H264) return null;
  return {
    isKey: view.getUint8(2) === 1,
    layer: view.getUint8(3),
    width: view.getUint16(4),
    height: view.getUint16(6),
    number: view.getUint32(8),
    capturedAtUs: Number(view.getBigUint64(12)),
    picture: new Uint8Array(message, HEAD_BYTES),
  };
}

/** Returns the name of the codec that a key frame needs, such as `avc1.42c01f`, or `null` if it does not say. */
export function codecOf(picture: Uint8Array): string | null {
  for (let at = 0; at + 6 < picture.length; at += 1) {
    const isStart = picture[at] === 0 && picture[at + 1] === 0 && picture[at + 2] === 1;
    if (isStart && ((picture[at + 3] ?? 0) & 0x1f) === PARAMETERS) {
      const profile = [...picture.subarray(at + 4, at + 7)];
      return `avc1.${profile.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    }
  }
  return null;
}

/** 20 ms of the desktop's sound. docs/api.md has the format. */
export interface SoundFrame {
  /** Counts the frames. A gap means that frames were lost. */
  number: number;
  /** The time at which the last sample was captured, in microseconds since 1970. */
  capturedAtUs: number;
  /** The packet of Opus. */
  packet: Uint8Array<ArrayBuffer>;
}

export const SOUND_RATE = 48_000;
export const SOUND_CHANNELS = 2;
/** The time that one frame sounds, in microseconds. */
export const FRAME_US = 20_000;

const VERSION = 1;
const HEAD_BYTES = 20;

/** Parses a message of the server. Returns `null` for one that this page does not know. */
export function parseSoundFrame(message: ArrayBuffer): SoundFrame | null {
  if (message.byteLength <= HEAD_BYTES) return null;
  const view = new DataView(message);
  if (view.getUint8(0) !== VERSION || view.getUint8(1) !== SOUND_CHANNELS) return null;
  if (view.getUint32(4) !== SOUND_RATE) return null;
  return {
    number: view.getUint32(8),
    capturedAtUs: Number(view.getBigUint64(12)),
    packet: new Uint8Array(message, HEAD_BYTES),
  };
}

import { useCallback, useEffect, useRef, useState } from "react";

import { FrameConnection, type FrameConnectionState } from "../../lib/frameConnection";
import { parseSoundFrame, type SoundFrame } from "./soundFrame";
import { soundObstacle, SoundPlayer } from "./soundPlayer";
import { changeSound, soundSetting } from "./soundSetting";

/** `off` costs nothing: nothing is captured or sent. `waiting` means that the browser wants a click or a key first. */
export type SoundState = "off" | "waiting" | FrameConnectionState;

export interface Sound {
  state: SoundState;
  volume: number;
  /** The reason why nothing can be heard, if the person wants to hear something. */
  problem: string | null;
  toggle: () => void;
  setVolume: (volume: number) => void;
  /** Returns how loud it is now, from 0 to 1. */
  level: () => number;
  /** Returns when sound is heard, for a picture to be in step with it. See `SoundPlayer.offsetMs`. */
  offsetMs: () => number | null;
}

interface SoundOptions {
  /** The person who listens, whose choice is remembered. */
  user: string;
  /** `null` while there is nothing to listen to. */
  url: string | null;
  askWhy: () => Promise<string | null>;
}

/** What became of the attempt to listen. */
interface Attempt {
  state: FrameConnectionState;
  problem: string | null;
}

/** Plays the sound of a desktop while the person wants to hear it. `askWhy` must not change from render to render. */
export function useSound({ user, url, askWhy }: SoundOptions): Sound {
  const { isOn, volume } = soundSetting(user).use();
  // `null` until the browser lets the page play.
  const [attempt, setAttempt] = useState<Attempt | null>(null);
  const player = useRef<SoundPlayer | null>(null);
  const obstacle = isOn ? soundObstacle() : null;
  const wanted = isOn && obstacle === null ? url : null;

  useEffect(() => {
    if (wanted === null) return;
    const opened = new SoundPlayer();
    player.current = opened;
    opened.setVolume(soundSetting(user).get().volume);
    let connection: FrameConnection<SoundFrame> | null = null;
    const begin = () => {
      if (connection !== null || !opened.isAllowed) return;
      connection = new FrameConnection({
        url: wanted,
        parse: parseSoundFrame,
        askWhy,
        onFrame: (frame) => opened.play(frame),
        onState: (state, reason) => setAttempt({ state, problem: reason ?? null }),
      });
    };
    const allow = () => void opened.allow().then(begin);
    // A browser that knows the page may allow it at once.
    allow();
    const gestures = ["pointerdown", "keydown"] as const;
    for (const gesture of gestures) window.addEventListener(gesture, allow, { capture: true });
    return () => {
      for (const gesture of gestures) window.removeEventListener(gesture, allow, { capture: true });
      connection?.close();
      opened.close();
      player.current = null;
      setAttempt(null);
    };
  }, [wanted, askWhy, user]);

  useEffect(() => player.current?.setVolume(volume), [volume]);

  const level = useCallback(() => player.current?.level() ?? 0, []);
  const offsetMs = useCallback(() => player.current?.offsetMs() ?? null, []);
  return {
    state: stateOf(isOn && url !== null, obstacle, attempt),
    volume,
    problem: url === null ? null : (obstacle ?? attempt?.problem ?? null),
    toggle: () => changeSound(user, { isOn: !isOn }),
    setVolume: (next) => changeSound(user, { volume: next }),
    level,
    offsetMs,
  };
}

function stateOf(isWanted: boolean, obstacle: string | null, attempt: Attempt | null): SoundState {
  if (!isWanted) return "off";
  if (obstacle !== null) return "unavailable";
  return attempt?.state ?? "waiting";
}

import { type RefObject, useEffect, useState } from "react";

import { FrameConnection, type FrameConnectionState } from "../../lib/frameConnection";
import { parseVideoFrame } from "./videoFrame";
import { videoObstacle, VideoPlayer } from "./videoPlayer";

interface VideoOptions {
  canvas: RefObject<HTMLCanvasElement | null>;
  /** `null` while there is nothing to watch. */
  url: string | null;
  /** Returns the time from capture to hearing, if there is sound. It must not change from render to render. */
  offsetMs: () => number | null;
  /** Called when the connection is lost, to find out why. It must not change from render to render. */
  onLost: () => void;
}

export interface Video {
  state: FrameConnectionState;
  /** True once a picture of this connection was shown. */
  isShown: boolean;
}

/** Returns the reason why this browser cannot play the video, `null` if it can, and `undefined` until that is known. */
export function useVideoObstacle(): string | null | undefined {
  const [obstacle, setObstacle] = useState<string | null>();
  useEffect(() => {
    void videoObstacle().then(setObstacle);
  }, []);
  return obstacle;
}

/** Plays the video of a desktop on a canvas, and reconnects when the connection is lost. */
export function useVideo({ canvas, url, offsetMs, onLost }: VideoOptions): Video {
  const [state, setState] = useState<FrameConnectionState>("connecting");
  const [isShown, setIsShown] = useState(false);

  useEffect(() => {
    if (url === null || canvas.current === null) return;
    const player = new VideoPlayer({
      canvas: canvas.current,
      offsetMs,
      onShown: () => setIsShown(true),
      onBroken: () => connection.restart(),
    });
    const connection = new FrameConnection({
      url,
      parse: parseVideoFrame,
      // The page asks for the state of the link, which says it.
      askWhy: () => Promise.resolve(null),
      onFrame: (frame) => player.play(frame),
      onState: (next) => {
        setState(next);
        if (next !== "lost") return;
        player.clear();
        onLost();
      },
    });
    return () => {
      connection.close();
      player.close();
      setState("connecting");
      setIsShown(false);
    };
  }, [canvas, url, offsetMs, onLost]);

  return { state, isShown };
}

import {
  Clock,
  CloudOff,
  Hand,
  Link2Off,
  LoaderCircle,
  Maximize,
  Minimize,
  MonitorOff,
  MonitorX,
  Volume2,
} from "lucide-react";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { isCode } from "../api/client";
import type { Watch } from "../api/types";
import { watchUrl } from "../api/urls";
import { useWatch, whyNoWatchSound } from "../api/watch";
import { Button } from "../components/Button";
import { useFullscreen } from "../features/screen/useFullscreen";
import { SoundControl } from "../features/sound/SoundControl";
import { type Sound, useSound } from "../features/sound/useSound";
import { useIdle } from "../features/watch/useIdle";
import { useVideo, useVideoObstacle, type Video } from "../features/watch/useVideo";
import { Watchers } from "../features/watch/Watchers";
import { WatchNote } from "../features/watch/WatchNote";
import { cx } from "../lib/cx";
import { readStored, writeStored } from "../lib/stored";
import { useDarkTheme } from "../lib/theme";

/** The settings of watchers, who have no account, are kept under this name. */
const WATCHER = "watch";
const NAME_KEY = "deskhand.watch.name";

interface WatchPageProps {
  token: string;
  /** Looks for what comes after the end, where something may come. */
  onLookAgain?: (() => void) | undefined;
}

/** The page of a watch link: the screen of a session and its sound, for everybody who has the link. */
export function WatchPage({ token, onLookAgain }: WatchPageProps) {
  const watch = useWatch(token);
  const obstacle = useVideoObstacle();
  const title = watch.data?.title || "Watch";
  useDarkTheme();
  return (
    <main className="fixed inset-0 overflow-hidden bg-black text-ink">
      <title>{`${title} · Deskhand`}</title>
      {isCode(watch.error, "no_watch_link") && watch.data ? (
        <Ended onLookAgain={onLookAgain} />
      ) : isCode(watch.error, "no_watch_link") ? (
        <WatchNote icon={<Link2Off aria-hidden />} title="This link is no longer valid">
          It has expired or was ended. Ask the person who sent it for a new one.
        </WatchNote>
      ) : typeof obstacle === "string" ? (
        <WatchNote icon={<MonitorX aria-hidden />} title="This browser cannot play the video">
          {obstacle}
        </WatchNote>
      ) : watch.data && obstacle === null ? (
        <Player
          token={token}
          watch={watch.data}
          isStale={watch.isError}
          refetch={watch.refetch}
          onLookAgain={onLookAgain}
        />
      ) : watch.error ? (
        <WatchNote icon={<CloudOff aria-hidden />} title="Reconnecting…">
          Deskhand does not answer. The page tries again by itself.
        </WatchNote>
      ) : (
        <WatchNote icon={<LoaderCircle aria-hidden className="animate-spin" />} title="Connecting…" />
      )}
    </main>
  );
}

interface PlayerProps extends WatchPageProps {
  watch: Watch;
  /** True while the server does not answer. */
  isStale: boolean;
  /** Asks for the state of the link again. */
  refetch: () => void;
}

function Player({ token, watch, isStale, refetch, onLookAgain }: PlayerProps) {
  const [name, setName] = useState(() => readStored(NAME_KEY) ?? "");
  const [wasLive, setWasLive] = useState(false);
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const isLive = watch.state === "live";
  if (isLive && !wasLive) setWasLive(true);
  const askWhy = useCallback(() => whyNoWatchSound(token), [token]);
  const soundUrl = isLive ? watchUrl(token, "sound") : null;
  const sound = useSound({ user: WATCHER, url: soundUrl, askWhy });
  const url = isLive ? watchUrl(token, "video", name) : null;
  const video = useVideo({ canvas, url, offsetMs: sound.offsetMs, onLost: refetch });
  useEffect(() => {
    // From now on, this watcher is among those who are shown.
    if (video.isShown) refetch();
  }, [video.isShown, refetch]);
  const rename = (next: string) => {
    writeStored(NAME_KEY, next);
    setName(next);
  };
  const isPlaying = isLive && video.isShown && !watch.paused;
  const isIdle = useIdle() && isPlaying;
  return (
    <div
      ref={stage}
      data-watch={isLive ? video.state : watch.state}
      className={cx("absolute inset-0 bg-black", isIdle && "cursor-none")}
    >
      <canvas ref={canvas} role="img" aria-label="The screen" className="size-full object-contain" />
      <Cover watch={watch} wasLive={wasLive} video={video} onLookAgain={onLookAgain} />
      <header
        className={cx(
          "absolute inset-x-0 top-0 flex items-center gap-3 bg-linear-to-b from-black/70 to-transparent px-4 pt-3 pb-8 transition-opacity",
          isIdle && "opacity-0",
        )}
      >
        {isLive && <LiveMark video={video} isStale={isStale} />}
        <h2 className="min-w-0 flex-1 truncate text-[15px] font-semibold">{watch.title}</h2>
        <Watchers
          names={watch.watchers}
          n_watchers={watch.n_watchers}
          ownName={name}
          onRename={rename}
        />
      </header>
      {isPlaying && <SoundOffer sound={sound} />}
      {isLive && <Controls sound={sound} stage={stage} isHidden={isIdle} />}
    </div>
  );
}

interface CoverProps {
  watch: Watch;
  /** True if it was live before. */
  wasLive: boolean;
  video: Video;
  onLookAgain: (() => void) | undefined;
}

/** Covers the picture while there is none. */
function Cover({ watch, wasLive, video, onLookAgain }: CoverProps) {
  if (watch.state === "ended") return <Ended onLookAgain={onLookAgain} />;
  if (watch.state === "not_started" && wasLive) {
    return (
      <WatchNote icon={<LoaderCircle aria-hidden className="animate-spin" />} title="Reconnecting…">
        The desktop starts again. The picture comes back by itself.
      </WatchNote>
    );
  }
  if (watch.state === "not_started") {
    return (
      <WatchNote icon={<Clock aria-hidden />} title="This has not started yet">
        Leave the page open. The picture appears as soon as there is one.
      </WatchNote>
    );
  }
  if (watch.paused) {
    return (
      <WatchNote icon={<Hand aria-hidden />} title="A person has control">
        The picture continues when they hand back.
      </WatchNote>
    );
  }
  if (video.isShown) return null;
  return <WatchNote icon={<LoaderCircle aria-hidden className="animate-spin" />} title="Connecting…" />;
}

/** Says that there is nothing more to watch. */
function Ended({ onLookAgain }: { onLookAgain: (() => void) | undefined }) {
  return (
    <>
      <WatchNote icon={<MonitorOff aria-hidden />} title="This has ended">
        {onLookAgain
          ? "There may be something else to watch."
          : "You can close this page. If it goes on, it has a new link."}
      </WatchNote>
      {onLookAgain && (
        <div className="absolute inset-x-0 bottom-[20%] flex justify-center">
          <Button onClick={onLookAgain}>Look again</Button>
        </div>
      )}
    </>
  );
}

function LiveMark({ video, isStale }: { video: Video; isStale: boolean }) {
  const isLost = isStale || video.state === "lost" || (video.state === "connecting" && video.isShown);
  return (
    <span
      role="status"
      className={cx(
        "inline-flex h-6 items-center gap-1.5 rounded-full px-2.5 text-xs font-semibold",
        isLost ? "bg-warn-soft text-warn" : "bg-white/12",
      )}
    >
      {isLost ? (
        <LoaderCircle aria-hidden className="size-3 animate-spin" />
      ) : (
        <span aria-hidden className="size-2 rounded-full bg-[#ff5a52]" />
      )}
      {isLost ? "Reconnecting…" : "Live"}
    </span>
  );
}

/** Offers the sound, which browsers let a page play only after a tap. */
function SoundOffer({ sound }: { sound: Sound }) {
  if (sound.state !== "off" && sound.state !== "waiting") return null;
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-20 flex justify-center">
      <button
        type="button"
        // A tap anywhere lets the page play, so a sound that only waits for it needs no more.
        onClick={() => sound.state === "off" && sound.toggle()}
        className="pointer-events-auto inline-flex h-11 animate-appear items-center gap-2 rounded-full bg-white px-5 text-sm font-semibold text-black shadow-over hover:bg-white/90"
      >
        <Volume2 aria-hidden className="size-5" /> Tap to hear the sound
      </button>
    </div>
  );
}

interface ControlsProps {
  sound: Sound;
  stage: RefObject<HTMLDivElement | null>;
  isHidden: boolean;
}

function Controls({ sound, stage, isHidden }: ControlsProps) {
  const { isFullscreen, toggle, isPossible } = useFullscreen(stage);
  return (
    <footer
      className={cx(
        "absolute inset-x-0 bottom-0 flex items-center gap-2 bg-linear-to-t from-black/70 to-transparent px-4 pt-8 pb-3 transition-opacity",
        isHidden && "opacity-0",
      )}
    >
      <SoundControl sound={sound} />
      {sound.problem && <span className="min-w-0 truncate text-xs text-soft">{sound.problem}</span>}
      <span className="flex-1" />
      {isPossible && (
        <Button
          look="ghost"
          square
          aria-label={isFullscreen ? "Leave full screen" : "Full screen"}
          title={isFullscreen ? "Leave full screen" : "Full screen"}
          onClick={toggle}
        >
          {isFullscreen ? <Minimize aria-hidden className="size-4" /> : <Maximize aria-hidden className="size-4" />}
        </Button>
      )}
    </footer>
  );
}

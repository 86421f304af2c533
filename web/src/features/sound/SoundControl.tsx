import { LoaderCircle, Volume1, Volume2, VolumeX } from "lucide-react";
import { useEffect, useRef } from "react";

import { Button } from "../../components/Button";
import { cx } from "../../lib/cx";
import type { Sound, SoundState } from "./useSound";

/** The time between two updates of the level. */
const LEVEL_EVERY_MS = 100;

const TITLES: Record<SoundState, string> = {
  off: "Turn on the sound of the desktop",
  waiting: "Click anywhere to hear the desktop",
  connecting: "Connecting to the sound…",
  connected: "Turn off the sound of the desktop",
  lost: "The sound is disconnected. Trying again…",
  unavailable: "There is no sound. Turn it off",
};

/** The button that turns the desktop's sound on and off, and its volume. */
export function SoundControl({ sound }: { sound: Sound }) {
  const { state, volume } = sound;
  const isOn = state !== "off";
  // The press that lets the page play must not turn the sound off when it ends.
  const wasWaiting = useRef(false);
  const press = () => {
    wasWaiting.current = state === "waiting";
  };
  const toggle = () => {
    if (!wasWaiting.current) sound.toggle();
    wasWaiting.current = false;
  };
  return (
    <div role="group" aria-label="Sound" data-sound={state} className="flex items-center gap-1">
      <span className="relative inline-flex">
        <Button
          look="ghost"
          square
          aria-label="Sound"
          aria-pressed={isOn}
          title={TITLES[state]}
          onPointerDown={press}
          onKeyDown={press}
          onClick={toggle}
          className={cx(isOn && "text-ink")}
        >
          <SoundIcon state={state} volume={volume} />
        </Button>
        {state === "connected" && <Level level={sound.level} />}
      </span>
      {isOn && state !== "unavailable" && (
        <input
          type="range"
          aria-label="Volume"
          min={0}
          max={100}
          step={5}
          value={Math.round(volume * 100)}
          onChange={(event) => sound.setVolume(Number(event.target.value) / 100)}
          className="w-20 accent-accent @max-xl:w-14 @max-lg:hidden"
        />
      )}
      <span role="status" className="sr-only">
        {isOn && state !== "connected" ? TITLES[state] : ""}
      </span>
    </div>
  );
}

function SoundIcon({ state, volume }: { state: SoundState; volume: number }) {
  if (state === "connecting") return <LoaderCircle aria-hidden className="size-4 animate-spin" />;
  if (state !== "connected" || volume === 0) return <VolumeX aria-hidden className="size-4" />;
  const Icon = volume < 0.5 ? Volume1 : Volume2;
  return <Icon aria-hidden className="size-4" />;
}

/** A line below the icon that is as long as the sound is loud. */
function Level({ level }: { level: () => number }) {
  const line = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      if (line.current) line.current.style.transform = `scaleX(${level().toFixed(2)})`;
    }, LEVEL_EVERY_MS);
    return () => clearInterval(timer);
  }, [level]);
  return (
    <span
      ref={line}
      aria-hidden
      className="pointer-events-none absolute inset-x-1.5 bottom-0.5 h-0.5 origin-left scale-x-0 rounded-full bg-good transition-transform"
    />
  );
}

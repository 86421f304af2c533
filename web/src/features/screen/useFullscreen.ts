import { type RefObject, useSyncExternalStore } from "react";

function subscribe(listener: () => void): () => void {
  document.addEventListener("fullscreenchange", listener);
  return () => document.removeEventListener("fullscreenchange", listener);
}

/** Whether `element` fills the whole display, and the switch for it. */
export function useFullscreen(element: RefObject<HTMLElement | null>) {
  const isFullscreen = useSyncExternalStore(
    subscribe,
    () => element.current !== null && document.fullscreenElement === element.current,
  );
  const toggle = () => {
    // A browser may refuse, for example in a frame; then nothing changes, which one can see.
    if (isFullscreen) document.exitFullscreen().catch(() => {});
    else element.current?.requestFullscreen().catch(() => {});
  };
  return { isFullscreen, toggle, isPossible: document.fullscreenEnabled };
}

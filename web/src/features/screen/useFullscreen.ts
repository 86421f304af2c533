import { type RefObject, useSyncExternalStore } from "react";

function subscribe(listener: () => void): () => void {
  document.addEventListener("fullscreenchange", listener);
  return () => document.removeEventListener("fullscreenchange", listener);
}

/** Returns true if `element` fills the whole display, with a function to switch that. */
export function useFullscreen(element: RefObject<HTMLElement | null>) {
  const isFullscreen = useSyncExternalStore(
    subscribe,
    () => element.current !== null && document.fullscreenElement === element.current,
  );
  const toggle = () => {
    // A browser may refuse, for example in a frame. Then nothing changes, which the user sees.
    if (isFullscreen) document.exitFullscreen().catch(() => {});
    else element.current?.requestFullscreen().catch(() => {});
  };
  return { isFullscreen, toggle, isPossible: document.fullscreenEnabled };
}

import { useEffect, useState } from "react";

/** The time without a movement or a key after which the controls disappear. */
const IDLE_AFTER_MS = 3000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "focusin"] as const;

/** Returns true when the person has not moved, tapped or typed for a while. */
export function useIdle(): boolean {
  const [isIdle, setIsIdle] = useState(false);
  useEffect(() => {
    let timer = setTimeout(() => setIsIdle(true), IDLE_AFTER_MS);
    const wake = () => {
      setIsIdle(false);
      clearTimeout(timer);
      timer = setTimeout(() => setIsIdle(true), IDLE_AFTER_MS);
    };
    for (const sign of SIGNS) window.addEventListener(sign, wake, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const sign of SIGNS) window.removeEventListener(sign, wake);
    };
  }, []);
  return isIdle;
}

import { useEffect } from "react";

import { observable } from "../../lib/observable";

/** The number of panels that show VS Code. */
const open = observable(0);

/** Counts a panel that shows VS Code, for as long as it does. */
export function useCountCode(isShown: boolean): void {
  useEffect(() => {
    if (!isShown) return;
    open.set(open.get() + 1);
    return () => open.set(open.get() - 1);
  }, [isShown]);
}

/** Returns true while VS Code is open on this page. It ends when control changes hands. */
export function useIsCodeOpen(): boolean {
  return open.use() > 0;
}

import { Keyboard } from "lucide-react";
import { useRef } from "react";

import { Button } from "../../components/Button";
import { useMediaQuery } from "../../lib/useMediaQuery";
import { keysBetween } from "./typing";

/** The field is never empty, so that there is something to delete. */
const FILLING = "_".repeat(50);

/** Opens the keyboard of a phone or a tablet, and types on the desktop what is written with it. */
export function TouchKeyboard({ onKey }: { onKey: (keysym: number) => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const written = useRef(FILLING);
  const isTouch = useMediaQuery("(pointer: coarse)");
  if (!isTouch) return null;
  const clear = (element: HTMLTextAreaElement) => {
    element.value = FILLING;
    written.current = FILLING;
  };
  return (
    <>
      <Button look="ghost" square aria-label="Keyboard" onClick={() => field.current?.focus()}>
        <Keyboard aria-hidden className="size-4" />
      </Button>
      <textarea
        ref={field}
        data-owns-keys
        tabIndex={-1}
        aria-label="Type on the desktop"
        defaultValue={FILLING}
        autoCapitalize="off"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        onFocus={(event) => clear(event.currentTarget)}
        onInput={(event) => {
          const { value } = event.currentTarget;
          for (const key of keysBetween(written.current, value)) onKey(key);
          written.current = value;
          if (value.length === 0) clear(event.currentTarget);
        }}
        // It must be in the page to open the keyboard, and large type keeps iOS from zooming in.
        className="pointer-events-none absolute top-0 left-0 size-px resize-none text-base opacity-0"
      />
    </>
  );
}

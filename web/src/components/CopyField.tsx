import { Check, Copy } from "lucide-react";
import { useState } from "react";

import { copyText } from "../lib/copyText";
import { Button } from "./Button";

interface CopyFieldProps {
  label: string;
  text: string;
  /** Shown in place of the text, which is copied all the same. */
  mask?: string | undefined;
}

/** Shows text that is displayed only once, with a button to copy it. */
export function CopyField({ label, text, mask }: CopyFieldProps) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = () => void copyText(text).then(setIsCopied);
  return (
    <div className="flex items-center gap-2">
      <input
        readOnly
        aria-label={label}
        value={mask ?? text}
        onFocus={(event) => event.target.select()}
        className="h-8 min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 font-mono text-xs"
      />
      <Button onClick={copy}>
        {isCopied ? (
          <Check aria-hidden className="size-4" />
        ) : (
          <Copy aria-hidden className="size-4" />
        )}
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}

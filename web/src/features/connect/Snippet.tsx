import { Check, Copy, Eye, EyeOff } from "lucide-react";
import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { copyText } from "../../lib/copyText";

interface SnippetProps {
  /** Says where the text goes. */
  place: ReactNode;
  text: string;
  token: string | null;
  /** Shown in place of the token until a person wants to see it. */
  mask: string;
  isTokenShown: boolean;
  onShowToken: (isShown: boolean) => void;
}

/** Text to copy into a client. It is copied with the token, whether that is shown or not. */
export function Snippet(props: SnippetProps) {
  const { place, text, token, mask, isTokenShown, onShowToken } = props;
  const [isCopied, setIsCopied] = useState<boolean | null>(null);
  const hasToken = token !== null && text.includes(token);
  const copy = async () => {
    const isDone = await copyText(text);
    setIsCopied(isDone);
    // The text must be complete for a person who copies it by hand.
    if (!isDone && hasToken) onShowToken(true);
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="overflow-hidden rounded-lg border border-line">
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface py-1.5 pr-1.5 pl-3">
          <p className="min-w-0 flex-1 basis-40 text-[13px] text-soft">{place}</p>
          <div className="flex gap-1.5">
            {hasToken && (
              <Button look="ghost" onClick={() => onShowToken(!isTokenShown)}>
                {isTokenShown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
                {isTokenShown ? "Hide the token" : "Show the token"}
              </Button>
            )}
            <Button onClick={() => void copy()}>
              {isCopied ? <Check aria-hidden className="size-4" /> : <Copy aria-hidden className="size-4" />}
              {isCopied ? "Copied" : "Copy"}
            </Button>
          </div>
        </div>
        <pre className="bg-sunken px-3 py-2.5 font-mono text-xs leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]">
          <code>{hasToken && !isTokenShown ? text.replaceAll(token, mask) : text}</code>
        </pre>
      </div>
      <span role="status" className="sr-only">
        {isCopied ? "Copied" : ""}
      </span>
      {isCopied === false && (
        <Notice>This browser does not let the page copy. Select the text and copy it yourself.</Notice>
      )}
    </div>
  );
}

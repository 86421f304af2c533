import { CircleAlert, X } from "lucide-react";
import type { ReactNode } from "react";

import { Button } from "./Button";

interface NoticeProps {
  children: ReactNode;
  onDismiss?: () => void;
}

/** Reports that an action of the user failed. */
export function Notice({ children, onDismiss }: NoticeProps) {
  return (
    <div
      role="alert"
      className="flex items-start gap-2 rounded-lg border border-bad-line bg-bad-soft px-3 py-2 text-[13px] text-bad"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">{children}</div>
      {onDismiss && (
        <Button
          look="ghost"
          square
          aria-label="Dismiss"
          className="-my-1 -mr-1.5 size-7 text-bad hover:text-bad"
          onClick={onDismiss}
        >
          <X aria-hidden className="size-4" />
        </Button>
      )}
    </div>
  );
}

import { Globe, LoaderCircle, MonitorOff } from "lucide-react";
import { type ReactNode, useState } from "react";

import type { SandboxState, SessionState } from "../../api/types";
import { cx } from "../../lib/cx";
import { offNote, screenMode } from "./screenMode";

interface PageViewProps {
  state: SessionState;
  sandbox: SandboxState;
  /** The URL of the newest picture. It changes when there may be a newer one. */
  pictureUrl: string;
}

/** The page in the agent's browser, in pictures, where there is no screen to watch. */
export function PageView({ state, sandbox, pictureUrl }: PageViewProps) {
  const mode = screenMode(state, sandbox);
  const [missing, setMissing] = useState<string | null>(null);
  const hasPicture = missing !== pictureUrl;
  const isOff = mode === "off";
  return (
    <section aria-label="Screen" className="@container flex h-full min-h-0 flex-col bg-page">
      <div className="flex h-11 shrink-0 items-center gap-2 px-3 text-xs text-soft">
        <Globe aria-hidden className="size-3.5 shrink-0 text-faint" />
        <span className="truncate">
          The page as of the agent’s last step
          <span className="text-faint @max-lg:hidden"> · a browser without a screen, so there is nothing to take over</span>
        </span>
      </div>
      <div className="flex min-h-0 flex-1 p-2 pt-0 @xl:p-3 @xl:pt-0">
        <div
          className={cx(
            "relative grid min-h-0 w-full flex-1 justify-items-center",
            hasPicture ? "items-start" : "items-center rounded-lg border border-line-strong bg-sunken",
          )}
        >
          {hasPicture && (
            <img
              src={pictureUrl}
              alt="The page in the agent’s browser"
              onError={() => setMissing(pictureUrl)}
              className={cx(
                "max-h-full max-w-full rounded-lg border border-line-strong shadow-lift [grid-area:1/1]",
                isOff && "opacity-40 grayscale",
              )}
            />
          )}
          {isOff && (
            <PageNote icon={<MonitorOff aria-hidden className="size-4 shrink-0 text-faint" />}>
              {offNote(state, sandbox, "browser")}
            </PageNote>
          )}
          {!isOff && !hasPicture && (
            <PageNote
              icon={
                mode === "starting" ? (
                  <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin text-accent" />
                ) : (
                  <Globe aria-hidden className="size-4 shrink-0 text-faint" />
                )
              }
            >
              {mode === "starting" ? "The browser is starting…" : "No page is open yet."}
            </PageNote>
          )}
        </div>
      </div>
    </section>
  );
}

function PageNote({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div
      role="status"
      className="relative mx-4 flex max-w-sm items-center self-center [grid-area:1/1] gap-2.5 rounded-lg border border-line bg-raised px-3.5 py-2.5 text-[13px] shadow-lift"
    >
      {icon}
      {children}
    </div>
  );
}

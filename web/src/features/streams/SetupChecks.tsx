import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";

import { messageOf } from "../../api/client";
import { useStreamSetup } from "../../api/streams";
import type { StreamCheck, StreamCheckState } from "../../api/types";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { cx } from "../../lib/cx";
import { sentence } from "../../lib/text";

/** The titles of the checks. One that a newer server sends is shown by its name. */
const TITLES: Record<string, string> = {
  streams: "Streams",
  bot: "Discord bot",
  public_url: "Address of watch links",
  computers: "Desktops",
  network: "Network",
  model: "Model",
  last_mile: "How people watch",
  webhooks: "Webhooks",
  activity: "Discord Activity",
};

const STATES: Record<StreamCheckState, { icon: typeof CircleCheck; word: string; colour: string }> = {
  ok: { icon: CircleCheck, word: "Good", colour: "text-good" },
  warning: { icon: TriangleAlert, word: "Needs attention", colour: "text-warn" },
  failed: { icon: CircleX, word: "Does not work", colour: "text-bad" },
};

/** The settings that streams need, each with its state and the way out. */
export function SetupChecks() {
  const setup = useStreamSetup();
  return (
    <section aria-labelledby="setup-heading" className="flex flex-col gap-3">
      <h2 id="setup-heading" className="text-base font-semibold">
        Settings check
      </h2>
      {setup.error && (
        <Notice>
          {setup.data && "These checks may be out of date. "}
          {messageOf(setup.error)}
        </Notice>
      )}
      {setup.isPending && <Skeleton className="h-40 w-full rounded-lg" />}
      <ul
        aria-label="Checks"
        className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden"
      >
        {setup.data?.checks.map((check) => (
          <CheckRow key={check.name} check={check} />
        ))}
      </ul>
    </section>
  );
}

function CheckRow({ check }: { check: StreamCheck }) {
  const { icon: Icon, word, colour } = STATES[check.state];
  return (
    <li className="flex gap-3 px-4 py-2.5 text-[13px]">
      <Icon aria-hidden className={cx("mt-0.5 size-4 shrink-0", colour)} />
      <div className="flex min-w-0 flex-1 flex-col gap-x-4 sm:flex-row">
        <div className="shrink-0 font-medium sm:w-44">
          {TITLES[check.name] ?? check.name}
          <span className="sr-only">: {word}.</span>
        </div>
        <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <p className="text-soft">{sentence(check.message)}</p>
          {check.remedy !== null && <p className="mt-0.5 text-ink">{sentence(check.remedy)}</p>}
        </div>
      </div>
    </li>
  );
}

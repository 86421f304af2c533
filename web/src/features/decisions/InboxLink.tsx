import { Link } from "@tanstack/react-router";
import { Bell } from "lucide-react";

import { useInbox } from "../../api/decisions";
import { useOffers } from "../../api/offers";
import { counted } from "../../lib/text";

/** Links to the inbox, with the number of decisions and offers that wait for the user. */
export function InboxLink() {
  const inbox = useInbox();
  const n_offers = useOffers().data?.length ?? 0;
  const n_decisions = inbox.data?.pages.flatMap((page) => page.decisions).length ?? 0;
  const n_open = n_decisions + n_offers;
  const shown = inbox.hasNextPage ? `${n_open}+` : String(n_open);
  const label = n_open === 0 ? "Nothing is waiting for you" : `${counted(n_open, "thing")} for you`;
  return (
    <Link
      to="/decisions"
      aria-label={label}
      title={label}
      className="relative grid size-8 place-items-center rounded-md text-soft hover:bg-hover hover:text-ink"
    >
      <Bell aria-hidden className="size-4" />
      {n_open > 0 && (
        <span
          aria-hidden
          className="absolute -top-0.5 -right-0.5 min-w-4 rounded-full bg-accent px-1 text-center text-[10px] leading-4 font-semibold text-surface tabular-nums"
        >
          {shown}
        </span>
      )}
    </Link>
  );
}

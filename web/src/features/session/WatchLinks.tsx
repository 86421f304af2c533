import { Eye, X } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import type { WatchLink } from "../../api/types";
import { useMakeWatchLink, useRevokeWatchLink, useWatchLinks } from "../../api/watch";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { CopyField } from "../../components/CopyField";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";

type Lifetime = "3600" | "86400" | "604800";
const LIFETIMES: readonly { value: Lifetime; label: string }[] = [
  { value: "3600", label: "For an hour" },
  { value: "86400", label: "For a day" },
  { value: "604800", label: "For a week" },
];

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Links by which everybody can watch the screen, without signing in. */
export function WatchLinks({ sessionId }: { sessionId: string }) {
  const links = useWatchLinks(sessionId);
  const make = useMakeWatchLink(sessionId);
  const revoke = useRevokeWatchLink(sessionId);
  const [lifetime, setLifetime] = useState<Lifetime>("86400");
  const error = links.error ?? make.error ?? revoke.error;
  const made = links.data?.some(({ id }) => id === make.data?.id) ? make.data : undefined;
  return (
    <section aria-label="Watch links" className="flex flex-col gap-2.5 border-t border-line pt-4">
      <p className="text-[13px] text-soft">
        Anyone who has a watch link sees the screen and hears the sound, without signing in and without the
        conversation. While a person has control, they see nothing.
      </p>
      <div className="flex flex-wrap gap-2">
        <Select label="Lifetime of the watch link" value={lifetime} options={LIFETIMES} onChange={setLifetime} />
        <Button disabled={make.isPending} onClick={() => make.mutate(Number(lifetime))}>
          <Eye aria-hidden className="size-4" /> Create a watch link
        </Button>
      </div>
      {error && <Notice>{messageOf(error)}</Notice>}
      {made && (
        <div className="flex flex-col gap-1.5">
          <p className="text-[13px]">Copy the new watch link now. It is shown only this once.</p>
          <CopyField key={made.id} label="New watch link" text={made.url} />
        </div>
      )}
      <ul className="flex flex-col">
        {links.data?.map((link) => (
          <LinkRow key={link.id} link={link} onRevoke={() => revoke.mutate(link.id)} />
        ))}
      </ul>
    </section>
  );
}

function LinkRow({ link, onRevoke }: { link: WatchLink; onRevoke: () => void }) {
  const until = TIME.format(new Date(link.expires_at));
  return (
    <li className="flex h-9 items-center gap-2.5 text-[13px]">
      <Eye aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate">
        Anyone may watch <span className="text-faint">until {until}</span>
      </span>
      <ConfirmButton
        look="ghost"
        square
        aria-label={`End the watch link until ${until}`}
        title="End this watch link?"
        explanation="Everybody who watches by it is cut off."
        confirmLabel="End the watch link"
        onConfirm={onRevoke}
      >
        <X aria-hidden className="size-4" />
      </ConfirmButton>
    </li>
  );
}

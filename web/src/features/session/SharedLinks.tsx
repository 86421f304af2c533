import { Link2, X } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useEndShare, useMakeShare, useShares } from "../../api/people";
import type { GivenRight, Share } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { CopyField } from "../../components/CopyField";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { RIGHT_WORDS, SHORT_RIGHTS } from "../../lib/rights";

type Uses = "many" | "one";
const USES: readonly { value: Uses; label: string }[] = [
  { value: "many", label: "For several people" },
  { value: "one", label: "For one person" },
];

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** Links that give access to any signed-in user who has one. */
export function SharedLinks({ sessionId }: { sessionId: string }) {
  const shares = useShares(sessionId);
  const make = useMakeShare(sessionId);
  const end = useEndShare(sessionId);
  const [right, setRight] = useState<GivenRight>("view");
  const [uses, setUses] = useState<Uses>("many");
  const error = shares.error ?? make.error ?? end.error;
  const made = shares.data?.some(({ id }) => id === make.data?.id) ? make.data : undefined;
  return (
    <section aria-label="Links" className="flex flex-col gap-2.5 border-t border-line pt-4">
      <p className="text-[13px] text-soft">
        Anyone who has a link and can sign in joins with its right. A link works for a week. It changes nothing for
        people whose right you chose above, and lets nobody in whom you removed.
      </p>
      <div className="flex flex-wrap gap-2">
        <Select label="Right of the link" value={right} options={SHORT_RIGHTS} onChange={setRight} />
        <Select label="Uses of the link" value={uses} options={USES} onChange={setUses} />
        <Button
          disabled={make.isPending}
          onClick={() => make.mutate({ right, single_use: uses === "one" })}
        >
          <Link2 aria-hidden className="size-4" /> Create a link
        </Button>
      </div>
      {error && <Notice>{messageOf(error)}</Notice>}
      {made && (
        <div className="flex flex-col gap-1.5">
          <p className="text-[13px]">Copy the new link now. It is shown only this once.</p>
          <CopyField key={made.id} label="New link" text={made.url} />
        </div>
      )}
      <ul className="flex flex-col">
        {shares.data?.map((share) => (
          <LinkRow key={share.id} share={share} onEnd={() => end.mutate(share.id)} />
        ))}
      </ul>
    </section>
  );
}

function LinkRow({ share, onEnd }: { share: Share; onEnd: () => void }) {
  const until = DATE.format(new Date(share.expires_at));
  return (
    <li className="flex h-9 items-center gap-2.5 text-[13px]">
      <Link2 aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate">
        {RIGHT_WORDS[share.right]}{" "}
        <span className="text-faint">
          until {until}
          {share.single_use && ", for one person"}
        </span>
      </span>
      <ConfirmButton
        look="ghost"
        square
        aria-label={`End the link until ${until}`}
        title="End this link?"
        explanation="Nobody can join with it any more. People who joined with it stay."
        confirmLabel="End the link"
        onConfirm={onEnd}
      >
        <X aria-hidden className="size-4" />
      </ConfirmButton>
    </li>
  );
}

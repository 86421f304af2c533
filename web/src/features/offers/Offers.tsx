import { useNavigate } from "@tanstack/react-router";
import { Handshake } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useAcceptOffer, useDeclineOffer, useOffers } from "../../api/offers";
import type { GivenRight, Offer } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { RIGHT_WORDS } from "../../lib/rights";
import { formatSoon } from "../../lib/time";

/** Shows the sessions that others offer to the user. Nothing is shown if there are none. */
export function Offers() {
  const offers = useOffers();
  const navigate = useNavigate();
  const open = (sessionId: string) =>
    void navigate({ to: "/sessions/$sessionId", params: { sessionId } });
  return offers.data?.map((offer) => (
    <OfferCard key={offer.session_id} offer={offer} onAccepted={() => open(offer.session_id)} />
  ));
}

interface OfferCardProps {
  offer: Offer;
  onAccepted: () => void;
}

/** An offer, with its consequences and the two answers. */
export function OfferCard({ offer, onAccepted }: OfferCardProps) {
  const accept = useAcceptOffer(offer.session_id);
  const decline = useDeclineOffer(offer.session_id);
  const [keeps, setKeeps] = useState<GivenRight>("view");
  const isBusy = accept.isPending || decline.isPending;
  const error = accept.error ?? decline.error;
  const { from_name: giver } = offer;
  const rights = (["view", "suggest", "drive"] as const).map((value) => ({
    value,
    label: `${giver} ${RIGHT_WORDS[value].toLowerCase()}`,
  }));
  return (
    <section aria-label="Offer" className="rounded-lg border border-accent bg-surface">
      <div className="flex items-center gap-2 px-3 pt-2.5 text-xs font-medium text-soft">
        <Handshake aria-hidden className="size-4 shrink-0 text-accent" />
        Offer
        <span className="min-w-0 flex-1 truncate font-normal text-faint">
          open until {formatSoon(offer.expires_at).replace(/^(on|at) /, "")}
        </span>
      </div>
      <div className="flex flex-col gap-2.5 px-3 pt-1.5 pb-3">
        <p className="[overflow-wrap:anywhere]">
          {giver} offers you the session “{offer.session_title || "Untitled session"}”.
        </p>
        <p className="text-[13px] text-soft">
          As its owner you pay for it, and its agent may fill in your secrets when you ask it to. Approvals, budget
          and network become those of a new session of yours, links and shared ports end, and the desktop is stopped.
          The files that {giver} left on it stay.
        </p>
        {offer.has_instructions && (
          <p className="text-[13px] text-soft">
            It has instructions for its agent, which stay. Read them before you send a message.
          </p>
        )}
        {offer.n_people > 0 && (
          <p className="text-[13px] text-soft">
            {offer.n_people === 1 ? "One other person keeps" : `${offer.n_people} other people keep`} the right to look
            at it.
          </p>
        )}
        {error && <Notice>{messageOf(error)}</Notice>}
        <div className="flex flex-wrap items-center gap-2">
          <Button
            look="primary"
            disabled={isBusy}
            onClick={() => accept.mutate(keeps, { onSuccess: onAccepted })}
          >
            {accept.isPending ? "Accepting…" : "Accept"}
          </Button>
          <Button disabled={isBusy} onClick={() => decline.mutate()}>
            Decline
          </Button>
          <Select
            label={`Right that ${giver} keeps`}
            value={keeps}
            options={rights}
            onChange={setKeeps}
          />
        </div>
      </div>
    </section>
  );
}

import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useMakeOffer, useWithdrawOffer } from "../../api/offers";
import { useOpenOffer } from "../../api/people";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { TextField } from "../../components/TextField";

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** Offers the session to another user, who becomes its owner by accepting. */
export function HandOver({ sessionId }: { sessionId: string }) {
  const open = useOpenOffer(sessionId).data;
  const make = useMakeOffer(sessionId);
  const withdraw = useWithdrawOffer(sessionId);
  const [name, setName] = useState("");
  const offer = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "" || make.isPending) return;
    make.mutate(name.trim(), { onSuccess: () => setName("") });
  };
  const error = make.error ?? withdraw.error;
  return (
    <section aria-label="New owner" className="flex flex-col gap-2.5 border-t border-line pt-4">
      {open ? (
        <div className="flex flex-wrap items-center gap-2.5 text-[13px]">
          <span className="min-w-0 flex-1">
            Offered to {open.to_name}{" "}
            <span className="text-faint">until {DATE.format(new Date(open.expires_at))}</span>
          </span>
          <Button disabled={withdraw.isPending} onClick={() => withdraw.mutate()}>
            Withdraw
          </Button>
        </div>
      ) : (
        <>
          <p className="text-[13px] text-soft">
            Offer the session to somebody else. It stays yours until they accept. Then its desktop is stopped, its
            links end, and they choose what you may still do.
          </p>
          <form onSubmit={offer} className="flex flex-wrap gap-2">
            <TextField label="Name of the new owner" value={name} onChange={setName} />
            <Button type="submit" disabled={name.trim() === "" || make.isPending}>
              Offer
            </Button>
          </form>
        </>
      )}
      {error && <Notice>{messageOf(error)}</Notice>}
    </section>
  );
}

import { useState } from "react";

import { useUsage } from "../../api/account";
import type { Session } from "../../api/types";
import { Figure, Figures } from "../../components/Figures";
import { FormDialog } from "../../components/FormDialog";
import { cx } from "../../lib/cx";
import { formatUsd, type Spent, spentBriefly, spentWords, tokensOf, usdOf } from "../../lib/money";

interface SessionSpentProps {
  session: Session;
  spent: Spent;
  /** The part of it that programs on the desktop have used. */
  programs: Spent;
  /** Shows as little text as possible. */
  isBrief?: boolean;
  className?: string;
}

/** Shows the usage of a session's models: briefly, and in full on request. */
export function SessionSpent(props: SessionSpentProps) {
  const { session, spent, programs, isBrief = false } = props;
  const [isOpen, setIsOpen] = useState(false);
  const words = spentWords(spent);
  if (words === null) return null;
  return (
    <>
      <button
        type="button"
        aria-label={`Used: ${words}`}
        onClick={() => setIsOpen(true)}
        className={cx("shrink-0 rounded tabular-nums hover:text-ink hover:underline", props.className)}
      >
        {isBrief ? spentBriefly(spent) : words}
        {!isBrief && programs.usd > 0 && (
          <span className="max-xl:hidden">, of which programs {formatUsd(programs.usd)}</span>
        )}
      </button>
      <FormDialog
        isOpen={isOpen}
        onOpenChange={setIsOpen}
        title="Usage of models"
        canSubmit
        onSubmit={() => setIsOpen(false)}
      >
        <SpentFigures session={session} spent={spent} programs={programs} />
      </FormDialog>
    </>
  );
}

function SpentFigures({
  session,
  spent,
  programs,
}: Pick<SessionSpentProps, "session" | "spent" | "programs">) {
  const isOwner = session.right === "owner";
  const today = useUsage({ enabled: isOwner }).data?.today;
  const ofPrograms = spentWords(programs);
  const { usd, tokens } = session.budget;
  return (
    <Figures label="Usage of models">
      <Figure label="This session">{spentWords(spent)}</Figure>
      {ofPrograms !== null && (
        <Figure label="of which programs on the desktop" isPart>
          {ofPrograms}
        </Figure>
      )}
      <Figure label="Budget of the session">
        {usd.limit === null ? "No limit" : usdOf(spent.usd, usd.limit)}
      </Figure>
      {tokens.limit !== null && (
        <Figure label="in tokens" isPart>
          {tokensOf(spent.tokens, tokens.limit)}
        </Figure>
      )}
      {isOwner && today && (
        <Figure label="All your sessions today">{usdOf(today.usd.used, today.usd.limit)}</Figure>
      )}
    </Figures>
  );
}

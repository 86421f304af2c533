import { CloudOff } from "lucide-react";
import { type ReactNode, useState } from "react";

import { otherUser, useArrival, useMe } from "../../api/account";
import { messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { Logo } from "../../components/Logo";
import { Placeholder } from "../../components/Placeholder";
import { SignInPage } from "../../pages/SignInPage";
import { OtherUser } from "./OtherUser";

interface GateProps {
  /** The code of the sign-in link the page was opened with. */
  arrivalCode: string | null;
  children: ReactNode;
}

/**
 * Shows the page to people who are signed in, and the sign-in page to all others.
 *
 * The URL stays the same meanwhile, so people arrive where they wanted to go.
 */
export function Gate({ arrivalCode, children }: GateProps) {
  const arrival = useArrival(arrivalCode);
  const hasArrived = arrivalCode === null || arrival.isFetched;
  const [hasChosen, setHasChosen] = useState(false);
  const names = hasChosen ? null : otherUser(arrival.error);
  const me = useMe({ enabled: hasArrived && names === null });

  if (names && arrivalCode !== null) {
    return <OtherUser code={arrivalCode} names={names} onDone={() => setHasChosen(true)} />;
  }
  if (me.data) return children;
  if (me.data === null) {
    // A person who is already signed in may open an old link. Only others are told that it is used
    // up.
    return <SignInPage problem={arrival.error ? messageOf(arrival.error) : undefined} />;
  }
  if (me.error) {
    return (
      <main className="grid min-h-full place-items-center">
        <Placeholder
          icon={<CloudOff aria-hidden />}
          title="Deskhand does not answer"
          actions={<Button onClick={() => void me.refetch()}>Try again</Button>}
        >
          {messageOf(me.error)}
        </Placeholder>
      </main>
    );
  }
  return (
    <main aria-busy className="grid min-h-full place-items-center">
      <div
        role="status"
        className="flex animate-appear-late flex-col items-center gap-3 text-faint"
      >
        <Logo className="size-9 animate-pulse" />
        {hasArrived ? "Loading…" : "Signing in…"}
      </div>
    </main>
  );
}

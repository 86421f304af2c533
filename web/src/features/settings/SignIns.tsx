import { messageOf } from "../../api/client";
import { useEndSignIn, useSignIns, useSignOutEverywhere } from "../../api/settings";
import type { SignedInBrowser } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { browserName } from "../../lib/browserName";

/** The browsers in which the user is signed in. */
export function SignIns() {
  const signIns = useSignIns();
  const end = useEndSignIn();
  const everywhere = useSignOutEverywhere();
  const error = signIns.error ?? end.error ?? everywhere.error;
  return (
    <section aria-labelledby="sign-ins-heading" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id="sign-ins-heading" className="flex-1 text-base font-semibold">
          Where you are signed in
        </h2>
        <ConfirmButton
          title="Sign out everywhere?"
          explanation="All browsers are signed out, this one too, and sign-in links that were not used end. Tokens stay."
          confirmLabel="Sign out everywhere"
          onConfirm={() => everywhere.mutate()}
        >
          Sign out everywhere
        </ConfirmButton>
      </div>
      <p className="text-soft">
        A browser stays signed in for 30 days, or until it is not used for two weeks. End what you do not know.
      </p>
      {error && <Notice>{messageOf(error)}</Notice>}
      {signIns.isPending && <Skeleton className="h-12 w-full" />}
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
        {signIns.data?.map((signIn) => (
          <SignInRow key={signIn.id} signIn={signIn} onEnd={() => end.mutate(signIn.id)} />
        ))}
      </ul>
    </section>
  );
}

function SignInRow({ signIn, onEnd }: { signIn: SignedInBrowser; onEnd: () => void }) {
  const name = browserName(signIn.browser);
  const { created_at, last_used_at, address } = signIn;
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium" title={signIn.browser ?? undefined}>
          {name}
          {signIn.current && <span className="ml-2 text-xs font-normal text-good">this browser</span>}
        </div>
        <div className="text-xs break-words text-faint">
          {address === null ? "unknown address" : `from ${address}`}
          {created_at !== null && (
            <>
              {" "}
              · signed in <TimeAgo at={created_at} />
            </>
          )}
          {last_used_at !== null && (
            <>
              {" "}
              · used <TimeAgo at={last_used_at} />
            </>
          )}
        </div>
      </div>
      {!signIn.current && (
        <Button aria-label={`Sign out ${name}`} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  );
}

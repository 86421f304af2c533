import { messageOf } from "../../api/client";
import { type OtherUser as Names, useSignIn } from "../../api/account";
import { Button } from "../../components/Button";
import { Logo } from "../../components/Logo";
import { Notice } from "../../components/Notice";

interface OtherUserProps {
  /** The code of the sign-in link. */
  code: string;
  names: Names;
  /** Called when the question is answered, either way. */
  onDone: () => void;
}

/**
 * Asks before a sign-in link replaces the user who is signed in.
 *
 * Somebody may have sent a link to their own account. Whatever is typed then would be theirs.
 */
export function OtherUser({ code, names, onDone }: OtherUserProps) {
  const signIn = useSignIn();
  const { current, next } = names;
  return (
    <main className="grid min-h-full place-items-center p-4">
      <title>Sign in · Deskhand</title>
      <div className="flex w-full max-w-md flex-col gap-4 rounded-xl border border-line bg-surface p-5 shadow-lift">
        <div className="flex items-center gap-3">
          <Logo className="size-9 shrink-0" />
          <h1 className="text-lg font-semibold [overflow-wrap:anywhere]">
            You are {current}. Sign in as {next} instead?
          </h1>
        </div>
        <p className="text-soft">
          This link is for {next}. If somebody else sent it to you, stay: what you do as {next} belongs to
          whoever owns that account.
        </p>
        {signIn.error && <Notice>{messageOf(signIn.error)}</Notice>}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="primary" onClick={onDone}>
            Stay signed in as {current}
          </Button>
          <Button
            disabled={signIn.isPending}
            onClick={() => signIn.mutate({ code, replace: true }, { onSuccess: onDone })}
          >
            Sign in as {next}
          </Button>
        </div>
      </div>
    </main>
  );
}

import { messageOf } from "../api/client";
import { useSignIn } from "../api/account";
import { Logo } from "../components/Logo";
import { SignInForm } from "../features/account/SignInForm";

/** Explains how to sign in to people whose link is missing, used up or too old. */
export function SignInPage({ problem }: { problem?: string | undefined }) {
  const signIn = useSignIn();
  const error = signIn.error ? messageOf(signIn.error) : signIn.isIdle ? problem : undefined;
  return (
    <main className="grid min-h-full place-items-center p-4">
      <title>Sign in · Deskhand</title>
      <div className="w-full max-w-md">
        <div className="mb-5 flex items-center gap-3">
          <Logo className="size-9" />
          <h1 className="text-xl font-semibold">Sign in to Deskhand</h1>
        </div>
        <div className="flex flex-col gap-5 rounded-xl border border-line bg-surface p-5 shadow-lift">
          <div className="text-soft">
            <p>There are no passwords here. On the machine where Deskhand runs, ask for a link:</p>
            <pre className="my-2.5 rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-[13px] text-ink">
              deskhand login
            </pre>
            <p>Open the link it prints, or paste it here. It works once, within ten minutes.</p>
          </div>
          <SignInForm
            onCode={(code) => signIn.mutate({ code })}
            isBusy={signIn.isPending || signIn.isSuccess}
            error={error}
          />
        </div>
      </div>
    </main>
  );
}

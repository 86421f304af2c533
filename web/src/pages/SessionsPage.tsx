import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink } from "../features/account/Navigation";
import { CommandsButton } from "../features/commands/CommandsButton";
import { InboxLink } from "../features/decisions/InboxLink";
import { SessionList } from "../features/sessions/SessionList";
import { StartSession } from "../features/sessions/StartSession";

export function SessionsPage() {
  return (
    <div className="flex min-h-full flex-col">
      <title>Sessions · Deskhand</title>
      <TopBar
        home={<HomeLink withName />}
        actions={
          <>
            <CommandsButton />
            <InboxLink />
            <AccountMenu />
          </>
        }
      />
      <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-8 px-4 pt-8 pb-16 sm:pt-12">
        <StartSession />
        <section aria-labelledby="sessions-heading">
          <h2 id="sessions-heading" className="mb-3 text-[13px] font-semibold text-soft">
            Sessions
          </h2>
          <SessionList />
        </section>
      </main>
    </div>
  );
}

import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink } from "../features/account/Navigation";
import { CommandsButton } from "../features/commands/CommandsButton";
import { InboxLink } from "../features/decisions/InboxLink";
import { Streams } from "../features/streams/Streams";

export function StreamsPage() {
  return (
    <div className="flex min-h-full flex-col">
      <title>Discord streams · Deskhand</title>
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
      <main className="mx-auto flex w-full max-w-4xl flex-1 flex-col gap-8 px-4 pt-8 pb-16">
        <div className="flex flex-col gap-1.5">
          <h1 className="text-xl font-semibold">Discord streams</h1>
          <p className="text-soft">What people in voice channels watch together, because somebody sent Jamie a link.</p>
        </div>
        <Streams />
      </main>
    </div>
  );
}

import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink, NewSessionButton } from "../features/account/Navigation";
import { Inbox } from "../features/decisions/Inbox";
import { InboxLink } from "../features/decisions/InboxLink";
import { Offers } from "../features/offers/Offers";

export function DecisionsPage() {
  return (
    <div className="flex min-h-full flex-col">
      <title>Waiting for you · Deskhand</title>
      <TopBar
        home={<HomeLink withName />}
        actions={
          <>
            <InboxLink />
            <NewSessionButton />
            <AccountMenu />
          </>
        }
      />
      <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-5 px-4 pt-8 pb-16">
        <h1 className="text-xl font-semibold">Waiting for you</h1>
        <Offers />
        <Inbox />
      </main>
    </div>
  );
}

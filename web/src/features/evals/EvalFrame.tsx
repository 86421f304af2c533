import type { ReactNode } from "react";

import { TopBar } from "../../components/TopBar";
import { AccountMenu } from "../account/AccountMenu";
import { HomeLink } from "../account/Navigation";
import { CommandsButton } from "../commands/CommandsButton";
import { InboxLink } from "../decisions/InboxLink";

/** The bar and the column of the pages about evals. */
export function EvalFrame({ location, children }: { location?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-h-full flex-col">
      <TopBar
        home={<HomeLink withName={location === undefined} />}
        actions={
          <>
            <CommandsButton />
            <InboxLink />
            <AccountMenu />
          </>
        }
      >
        {location}
      </TopBar>
      <main className="mx-auto flex w-full max-w-5xl min-w-0 flex-1 flex-col gap-8 px-4 pt-8 pb-16">{children}</main>
    </div>
  );
}

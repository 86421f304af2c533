import { Link } from "@tanstack/react-router";

import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink, NewSessionButton } from "../features/account/Navigation";
import { CommandsButton } from "../features/commands/CommandsButton";
import { ConnectAgent } from "../features/connect/ConnectAgent";
import { InboxLink } from "../features/decisions/InboxLink";

export function ConnectPage() {
  return (
    <div className="flex min-h-full flex-col">
      <title>Connect your agent · Deskhand</title>
      <TopBar
        home={<HomeLink withName />}
        actions={
          <>
            <CommandsButton />
            <InboxLink />
            <NewSessionButton />
            <AccountMenu />
          </>
        }
      />
      <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-8 px-4 pt-8 pb-16">
        <div className="flex flex-col gap-1.5">
          <h1 className="text-xl font-semibold">Connect your agent</h1>
          <p className="text-soft">
            Your coding agent, or any other client of the Model Context Protocol (MCP), can give work to agents here
            and use their desktops. You see its sessions in your list, and can take over.
          </p>
        </div>
        <ConnectAgent
          server={window.location.origin}
          tokenList={
            <Link to="/settings" hash="tokens-heading" className="underline underline-offset-2 hover:text-ink">
              your tokens
            </Link>
          }
        />
      </main>
    </div>
  );
}

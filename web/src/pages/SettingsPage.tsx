import { useMe } from "../api/account";
import { TopBar } from "../components/TopBar";
import { AccountMenu } from "../features/account/AccountMenu";
import { HomeLink } from "../features/account/Navigation";
import { CommandsButton } from "../features/commands/CommandsButton";
import { InboxLink } from "../features/decisions/InboxLink";
import { Approvals } from "../features/settings/Approvals";
import { AuditLog, History } from "../features/settings/History";
import { Limits } from "../features/settings/Limits";
import { OwnHosts } from "../features/settings/OwnHosts";
import { SectionLinks } from "../features/settings/SectionLinks";
import { Secrets } from "../features/settings/Secrets";
import { SignIns } from "../features/settings/SignIns";
import { Tokens } from "../features/settings/Tokens";
import { Usage } from "../features/settings/Usage";
import { Users } from "../features/settings/Users";

export function SettingsPage() {
  const me = useMe({ enabled: true });
  const isAdmin = me.data?.role === "admin";
  return (
    <div className="flex min-h-full flex-col">
      <title>Settings · Deskhand</title>
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
      <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-10 px-4 pt-8 pb-16">
        <div className="flex flex-col gap-3">
          <h1 className="text-xl font-semibold">Settings</h1>
          <SectionLinks isAdmin={isAdmin} />
        </div>
        <Approvals />
        <Usage />
        <Limits />
        <Secrets />
        <OwnHosts />
        <Tokens />
        <SignIns />
        <History />
        {me.data && isAdmin && (
          <>
            <Users myId={me.data.id} />
            <AuditLog />
          </>
        )}
      </main>
    </div>
  );
}

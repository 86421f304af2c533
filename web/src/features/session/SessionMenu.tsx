import {
  Ellipsis,
  Hand,
  ListChecks,
  LogOut,
  Plug,
  Power,
  ScrollText,
  ShieldQuestion,
  Trash2,
  Zap,
} from "lucide-react";
import { type ReactNode, useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeSession, useEndSession } from "../../api/sessions";
import type { ApprovalMode, Session, SessionState } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "../../components/Menu";
import { includes } from "../../lib/rights";
import { useCommands } from "../commands/command";
import { Instructions } from "../models/Instructions";
import { ApprovalRules } from "./ApprovalRules";
import { DeleteSession } from "./DeleteSession";
import { LeaveDialog } from "./LeaveDialog";
import { McpServers } from "./McpServers";

const MODES: readonly { value: ApprovalMode; label: string; icon: ReactNode }[] = [
  { value: "risky", label: "Risky actions", icon: <ShieldQuestion aria-hidden /> },
  { value: "always", label: "All actions except looking", icon: <Hand aria-hidden /> },
  { value: "never", label: "Nothing", icon: <Zap aria-hidden /> },
];

/** The menu with further actions on a session. */
export function SessionMenu({ session, state }: { session: Session; state: SessionState }) {
  const isOwner = session.right === "owner" && state !== "terminated";
  const mayInstruct = includes(session.right, "drive") && state !== "terminated";
  const [isInstructing, setIsInstructing] = useState(false);
  const hasServers = (session.mcp_servers ?? []).length > 0;
  const [isListing, setIsListing] = useState(false);
  const [isRuling, setIsRuling] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const mayDelete = session.right === "owner" && state === "terminated";
  const [isDeleting, setIsDeleting] = useState(false);
  const [isLeaving, setIsLeaving] = useState(false);
  const end = useEndSession(session.id);
  const change = useChangeSession(session.id);
  const ask = (isOpen: boolean) => {
    end.reset();
    setIsAsking(isOpen);
  };
  const group = "This session";
  useCommands([
    { id: "instructions", title: "Instructions…", group, icon: ScrollText, run: () => setIsInstructing(true) },
    ...(session.right === "owner"
      ? []
      : [{ id: "leave", title: "Leave session…", group, icon: LogOut, rank: 1, run: () => setIsLeaving(true) } as const]),
    ...(isOwner
      ? [{ id: "end", title: "End session…", group, icon: Power, rank: 1, run: () => ask(true) } as const]
      : []),
    ...(mayDelete
      ? [{ id: "delete", title: "Delete session…", group, icon: Trash2, rank: 1, run: () => setIsDeleting(true) } as const]
      : []),
  ]);
  return (
    <>
      <Menu
        trigger={
          <Button look="ghost" square aria-label="Session menu">
            <Ellipsis aria-hidden className="size-4" />
          </Button>
        }
      >
        <MenuItem icon={<ScrollText aria-hidden />} onSelect={() => setIsInstructing(true)}>
          Instructions…
        </MenuItem>
        {hasServers && (
          <MenuItem icon={<Plug aria-hidden />} onSelect={() => setIsListing(true)}>
            MCP servers…
          </MenuItem>
        )}
        {session.right !== "owner" && (
          <MenuItem icon={<LogOut aria-hidden />} onSelect={() => setIsLeaving(true)}>
            Leave session…
          </MenuItem>
        )}
        {isOwner && (
          <>
            <MenuSeparator />
            <MenuLabel>The agent asks about</MenuLabel>
            <MenuChoice
              value={session.approvals.mode ?? "risky"}
              options={MODES}
              onChange={(mode) => change.mutate({ approvals: { ...session.approvals, mode } })}
            />
            <MenuItem icon={<ListChecks aria-hidden />} onSelect={() => setIsRuling(true)}>
              Approval rules…
            </MenuItem>
            <MenuSeparator />
            <MenuItem isDanger icon={<Power aria-hidden />} onSelect={() => ask(true)}>
              End session…
            </MenuItem>
          </>
        )}
        {mayDelete && (
          <>
            <MenuSeparator />
            <MenuItem isDanger icon={<Trash2 aria-hidden />} onSelect={() => setIsDeleting(true)}>
              Delete session…
            </MenuItem>
          </>
        )}
      </Menu>
      <DeleteSession id={session.id} isOpen={isDeleting} onOpenChange={setIsDeleting} />
      <Instructions
        session={session}
        mayChange={mayInstruct}
        isOpen={isInstructing}
        onOpenChange={setIsInstructing}
      />
      <McpServers session={session} isOpen={isListing} onOpenChange={setIsListing} />
      <ApprovalRules session={session} isOpen={isRuling} onOpenChange={setIsRuling} />
      <LeaveDialog sessionId={session.id} isOpen={isLeaving} onOpenChange={setIsLeaving} />
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={ask}
        title="End this session?"
        confirmLabel={end.isPending ? "Ending…" : "End session"}
        isBusy={end.isPending}
        error={end.error ? messageOf(end.error) : undefined}
        onConfirm={() => end.mutate(undefined, { onSuccess: () => setIsAsking(false) })}
      >
        Its desktop and the files on it are deleted for good. The conversation can still be read.
      </ConfirmDialog>
    </>
  );
}

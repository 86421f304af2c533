import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";

import { Button } from "../../components/Button";
import { Logo } from "../../components/Logo";

/** The id of the field that starts a new session. */
export const START_FIELD = "start-message";

export function HomeLink({ withName = false }: { withName?: boolean }) {
  return (
    <Link
      to="/"
      aria-label={withName ? "Deskhand, all sessions" : "All sessions"}
      className="flex shrink-0 items-center gap-2.5 rounded-md"
    >
      <Logo className="size-7" />
      {withName && <span className="text-[15px] font-semibold">Deskhand</span>}
    </Link>
  );
}

/** Returns a function that leads to the field that starts a session with its first message. */
export function useNewSession(): () => void {
  const navigate = useNavigate();
  const go = async () => {
    await navigate({ to: "/" });
    document.getElementById(START_FIELD)?.focus();
  };
  return () => void go();
}

export function NewSessionButton({ className }: { className?: string }) {
  return (
    <Button onClick={useNewSession()} className={className}>
      <Plus aria-hidden className="size-4" /> New session
    </Button>
  );
}

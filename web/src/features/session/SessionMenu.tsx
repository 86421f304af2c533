import { Ellipsis, Power } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useEndSession } from "../../api/sessions";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Menu, MenuItem } from "../../components/Menu";

/** What else can be done with a session. */
export function SessionMenu({ sessionId }: { sessionId: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const end = useEndSession(sessionId);
  const ask = (isOpen: boolean) => {
    end.reset();
    setIsAsking(isOpen);
  };
  return (
    <>
      <Menu
        trigger={
          <Button look="ghost" square aria-label="Session menu">
            <Ellipsis aria-hidden className="size-4" />
          </Button>
        }
      >
        <MenuItem isDanger icon={<Power aria-hidden />} onSelect={() => ask(true)}>
          End session…
        </MenuItem>
      </Menu>
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={ask}
        title="End this session?"
        confirmLabel={end.isPending ? "Ending…" : "End session"}
        isBusy={end.isPending}
        error={end.error ? messageOf(end.error) : undefined}
        onConfirm={() => end.mutate(undefined, { onSuccess: () => setIsAsking(false) })}
      >
        Its desktop and the files on it are deleted for good. The conversation stays to be read.
      </ConfirmDialog>
    </>
  );
}

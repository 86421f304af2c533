import { Search } from "lucide-react";

import { Button } from "../../components/Button";
import { openDialog } from "./command";
import { keyNames } from "./shortcut";

/** Opens the command palette. On narrow displays, the account menu does. */
export function CommandsButton() {
  return (
    <Button
      look="ghost"
      square
      aria-label="Commands"
      title={`Commands (${keyNames("Mod+K").join("+")})`}
      aria-keyshortcuts="Control+K Meta+K"
      className="max-md:hidden"
      onClick={() => openDialog.set("palette")}
    >
      <Search aria-hidden className="size-4" />
    </Button>
  );
}

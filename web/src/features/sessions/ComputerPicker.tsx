import { ChevronDown, Globe, Monitor } from "lucide-react";

import type { ComputerKind } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuRadio, MenuRadios } from "../../components/Menu";

interface ComputerPickerProps {
  value: ComputerKind;
  onChange: (kind: ComputerKind) => void;
}

const KINDS = [
  { value: "desktop", label: "Desktop", note: "screen, mouse and keyboard", icon: Monitor },
  { value: "browser", label: "Browser only", note: "lighter", icon: Globe },
] as const;

/** Chooses the kind of computer that a new session gets. */
export function ComputerPicker({ value, onChange }: ComputerPickerProps) {
  const chosen = KINDS.find((kind) => kind.value === value) ?? KINDS[0];
  return (
    <Menu
      align="start"
      trigger={
        <Button look="ghost" aria-label={`Computer: ${chosen.label}`}>
          <chosen.icon aria-hidden className="size-3.5 shrink-0 text-faint" />
          {chosen.label}
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
        </Button>
      }
    >
      <MenuRadios
        value={value}
        onChange={(kind) => onChange(kind === "browser" ? "browser" : "desktop")}
      >
        {KINDS.map((kind) => (
          <MenuRadio key={kind.value} value={kind.value} note={kind.note}>
            {kind.label}
          </MenuRadio>
        ))}
      </MenuRadios>
    </Menu>
  );
}

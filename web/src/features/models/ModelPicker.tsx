import { ChevronDown, Cpu } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useModels } from "../../api/models";
import type { Models } from "../../api/types";
import { Button } from "../../components/Button";
import {
  Menu,
  MenuFoot,
  MenuItem,
  MenuLabel,
  MenuNote,
  MenuRadio,
  MenuRadios,
  MenuSeparator,
  MenuTick,
} from "../../components/Menu";
import { sentence } from "../../lib/text";
import { byVendor, priceWords, shortName, type VendorGroup } from "./modelWords";
import { OtherModel } from "./OtherModel";

interface ModelPickerProps {
  /** The one that is chosen; null for the server's own choice. */
  value: string | null;
  onChange: (name: string) => void;
  /** Whether it is chosen for one message, where that can be. */
  once?: { isOnce: boolean; onChange: (isOnce: boolean) => void };
}

/** Which model the agent thinks with. */
export function ModelPicker({ value, onChange, once }: ModelPickerProps) {
  const models = useModels();
  const [isNaming, setIsNaming] = useState(false);
  const chosen = value ?? models.data?.default;
  const name = chosen === undefined ? "Model" : shortName(chosen);
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button look="ghost" aria-label={`Model: ${chosen ?? "loading"}`} className="min-w-0">
            <Cpu aria-hidden className="size-3.5 shrink-0 text-faint" />
            <span className="truncate">{name}</span>
            {once?.isOnce === true && <span className="shrink-0 text-xs text-accent">once</span>}
            <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          </Button>
        }
      >
        <MenuLabel>Prices are for a million tokens</MenuLabel>
        {models.data ? (
          <MenuRadios value={chosen ?? ""} onChange={onChange}>
            <Listed models={models.data} chosen={chosen} />
          </MenuRadios>
        ) : (
          <MenuNote>{models.error ? messageOf(models.error) : "Loading…"}</MenuNote>
        )}
        <MenuFoot>
          <MenuSeparator />
          <MenuItem onSelect={() => setIsNaming(true)}>Another model…</MenuItem>
          {once && (
            <MenuTick isTicked={once.isOnce} onChange={once.onChange}>
              Only for the next message
            </MenuTick>
          )}
        </MenuFoot>
      </Menu>
      <OtherModel isOpen={isNaming} onOpenChange={setIsNaming} onChoose={onChange} />
    </>
  );
}

function Listed({ models, chosen }: { models: Models; chosen: string | undefined }) {
  const isListed = models.models.some(({ name, usable }) => usable && name === chosen);
  return (
    <>
      {chosen !== undefined && !isListed && (
        <MenuRadio value={chosen} note="in use">
          {chosen}
        </MenuRadio>
      )}
      {byVendor(models).map((group) => (
        <Group key={group.vendor} group={group} usual={models.default} />
      ))}
    </>
  );
}

function Group({ group, usual }: { group: VendorGroup; usual: string }) {
  return (
    <>
      <MenuLabel>{group.label}</MenuLabel>
      {group.usable.map((model) => (
        <MenuRadio
          key={model.name}
          value={model.name}
          note={priceWords(model) ?? undefined}
        >
          {shortName(model.name)}
          {model.name === usual && <span className="ml-1.5 text-xs text-faint">default</span>}
        </MenuRadio>
      ))}
      {group.missing.map(({ reason, words }) => (
        <MenuNote key={reason}>
          {words}: {sentence(reason)}
        </MenuNote>
      ))}
    </>
  );
}

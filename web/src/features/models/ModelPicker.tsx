import { ChevronDown, Cpu } from "lucide-react";
import { useState } from "react";

import { useMe } from "../../api/account";
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
import { cx } from "../../lib/cx";
import { sentence } from "../../lib/text";
import { CheckModel } from "./CheckModel";
import { EffortChoice, type EffortPick } from "./EffortChoice";
import { byVendor, priceWords, shortName, type VendorGroup } from "./modelWords";
import { OtherModel } from "./OtherModel";

interface ModelPickerProps {
  /** The chosen model, or null for the default. */
  value: string | null;
  onChange: (name: string) => void;
  /** The switch between one message and the session, if both are possible. */
  once?: { isOnce: boolean; onChange: (isOnce: boolean) => void };
  /** The session's model, if the choice can be left to it. Then `value` is null. */
  sessions?: { model: string; onChoose: () => void };
  /** The effort of the model. */
  effort: EffortPick;
  /** Uses the size of a note. */
  isSmall?: boolean;
}

/** Stands for the session's model among the names. No model has this name. */
const SESSIONS = "";

/** Chooses the model that the agent uses. */
export function ModelPicker(props: ModelPickerProps) {
  const { value, once, sessions, effort, isSmall = false } = props;
  const models = useModels();
  const me = useMe({ enabled: !isSmall });
  const [isNaming, setIsNaming] = useState(false);
  const [isChecking, setIsChecking] = useState(false);
  const chosen = value ?? sessions?.model ?? models.data?.default;
  const isSessions = sessions !== undefined && value === null;
  const onChange = (model: string) =>
    sessions !== undefined && model === SESSIONS ? sessions.onChoose() : props.onChange(model);
  const mayCheck = !isSmall && me.data?.role === "admin" && chosen !== undefined;
  const name = chosen === undefined ? "Model" : shortName(chosen);
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button
            look="ghost"
            aria-label={`Model: ${chosen ?? "loading"}${effort.value === null ? "" : `, ${effort.value} effort`}`}
            className={cx("min-w-0 shrink!", isSmall && "h-6! gap-1! px-1.5! text-xs! font-normal!")}
          >
            <Cpu aria-hidden className="size-3.5 shrink-0 text-faint" />
            <span className="truncate">{name}</span>
            {effort.value !== null && (
              <span className="shrink-0 text-xs text-faint max-sm:hidden">{effort.value}</span>
            )}
            {once?.isOnce === true && <span className="shrink-0 text-xs text-accent">once</span>}
            <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          </Button>
        }
      >
        {models.data ? (
          <MenuRadios value={isSessions ? SESSIONS : (chosen ?? "")} onChange={onChange}>
            {sessions && (
              <MenuRadio value={SESSIONS} note={shortName(sessions.model)}>
                The session’s model
              </MenuRadio>
            )}
            <MenuLabel>Prices per million tokens</MenuLabel>
            <Listed models={models.data} chosen={isSessions ? undefined : chosen} />
          </MenuRadios>
        ) : (
          <MenuNote>{models.error ? messageOf(models.error) : "Loading…"}</MenuNote>
        )}
        <MenuFoot>
          <MenuSeparator />
          <EffortChoice {...effort} usual={sessions ? "Session" : "Default"} />
          <MenuItem onSelect={() => setIsNaming(true)}>Another model…</MenuItem>
          {mayCheck && (
            <MenuItem onSelect={() => setIsChecking(true)}>Check this model…</MenuItem>
          )}
          {once && (
            <MenuTick isTicked={once.isOnce} onChange={once.onChange}>
              Only for the next message
            </MenuTick>
          )}
        </MenuFoot>
      </Menu>
      {mayCheck && <CheckModel model={chosen} isOpen={isChecking} onOpenChange={setIsChecking} />}
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

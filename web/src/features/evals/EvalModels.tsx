import { X } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useModels } from "../../api/models";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";

interface EvalModelsProps {
  chosen: readonly string[];
  onChange: (models: readonly string[]) => void;
}

/** Chooses the models to measure: from the list, or by name. */
export function EvalModels({ chosen, onChange }: EvalModelsProps) {
  const models = useModels();
  const [name, setName] = useState("");
  const usable = models.data?.models.filter((model) => model.usable).map((model) => model.name) ?? [];
  const others = chosen.filter((model) => !usable.includes(model));
  const toggle = (model: string) =>
    onChange(chosen.includes(model) ? chosen.filter((one) => one !== model) : [...chosen, model]);
  const canAdd = /^[^/\s]+\/\S+$/.test(name.trim()) && !chosen.includes(name.trim());
  const add = () => {
    if (!canAdd) return;
    onChange([...chosen, name.trim()]);
    setName("");
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-[13px] font-medium">Models</legend>
      {models.isPending && <Skeleton className="h-16 w-full rounded-lg" />}
      {models.error && <Notice>{messageOf(models.error)}</Notice>}
      <div className="grid max-h-44 gap-x-4 gap-y-1 overflow-y-auto sm:grid-cols-2">
        {usable.map((model) => (
          <label key={model} className="flex items-baseline gap-2 text-[13px] [overflow-wrap:anywhere]">
            <input
              type="checkbox"
              checked={chosen.includes(model)}
              onChange={() => toggle(model)}
              className="translate-y-0.5 accent-accent"
            />
            {model}
          </label>
        ))}
      </div>
      {others.length > 0 && (
        <ul aria-label="Other models" className="flex flex-wrap gap-1.5">
          {others.map((model) => (
            <li key={model} className="flex items-center gap-1 rounded-md bg-hover pl-2 text-[13px]">
              <span className="[overflow-wrap:anywhere]">{model}</span>
              <Button
                look="ghost"
                square
                aria-label={`Leave out ${model}`}
                className="size-6!"
                onClick={() => toggle(model)}
              >
                <X aria-hidden className="size-3.5" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {/* Enter in this field adds the model, and does not start the eval. */}
      <div
        role="presentation"
        className="flex gap-2"
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          add();
        }}
      >
        <TextField label="Another model, as vendor/name" value={name} onChange={setName} />
        <Button disabled={!canAdd} onClick={add}>
          Add
        </Button>
      </div>
    </fieldset>
  );
}

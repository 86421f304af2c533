import { useState } from "react";

import { FormDialog } from "../../components/FormDialog";
import { TextField } from "../../components/TextField";

interface OtherModelProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  onChoose: (name: string) => void;
}

/** Asks for the name of a model that is not in the list. */
export function OtherModel({ isOpen, onOpenChange, onChoose }: OtherModelProps) {
  const [name, setName] = useState("");
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Another model"
      submitLabel="Choose"
      canSubmit={/^[^/\s]+\/\S+$/.test(name.trim())}
      onSubmit={() => {
        onChoose(name.trim());
        onOpenChange(false);
      }}
    >
      <p className="text-soft">
        Any model of a vendor that is set up: the vendor, a slash and its name for the model, such as{" "}
        <code>ollama/qwen3-vl</code>.
      </p>
      <div className="flex">
        <TextField label="vendor/name" value={name} onChange={setName} />
      </div>
    </FormDialog>
  );
}

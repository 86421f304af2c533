import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { changeFile, removeFile } from "../../api/files";
import type { File as FileEntry } from "../../api/types";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { FormDialog } from "../../components/FormDialog";
import { TextField } from "../../components/TextField";
import { folderOf, joined, nameProblem } from "./fileKinds";

export type OpenDialog =
  | { kind: "new_folder"; folder: string }
  | { kind: "rename"; entry: FileEntry }
  | { kind: "remove"; entry: FileEntry };

interface FileDialogsProps {
  sessionId: string;
  dialog: OpenDialog | null;
  onClose: () => void;
  /** Something has another path now, or none any more. */
  onMoved: (from: string, to: string | null) => void;
}

/** The dialogs that change files. */
export function FileDialogs({ dialog, ...rest }: FileDialogsProps) {
  if (dialog === null) return null;
  if (dialog.kind === "remove") return <RemoveDialog entry={dialog.entry} {...rest} />;
  return <NameDialog key={dialog.kind} dialog={dialog} {...rest} />;
}

type Rest = Omit<FileDialogsProps, "dialog">;

function RemoveDialog({ entry, sessionId, onClose, onMoved }: Rest & { entry: FileEntry }) {
  const remove = useMutation({
    mutationFn: () => removeFile(sessionId, entry.path),
    onSuccess: () => {
      onMoved(entry.path, null);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Delete ${entry.name}?`}
      confirmLabel="Delete"
      isBusy={remove.isPending}
      error={remove.error ? messageOf(remove.error) : undefined}
      onConfirm={() => remove.mutate()}
    >
      {entry.kind === "folder"
        ? "The folder and everything in it are deleted from the desktop. This cannot be undone."
        : "It is deleted from the desktop. This cannot be undone."}
    </ConfirmDialog>
  );
}

type NameDialogProps = Rest & { dialog: Exclude<OpenDialog, { kind: "remove" }> };

function NameDialog({ dialog, sessionId, onClose, onMoved }: NameDialogProps) {
  const isNew = dialog.kind === "new_folder";
  const [name, setName] = useState(isNew ? "" : dialog.entry.name);
  const save = useMutation({
    mutationFn: () => {
      if (dialog.kind === "new_folder") {
        const path = joined(dialog.folder, name);
        return changeFile(sessionId, path, { action: "make_folder" });
      }
      const to = joined(folderOf(dialog.entry.path), name);
      return changeFile(sessionId, dialog.entry.path, { action: "move", to });
    },
    onSuccess: (made) => {
      onMoved(isNew ? made.path : dialog.entry.path, made.path);
      onClose();
    },
  });
  const problem = nameProblem(name);
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={isNew ? "New folder" : `Rename ${dialog.entry.name}`}
      submitLabel={isNew ? "Make folder" : "Rename"}
      canSubmit={problem === undefined && !save.isPending}
      error={save.error ? messageOf(save.error) : undefined}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" value={name} onChange={setName} />
      {problem !== undefined && name !== "" && <p className="text-[13px] text-bad">{problem}</p>}
    </FormDialog>
  );
}

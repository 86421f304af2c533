import { useMutation } from "@tanstack/react-query";
import { Save } from "lucide-react";
import { useMemo, useRef } from "react";

import { isCode, messageOf } from "../../api/client";
import { type Replaces, writeFile } from "../../api/files";
import type { File as FileEntry } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { nameOf } from "./fileKinds";
import { lineEndsOf } from "./lineEnds";
import type { EditedText } from "./openedFile";
import { useEditor } from "./useEditor";

interface TextFileProps {
  sessionId: string;
  path: string;
  /** The text now. The editor takes it when it is made, and then reports it. */
  edited: EditedText;
  mayWrite: boolean;
  onEdit: (edited: EditedText) => void;
  onSaved: (file: FileEntry, text: string) => void;
  onReload: () => void;
}

/** A text to read and, for those who may, to edit. */
export default function TextFile({ sessionId, path, edited, mayWrite, ...calls }: TextFileProps) {
  const place = useRef<HTMLDivElement>(null);
  const { text, saved } = edited;
  const isChanged = text !== saved.text;
  const lineEnds = useMemo(() => lineEndsOf(saved.text), [saved.text]);
  const save = useMutation({
    mutationFn: ({ content, replaces }: { content: string; replaces: Replaces }) =>
      writeFile(sessionId, path, new Blob([content]), { replaces }),
    onSuccess: (file, { content }) => calls.onSaved(file, content),
  });
  const saveAs = (replaces: Replaces) => save.mutate({ content: text, replaces });
  const onSave = () => {
    if (isChanged && !save.isPending) saveAs({ kind: "version", version: saved.version });
  };
  useEditor(place, {
    name: nameOf(path),
    text,
    lineEnd: lineEnds === "crlf" ? "\r\n" : "\n",
    isReadOnly: !mayWrite || lineEnds === "mixed",
    onChange: (changed) => calls.onEdit({ text: changed, saved }),
    onSave,
  });
  const isConflict = isCode(save.error, "file_changed");

  return (
    <div className="flex h-full min-h-0 flex-col">
      {isConflict ? (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-3 py-2 text-[13px] text-warn">
          <span role="alert" className="min-w-0 flex-1">
            This file was changed by somebody else since you opened it.
          </span>
          <Button onClick={calls.onReload}>Load theirs</Button>
          <Button onClick={() => saveAs({ kind: "anything" })}>Keep mine</Button>
        </div>
      ) : (
        save.error !== null && (
          <div className="p-2">
            <Notice onDismiss={() => save.reset()}>{messageOf(save.error)}</Notice>
          </div>
        )
      )}
      {mayWrite && lineEnds === "mixed" && (
        <p className="border-b border-line bg-sunken px-3 py-2 text-[13px] text-soft">
          The lines of this file end in different ways, which an edit here would change. You can
          only read it.
        </p>
      )}
      <div ref={place} className="min-h-0 flex-1 overflow-hidden" />
      {mayWrite && isChanged && (
        <footer className="flex shrink-0 items-center gap-2 border-t border-line px-3 py-1.5">
          <span className="flex-1 text-[13px] text-soft">Not saved yet</span>
          <Button look="primary" disabled={save.isPending} onClick={onSave}>
            <Save aria-hidden className="size-4" />
            Save
          </Button>
        </footer>
      )}
    </div>
  );
}

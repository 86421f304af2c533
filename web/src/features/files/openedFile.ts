import { useEffect, useState } from "react";

import type { File as FileEntry } from "../../api/types";

/** A text as it is in the editor, and as it was last read or saved. */
export interface EditedText {
  text: string;
  saved: { text: string; version: string };
}

/** The file that is open in the panel. */
export interface OpenedFile {
  entry: FileEntry;
  /** Another number for every opening, so that opening a file again reads it again. */
  opening: number;
  /** Absent until the text is edited. */
  edited: EditedText | null;
}

/** The files with text that is not saved, by session. They outlive the panel, which people close and come back to. */
const unsaved = new Map<string, OpenedFile>();

let nOpened = 0;

/** Opens a file anew. */
export function open(entry: FileEntry): OpenedFile {
  nOpened += 1;
  return { entry, opening: nOpened, edited: null };
}

export function isUnsaved(opened: OpenedFile | null): boolean {
  return opened?.edited != null && opened.edited.text !== opened.edited.saved.text;
}

/** Keeps the open file of a session, and asks before the page is left with text that is not saved. */
export function useOpenedFile(sessionId: string) {
  const [opened, setOpened] = useState<OpenedFile | null>(() => unsaved.get(sessionId) ?? null);
  useEffect(() => {
    if (opened !== null && isUnsaved(opened)) unsaved.set(sessionId, opened);
    else unsaved.delete(sessionId);
  }, [sessionId, opened]);
  return [opened, setOpened] as const;
}

window.addEventListener("beforeunload", (event) => {
  if (unsaved.size > 0) event.preventDefault();
});

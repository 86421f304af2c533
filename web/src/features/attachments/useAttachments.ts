import { useRef, useState } from "react";

import {
  LARGEST_ATTACHMENT_BYTES,
  MOST_ATTACHMENTS,
  removeAttachment,
  uploadAttachment,
} from "../../api/attachments";
import { messageOf } from "../../api/client";

/** A file that goes with the next message. */
export interface AttachedFile {
  key: number;
  file: File;
  /** The URL of the picture itself, if it is one. */
  preview: string | null;
  state:
    | { kind: "held" }
    | { kind: "sending"; part: number }
    | { kind: "ready"; id: string }
    | { kind: "failed"; problem: string; canRetry: boolean };
}

export interface Attachments {
  list: readonly AttachedFile[];
  /** The ids of the files that are uploaded, in their order. */
  ids: string[];
  /** The reason why the message has to wait, if there is one. */
  waitsFor: string | null;
  /** A sentence about files that were left out. */
  leftOut: string | null;
  add: (files: readonly File[]) => void;
  remove: (key: number) => void;
  retry: (key: number) => void;
  /** Uploads the files that are held. Returns the ids of all, in their order. Throws if one fails. */
  upload: (sessionId: string) => Promise<string[]>;
  /** Forgets those that are in `list`, after they were sent with a message. Files that were added since then stay. */
  clear: () => void;
}

/** The files of the next message. They are uploaded as soon as they are chosen, or held if there is no session yet. */
export function useAttachments(sessionId: string | null): Attachments {
  const [list, setList] = useState<readonly AttachedFile[]>([]);
  const [leftOut, setLeftOut] = useState<string | null>(null);
  const nextKey = useRef(0);
  const stops = useRef(new Map<number, AbortController>());
  // One upload at a time: the order stays, and the server has few in memory.
  const lane = useRef<Promise<unknown>>(Promise.resolve());

  const update = (key: number, state: AttachedFile["state"]) =>
    setList((all) => all.map((one) => (one.key === key ? { ...one, state } : one)));

  const send = (session: string, { key, file }: AttachedFile): Promise<string> => {
    const stop = new AbortController();
    stops.current.set(key, stop);
    update(key, { kind: "sending", part: 0 });
    const sending = lane.current.then(async () => {
      stop.signal.throwIfAborted();
      const onProgress = (part: number) => update(key, { kind: "sending", part });
      const { id } = await uploadAttachment(session, file, { onProgress, signal: stop.signal });
      // Removed while the answer was on its way.
      if (stop.signal.aborted) forget(session, id);
      update(key, { kind: "ready", id });
      return id;
    });
    lane.current = sending.catch((error: unknown) =>
      update(key, { kind: "failed", problem: messageOf(error), canRetry: true }),
    );
    return sending;
  };

  const add = (files: readonly File[]) => {
    const room = MOST_ATTACHMENTS - list.length;
    setLeftOut(
      files.length > room
        ? `A message has at most ${MOST_ATTACHMENTS} files. ${files.length - room} were left out.`
        : null,
    );
    const added = files.slice(0, room).map((file): AttachedFile => {
      const key = nextKey.current++;
      return { key, file, preview: previewOf(file), state: firstState(file) };
    });
    setList((all) => [...all, ...added]);
    if (sessionId === null) return;
    for (const one of added) {
      // A failed upload is shown on its chip.
      if (one.state.kind === "held") send(sessionId, one).catch(() => {});
    }
  };

  const drop = ({ key, preview }: AttachedFile) => {
    stops.current.get(key)?.abort();
    stops.current.delete(key);
    if (preview !== null) URL.revokeObjectURL(preview);
  };

  return {
    list,
    ids: list.flatMap(({ state }) => (state.kind === "ready" ? [state.id] : [])),
    leftOut,
    waitsFor: waitsFor(list),
    add,
    remove: (key) => {
      const gone = list.find((one) => one.key === key);
      if (gone === undefined) return;
      drop(gone);
      setLeftOut(null);
      setList((all) => all.filter((one) => one.key !== key));
      if (gone.state.kind === "ready" && sessionId !== null) forget(sessionId, gone.state.id);
    },
    retry: (key) => {
      const failed = list.find((one) => one.key === key);
      if (failed === undefined) return;
      if (sessionId === null) update(key, { kind: "held" });
      else send(sessionId, failed).catch(() => {});
    },
    upload: (session) =>
      Promise.all(
        list.map((one) => (one.state.kind === "ready" ? one.state.id : send(session, one))),
      ),
    clear: () => {
      for (const one of list) drop(one);
      const sent = new Set(list.map(({ key }) => key));
      setList((all) => all.filter(({ key }) => !sent.has(key)));
      setLeftOut(null);
    },
  };
}

/** Removes an uploaded file. If that fails, the server does it after a day. */
function forget(sessionId: string, id: string) {
  removeAttachment(sessionId, id).catch(() => {});
}

function firstState(file: File): AttachedFile["state"] {
  if (file.size <= LARGEST_ATTACHMENT_BYTES) return { kind: "held" };
  const problem = "Too large: 32 MiB at most. Put it on the desktop with the Files panel.";
  return { kind: "failed", problem, canRetry: false };
}

function previewOf(file: File): string | null {
  const isPicture = file.type.startsWith("image/") && file.type !== "image/svg+xml";
  return isPicture ? URL.createObjectURL(file) : null;
}

function waitsFor(list: readonly AttachedFile[]): string | null {
  if (list.some(({ state }) => state.kind === "failed")) {
    return "A file could not be attached. Remove it or try again to send the message.";
  }
  if (list.some(({ state }) => state.kind === "sending")) return "Files are being sent.";
  return null;
}

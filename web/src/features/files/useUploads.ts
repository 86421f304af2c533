import { useRef, useState } from "react";

import { isCode, messageOf } from "../../api/client";
import { writeFile } from "../../api/files";
import type { NamedFile } from "./droppedFiles";
import { joined } from "./fileKinds";

/** The most files that are sent at a time. */
const AT_A_TIME = 3;

export interface Upload {
  id: number;
  name: string;
  path: string;
  file: File;
  state:
    | { kind: "waiting" }
    | { kind: "sending"; part: number }
    | { kind: "done" }
    | { kind: "exists" }
    | { kind: "failed"; problem: string };
}

export interface Uploads {
  list: Upload[];
  add: (files: NamedFile[], folder: string) => void;
  /** Sends a file that is already there once more, and replaces it. */
  replace: (id: number) => void;
  /** Stops an upload, or takes it off the list. */
  dismiss: (id: number) => void;
}

/** An upload that has its turn when one before it ends. */
interface Waiting {
  upload: Upload;
  mayReplace: boolean;
}

/** Uploads files, a few at a time. Nothing is replaced without being asked for. */
export function useUploads(sessionId: string, onUploaded: () => void): Uploads {
  const [list, setList] = useState<Upload[]>([]);
  const state = useRef({ nextId: 0, nSending: 0, waiting: [] as Waiting[] });
  const stops = useRef(new Map<number, AbortController>());

  const update = (id: number, change: Upload["state"]) =>
    setList((all) => all.map((one) => (one.id === id ? { ...one, state: change } : one)));

  const send = async ({ upload, mayReplace }: Waiting) => {
    const stop = new AbortController();
    stops.current.set(upload.id, stop);
    update(upload.id, { kind: "sending", part: 0 });
    try {
      await writeFile(sessionId, upload.path, upload.file, {
        replaces: { kind: mayReplace ? "anything" : "nothing" },
        onProgress: (part) => update(upload.id, { kind: "sending", part }),
        signal: stop.signal,
      });
      update(upload.id, { kind: "done" });
      onUploaded();
    } catch (error) {
      const isThere = isCode(error, "file_changed");
      update(upload.id, isThere ? { kind: "exists" } : { kind: "failed", problem: messageOf(error) });
    }
    stops.current.delete(upload.id);
  };

  /** Sends the uploads whose turn it is. */
  const sendNext = () => {
    const queue = state.current;
    while (queue.nSending < AT_A_TIME) {
      const next = queue.waiting.shift();
      if (next === undefined) return;
      queue.nSending++;
      void send(next).then(() => {
        queue.nSending--;
        sendNext();
      });
    }
  };

  return {
    list,
    add: (files, folder) => {
      const added = files.map(({ file, name }): Upload => {
        const id = state.current.nextId++;
        return { id, name, path: joined(folder, name), file, state: { kind: "waiting" } };
      });
      setList((all) => [...all.filter((one) => one.state.kind !== "done"), ...added]);
      state.current.waiting.push(...added.map((upload) => ({ upload, mayReplace: false })));
      sendNext();
    },
    replace: (id) => {
      const upload = list.find((one) => one.id === id);
      if (upload === undefined) return;
      update(id, { kind: "waiting" });
      state.current.waiting.push({ upload, mayReplace: true });
      sendNext();
    },
    dismiss: (id) => {
      const queue = state.current;
      queue.waiting = queue.waiting.filter(({ upload }) => upload.id !== id);
      stops.current.get(id)?.abort();
      setList((all) => all.filter((one) => one.id !== id));
    },
  };
}

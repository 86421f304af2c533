import { Check, CircleAlert, X } from "lucide-react";

import { Button } from "../../components/Button";
import type { Upload, Uploads } from "./useUploads";

/** The uploads under way, and those that need a decision. */
export function UploadList({ uploads }: { uploads: Uploads }) {
  if (uploads.list.length === 0) return null;
  return (
    <ul
      aria-label="Uploads"
      className="max-h-40 shrink-0 overflow-auto border-t border-line bg-raised py-1"
    >
      {uploads.list.map((upload) => (
        <li key={upload.id} className="flex min-h-9 items-center gap-2 px-3 text-[13px]">
          <span className="min-w-0 flex-1 truncate" title={upload.path}>
            {upload.name}
          </span>
          <Progress upload={upload} />
          {upload.state.kind === "exists" && (
            <Button onClick={() => uploads.replace(upload.id)}>Replace</Button>
          )}
          <Button
            look="ghost"
            square
            aria-label={
              upload.state.kind === "sending" ? `Stop ${upload.name}` : `Dismiss ${upload.name}`
            }
            onClick={() => uploads.dismiss(upload.id)}
          >
            <X aria-hidden className="size-4" />
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Progress({ upload: { name, state } }: { upload: Upload }) {
  switch (state.kind) {
    case "waiting":
      return <span className="text-faint">Waiting</span>;
    case "sending":
      return (
        <progress
          aria-label={`Upload of ${name}`}
          value={state.part}
          className="h-1.5 w-28 shrink-0 accent-accent"
        />
      );
    case "done":
      return (
        <span className="flex items-center gap-1 text-good">
          <Check aria-hidden className="size-4" />
          Uploaded
        </span>
      );
    case "exists":
      return <span className="text-warn">Already there</span>;
    case "failed":
      return (
        <span role="alert" className="flex max-w-[60%] items-center gap-1 text-bad">
          <CircleAlert aria-hidden className="size-4 shrink-0" />
          {state.problem}
        </span>
      );
  }
}

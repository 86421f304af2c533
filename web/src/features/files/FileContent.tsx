import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";

import { messageOf } from "../../api/client";
import { fileKeys, readContent } from "../../api/files";
import type { File as FileEntry } from "../../api/types";
import { BlobImage } from "../../components/BlobImage";
import { Button } from "../../components/Button";
import { Markdown } from "../../components/Markdown";
import { Placeholder } from "../../components/Placeholder";
import { imageType, type Look, textOf } from "./fileKinds";
import { Busy } from "./FolderTree";
import { NoPreview } from "./NoPreview";
import type { EditedText, OpenedFile } from "./openedFile";
import { Table } from "./Table";

/** The editor and the painter of PDFs are large, so each is loaded when the first such file is opened. */
const TextFile = lazy(() => import("./TextFile"));
const PdfPages = lazy(() => import("../../components/PdfPages"));

export interface FileContentProps {
  sessionId: string;
  opened: OpenedFile;
  look: Look;
  mayWrite: boolean;
  onEdit: (edited: EditedText | null) => void;
  onSaved: (file: FileEntry, text: string) => void;
  onOpenPath: (path: string) => void;
}

/** The content of the open file, in one of its looks. Text that was edited is shown as it is in the editor. */
export function FileContent({ sessionId, opened, look, mayWrite, ...calls }: FileContentProps) {
  const { entry, edited, opening } = opened;
  // Another version on the desktop must not replace the text under the cursor: it is read again only when asked for.
  const [nLoaded, setNLoaded] = useState(0);
  const content = useQuery({
    queryKey: fileKeys.content(sessionId, opening, nLoaded),
    queryFn: async ({ signal }) => {
      const { blob, version } = await readContent(sessionId, entry.path, signal);
      const isText = look !== "image" && look !== "pdf";
      return { blob, version, text: isText ? await textOf(blob) : null };
    },
    enabled: edited === null,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const onReload = () => {
    calls.onEdit(null);
    setNLoaded((n) => n + 1);
  };
  const { data, error } = content;
  const text = edited?.text ?? data?.text;
  if (edited === null && error !== null) {
    return (
      <Placeholder
        title="The file could not be read"
        actions={<Button onClick={() => void content.refetch()}>Try again</Button>}
      >
        {messageOf(error)}
      </Placeholder>
    );
  }
  if (text === undefined) return <Busy label="Loading the file" />;
  if (data !== undefined && look === "image") return <Picture blob={data.blob} name={entry.name} />;
  if (data !== undefined && look === "pdf") return <Document blob={data.blob} name={entry.name} />;
  if (text === null) return <NoPreview file={entry} onOpenPath={calls.onOpenPath} />;
  if (look === "markdown") {
    return (
      <div className="mx-auto max-w-3xl p-4">
        <Markdown text={text} />
      </div>
    );
  }
  if (look === "csv") return <Table text={text} name={entry.name} />;
  return (
    <Suspense fallback={<Busy label="Loading the editor" />}>
      <TextFile
        key={nLoaded}
        sessionId={sessionId}
        path={entry.path}
        edited={edited ?? { text, saved: { text, version: data?.version ?? "" } }}
        mayWrite={mayWrite}
        onEdit={calls.onEdit}
        onSaved={calls.onSaved}
        onReload={onReload}
      />
    </Suspense>
  );
}

function Picture({ blob, name }: { blob: Blob; name: string }) {
  const [isBroken, setIsBroken] = useState(false);
  if (isBroken) {
    return (
      <Placeholder title="This is not a picture that the browser can show">
        Download it to look at it elsewhere.
      </Placeholder>
    );
  }
  return (
    <div className="grid min-h-full place-items-center bg-sunken p-4">
      <BlobImage
        blob={blob}
        type={imageType(name)}
        alt={name}
        onError={() => setIsBroken(true)}
        className="max-h-full max-w-full object-contain"
      />
    </div>
  );
}

function Document({ blob, name }: { blob: Blob; name: string }) {
  const broken = (
    <Placeholder title="This document cannot be shown here">
      It is damaged, or has a password. Download it to open it on your own computer.
    </Placeholder>
  );
  const busy = <Busy label="Loading the document" />;
  return (
    <div className="min-h-full bg-sunken p-3">
      <Suspense fallback={busy}>
        <PdfPages blob={blob} name={name} busy={busy} broken={broken} className="mx-auto max-w-3xl" />
      </Suspense>
    </div>
  );
}

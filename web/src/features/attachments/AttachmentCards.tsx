import { useQuery } from "@tanstack/react-query";
import { Download, FileText } from "lucide-react";

import { requestRaw } from "../../api/client";
import type { AttachmentData } from "../../api/types";
import { attachmentUrl } from "../../api/urls";
import { BlobImage } from "../../components/BlobImage";
import { sizeWords } from "../files/fileKinds";

/** Larger pictures are shown by their name only. */
const LARGEST_PREVIEW_BYTES = 10 * 1024 * 1024;
/** Pictures that a browser draws without running anything. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

interface AttachmentCardsProps {
  sessionId: string;
  files: readonly AttachmentData[];
}

/** The files that came with a message: pictures as such, others by their name, all to download. */
export function AttachmentCards({ sessionId, files }: AttachmentCardsProps) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Files of this message" className="flex max-w-full flex-wrap justify-end gap-2">
      {files.map((file) => (
        <li key={file.id} className="max-w-64 min-w-0">
          <Card sessionId={sessionId} file={file} />
        </li>
      ))}
    </ul>
  );
}

function Card({ sessionId, file }: { sessionId: string; file: AttachmentData }) {
  const { id, name, media_type: type, n_bytes: size } = file;
  const url = attachmentUrl(sessionId, id);
  const isPicture = PICTURES.has(type) && size <= LARGEST_PREVIEW_BYTES;
  return (
    <a
      href={url}
      download={name}
      aria-label={`Download ${name}`}
      title={`Download ${name}`}
      className="block overflow-hidden rounded-lg border border-line bg-raised hover:bg-hover"
    >
      {isPicture && <Thumbnail url={url} name={name} type={type} />}
      <span className="flex items-center gap-2 px-2.5 py-1.5">
        <FileText aria-hidden className="size-4 shrink-0 text-accent" />
        <span className="min-w-0 flex-1 truncate text-[13px]">{name}</span>
        <span className="shrink-0 text-xs text-faint">{sizeWords(size)}</span>
        <Download aria-hidden className="size-3.5 shrink-0 text-faint" />
      </span>
    </a>
  );
}

function Thumbnail({ url, name, type }: { url: string; name: string; type: string }) {
  const content = useQuery({
    queryKey: ["attachment", url],
    queryFn: async ({ signal }) => (await requestRaw(url, { signal })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (content.data === undefined) return null;
  return (
    <BlobImage
      blob={content.data}
      type={type}
      alt={name}
      className="max-h-48 w-full border-b border-line bg-sunken object-contain"
    />
  );
}

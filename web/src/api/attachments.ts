import { ApiError, refusal, request } from "./client";
import type { Attachment } from "./types";

/** The size of the largest file that can be attached to a message. */
export const LARGEST_ATTACHMENT_BYTES = 32 * 1024 * 1024;
/** The most files of one message. */
export const MOST_ATTACHMENTS = 20;

interface UploadOptions {
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/** Uploads a file for a message and reports the progress, which `fetch` does not know. */
export function uploadAttachment(
  sessionId: string,
  file: File,
  { onProgress, signal }: UploadOptions,
): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const upload = new XMLHttpRequest();
    const name = encodeURIComponent(file.name);
    upload.open("POST", `/api/sessions/${sessionId}/attachments?name=${name}`);
    upload.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded / event.total);
    });
    upload.addEventListener("load", () => {
      if (upload.status === 201) resolve(JSON.parse(upload.responseText));
      else reject(refusal(upload, upload.responseText));
    });
    upload.addEventListener("error", () =>
      reject(new ApiError(0, "unreachable", "The connection broke while the file was sent.")),
    );
    upload.addEventListener("abort", () =>
      reject(new ApiError(0, "aborted", "The upload was stopped.")),
    );
    signal.addEventListener("abort", () => upload.abort());
    upload.send(file);
  });
}

/** Removes a file that was uploaded and not sent. */
export async function removeAttachment(id: string, attachment: string): Promise<void> {
  await request("DELETE /api/sessions/{id}/attachments/{attachment}", { path: { id, attachment } });
}

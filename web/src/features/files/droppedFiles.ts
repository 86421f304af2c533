/** A file to upload, with its path in the folder that it goes to. */
export interface NamedFile {
  file: File;
  name: string;
}

/** The most files that are taken at once. Beyond that an archive is the better way. */
export const MOST_DROPPED = 2000;

/** Returns the dropped files, with those in dropped folders. */
export async function droppedFiles(dropped: DataTransfer): Promise<NamedFile[]> {
  // The list is empty after the event, so everything is taken before the first wait.
  const items = [...dropped.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  const plain = [...dropped.files].map((file) => ({ file, name: file.name }));
  if (entries.length === 0 || entries.includes(null)) return plain;
  const found: NamedFile[] = [];
  for (const entry of entries) {
    // oxlint-disable-next-line no-await-in-loop -- a folder of thousands is not opened at once
    if (entry !== null) await collect(entry, entry.name, found);
  }
  return found;
}

async function collect(entry: FileSystemEntry, name: string, found: NamedFile[]): Promise<void> {
  if (found.length >= MOST_DROPPED) return;
  if (entry.isFile) {
    const one = entry as FileSystemFileEntry;
    found.push({ file: await new Promise<File>((resolve, reject) => one.file(resolve, reject)), name });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const read = () =>
    new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  // A browser hands out a folder in pieces, and an empty one at the end.
  /* oxlint-disable no-await-in-loop -- as above */
  for (let piece = await read(); piece.length > 0; piece = await read()) {
    for (const below of piece) await collect(below, `${name}/${below.name}`, found);
  }
  /* oxlint-enable no-await-in-loop */
}

/** The largest file that the server accepts. */
const LARGEST_BYTES = 700 * 1024;

type Read = { name: string; base64: string } | { problem: string };

/** Reads a file for sending, or returns the reason why it cannot be sent. */
export async function readFile(file: File): Promise<Read> {
  if (file.size > LARGEST_BYTES) return { problem: "This file is too large: 700 KiB at most." };
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return { name: file.name, base64: btoa(binary) };
  } catch {
    return { problem: "This file could not be read." };
  }
}

import { Files, FolderPlus, RefreshCw, Upload } from "lucide-react";
import { type Dispatch, type DragEvent, type SetStateAction, useRef, useState } from "react";

import { messageOf } from "../../api/client";
import { fileInfo, useFolder, useRefreshFolders } from "../../api/files";
import type { File as FileEntry } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Placeholder } from "../../components/Placeholder";
import { cx } from "../../lib/cx";
import { droppedFiles } from "./droppedFiles";
import { FileDialogs, type OpenDialog } from "./FileDialogs";
import { folderOf, movedPath, nameOf, normalPath } from "./fileKinds";
import { FileView } from "./FileView";
import { FolderTree } from "./FolderTree";
import { isUnsaved, open, type OpenedFile } from "./openedFile";
import { PathBar } from "./PathBar";
import { UploadList } from "./UploadList";
import { useUploads } from "./useUploads";

const HOME = "~";

interface OpenFilesProps {
  sessionId: string;
  isRunning: boolean;
  mayWrite: boolean;
  opened: OpenedFile | null;
  setOpened: Dispatch<SetStateAction<OpenedFile | null>>;
}

/** The files of a running desktop. */
export function OpenFiles({ sessionId, isRunning, mayWrite, opened, setOpened }: OpenFilesProps) {
  // The folder at the top of the tree, and the one that was chosen last.
  const [root, setRoot] = useState(HOME);
  const [folder, setFolder] = useState(HOME);
  const [pathProblem, setPathProblem] = useState<string>();
  const [next, setNext] = useState<{ file: OpenedFile | null } | null>(null);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const refresh = useRefreshFolders(sessionId);
  const uploads = useUploads(sessionId, () => void refresh());
  const listed = useFolder(sessionId, root, isRunning).data?.pages[0]?.path;

  /** Shows another file or none, but asks first if text would be lost. */
  const show = (file: OpenedFile | null) => {
    if (isUnsaved(opened)) setNext({ file });
    else setOpened(file);
  };
  const showEntry = (entry: FileEntry) => {
    // Choosing a file again reads it again, but not over unsaved text.
    if (opened?.entry.path !== entry.path || !isUnsaved(opened)) show(open(entry));
  };
  const onSelect = (entry: FileEntry) => {
    setFolder(entry.kind === "folder" ? entry.path : folderOf(entry.path));
    if (entry.kind !== "folder") showEntry(entry);
  };
  const openPath = async (typed: string) => {
    const path = normalPath(typed);
    setPathProblem(undefined);
    try {
      const entry = await fileInfo(sessionId, path);
      const top = entry.kind === "folder" ? path : folderOf(entry.path);
      setRoot(top);
      setFolder(top);
      if (entry.kind !== "folder") showEntry(entry);
    } catch (error) {
      setPathProblem(messageOf(error));
    }
  };
  const onDrop = async (event: DragEvent, into: string) => {
    event.preventDefault();
    event.stopPropagation();
    setIsOver(false);
    if (mayWrite) uploads.add(await droppedFiles(event.dataTransfer), into);
  };
  const onDragOver = (event: DragEvent) => {
    if (!mayWrite || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setIsOver(true);
  };
  const onMoved = (from: string, to: string | null) => {
    void refresh();
    const isGone = (path: string) => path === from || path.startsWith(`${from}/`);
    if (isGone(folder)) setFolder(to === null ? folderOf(from) : movedPath(folder, from, to));
    setOpened((file) => {
      if (file === null || !isGone(file.entry.path)) return file;
      if (to === null) return null;
      const path = movedPath(file.entry.path, from, to);
      return { ...file, entry: { ...file.entry, path, name: nameOf(path) } };
    });
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- files can be chosen with a button too
    <section
      aria-label="Files"
      className="@container relative flex h-full min-h-0 flex-col bg-surface"
      onDragOver={onDragOver}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => void onDrop(event, folder)}
    >
      <div className="flex min-h-0 flex-1">
        <div
          className={cx(
            "flex min-h-0 flex-1 flex-col @2xl:max-w-72 @2xl:border-r @2xl:border-line",
            opened !== null && "hidden @2xl:flex",
          )}
        >
          <header className="flex h-10 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-3">
            <span className="min-w-0 flex-1 truncate text-[13px] text-soft" title={folder}>
              {folder === HOME ? "Home" : nameOf(folder) || "/"}
            </span>
            {mayWrite && (
              <>
                <ToolButton label="Upload files" onClick={() => picker.current?.click()}>
                  <Upload aria-hidden className="size-4" />
                </ToolButton>
                <ToolButton
                  label="New folder"
                  onClick={() => setDialog({ kind: "new_folder", folder })}
                >
                  <FolderPlus aria-hidden className="size-4" />
                </ToolButton>
              </>
            )}
            <ToolButton label="Refresh" onClick={() => void refresh()}>
              <RefreshCw aria-hidden className="size-4" />
            </ToolButton>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Files to upload"
              onChange={(event) => {
                const files = [...(event.target.files ?? [])];
                uploads.add(
                  files.map((file) => ({ file, name: file.name })),
                  folder,
                );
                event.target.value = "";
              }}
            />
          </header>
          <PathBar
            folder={root}
            parent={listed === undefined || listed === "/" ? null : folderOf(listed)}
            problem={pathProblem}
            onOpen={(path) => void openPath(path)}
          />
          <FolderTree
            key={root}
            sessionId={sessionId}
            isRunning={isRunning}
            root={root}
            selected={opened?.entry.path ?? folder}
            mayWrite={mayWrite}
            onSelect={onSelect}
            onDialog={setDialog}
            onDropFiles={(event, into) => void onDrop(event, into)}
          />
        </div>
        {opened === null ? (
          <div className="hidden flex-2 @2xl:block">
            <Placeholder icon={<Files aria-hidden />} title="No file is open">
              {mayWrite
                ? "Choose one on the left, or drop files here to upload them."
                : "Choose one on the left."}
            </Placeholder>
          </div>
        ) : (
          <FileView
            key={opened.opening}
            sessionId={sessionId}
            opened={opened}
            mayWrite={mayWrite}
            onClose={() => show(null)}
            onOpenPath={(path) => void openPath(path)}
            onEdit={(edited) => setOpened((file) => file && { ...file, edited })}
            onSaved={(entry, text) => {
              setOpened((file) => file && withSaved(file, entry, text));
              void refresh();
            }}
          />
        )}
      </div>
      <UploadList uploads={uploads} />
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-10 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/85 text-accent">
          Drop to upload to {folder === HOME ? "the home folder" : folder}
        </div>
      )}
      <FileDialogs
        sessionId={sessionId}
        dialog={dialog}
        onClose={() => setDialog(null)}
        onMoved={onMoved}
      />
      {next !== null && (
        <ConfirmDialog
          isOpen
          onOpenChange={() => setNext(null)}
          title={`Discard your changes to ${opened?.entry.name}?`}
          confirmLabel="Discard"
          isBusy={false}
          onConfirm={() => {
            setOpened(next.file);
            setNext(null);
          }}
        >
          They are not saved yet.
        </ConfirmDialog>
      )}
    </section>
  );
}

/** Returns the open file after a text was saved. More may have been typed since. */
function withSaved(file: OpenedFile, entry: FileEntry, text: string): OpenedFile {
  const saved = { text, version: entry.version };
  return { ...file, entry, edited: { text: file.edited?.text ?? text, saved } };
}

interface ToolButtonProps {
  label: string;
  onClick: () => void;
  children: React.ReactNode;
}

function ToolButton({ label, onClick, children }: ToolButtonProps) {
  return (
    <Button look="ghost" square aria-label={label} title={label} onClick={onClick}>
      {children}
    </Button>
  );
}

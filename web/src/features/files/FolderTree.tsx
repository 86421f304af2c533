import {
  ChevronRight,
  Download,
  File,
  Folder,
  Link2,
  LoaderCircle,
  MoreHorizontal,
  Pencil,
  Plug,
  Trash2,
} from "lucide-react";
import { type DragEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { archiveUrl, fileUrl, useFolder } from "../../api/files";
import type { File as FileEntry } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuItem } from "../../components/Menu";
import { Skeleton } from "../../components/Skeleton";
import { cx } from "../../lib/cx";
import type { OpenDialog } from "./FileDialogs";
import { sizeWords } from "./fileKinds";
import { moveInTree } from "./moveInTree";

interface TreeProps {
  sessionId: string;
  isRunning: boolean;
  selected: string;
  mayWrite: boolean;
  onSelect: (entry: FileEntry) => void;
  onDialog: (dialog: OpenDialog) => void;
  onDropFiles: (event: DragEvent, into: string) => void;
}

/** A folder and, as far as they are opened, the folders in it. */
export function FolderTree({ root, ...tree }: TreeProps & { root: string }) {
  return (
    <ul
      role="tree"
      aria-label="Files and folders"
      onKeyDown={moveInTree}
      className="min-h-0 flex-1 overflow-auto py-1"
    >
      <Level path={root} depth={0} {...tree} />
    </ul>
  );
}

function Level({ path, depth, ...tree }: TreeProps & { path: string; depth: number }) {
  const folder = useFolder(tree.sessionId, path, tree.isRunning);
  const entries = folder.data?.pages.flatMap((page) => page.entries) ?? [];
  const nUnnamed = folder.data?.pages[0]?.n_unnamed ?? 0;
  const indent = { paddingLeft: `${0.75 + depth * 0.9}rem` };
  if (folder.isPending) {
    return (
      <li role="none" style={indent} className="flex flex-col gap-2 py-1.5 pr-3">
        <span role="status" className="sr-only">
          Loading the folder
        </span>
        <Skeleton className="h-4 w-4/5" />
        <Skeleton className="h-4 w-3/5" />
      </li>
    );
  }
  if (folder.error !== null && entries.length === 0) {
    return (
      <li role="none" style={indent} className="py-1.5 pr-3 text-[13px] text-bad">
        {messageOf(folder.error)}{" "}
        <button type="button" className="underline" onClick={() => void folder.refetch()}>
          Try again
        </button>
      </li>
    );
  }
  if (entries.length === 0) {
    return (
      <li role="none" style={indent} className="py-1 pr-3 text-[13px] text-faint">
        Nothing in here yet
      </li>
    );
  }
  return (
    <>
      {sorted(entries).map((entry) => (
        <Entry key={entry.path} entry={entry} depth={depth} {...tree} />
      ))}
      {folder.hasNextPage && (
        <li role="none" style={indent} className="py-1">
          <Button
            look="ghost"
            disabled={folder.isFetchingNextPage}
            onClick={() => void folder.fetchNextPage()}
          >
            Load more
          </Button>
        </li>
      )}
      {nUnnamed > 0 && (
        <li role="none" style={indent} className="py-1 pr-3 text-xs text-faint">
          {nUnnamed} more with names that are not text
        </li>
      )}
    </>
  );
}

const rank = (entry: FileEntry) => (entry.kind === "folder" ? 0 : 1);

/** Folders first, then by name as people sort. */
function sorted(entries: FileEntry[]): FileEntry[] {
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  return entries.toSorted((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

const ICONS = { file: File, folder: Folder, link: Link2, other: Plug };

function Entry({ entry, depth, ...tree }: TreeProps & { entry: FileEntry; depth: number }) {
  const [isOpen, setIsOpen] = useState(false);
  const isFolder = entry.kind === "folder";
  const Icon = ICONS[entry.kind];
  const isSelected = tree.selected === entry.path;
  const choose = () => {
    if (isFolder) setIsOpen(!isOpen);
    tree.onSelect(entry);
  };
  return (
    <li
      role="treeitem"
      aria-selected={isSelected}
      aria-expanded={isFolder ? isOpen : undefined}
      aria-label={entry.name}
      onDrop={isFolder ? (event) => tree.onDropFiles(event, entry.path) : undefined}
    >
      <div
        className={cx(
          "group flex h-8 items-center pr-1.5 text-[13px] @2xl:h-7",
          isSelected ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        <button
          type="button"
          data-entry
          onClick={choose}
          style={{ paddingLeft: `${0.5 + depth * 0.9}rem` }}
          className="flex h-full min-w-0 flex-1 items-center gap-1.5 text-left -outline-offset-2"
        >
          <ChevronRight
            aria-hidden
            className={cx(
              "size-3.5 shrink-0 text-faint transition-transform",
              !isFolder && "invisible",
              isOpen && "rotate-90",
            )}
          />
          <Icon aria-hidden className={cx("size-4 shrink-0", isFolder ? "text-accent" : "text-faint")} />
          <span className="min-w-0 flex-1 truncate" title={entry.target ?? entry.name}>
            {entry.name}
          </span>
          {entry.kind === "file" && (
            <span className="shrink-0 pl-2 text-xs text-faint tabular-nums">
              {sizeWords(entry.size)}
            </span>
          )}
        </button>
        <EntryMenu entry={entry} {...tree} />
      </div>
      {isFolder && isOpen && (
        <ul role="group">
          <Level path={entry.path} depth={depth + 1} {...tree} />
        </ul>
      )}
    </li>
  );
}

function EntryMenu({ entry, sessionId, mayWrite, onDialog }: TreeProps & { entry: FileEntry }) {
  const isFolder = entry.kind === "folder";
  const url = isFolder ? archiveUrl(sessionId, entry.path) : fileUrl(sessionId, entry.path);
  return (
    <Menu
      trigger={
        <Button
          look="ghost"
          square
          aria-label={`Menu of ${entry.name}`}
          className="size-6 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 data-[state=open]:opacity-100 [@media(hover:none)]:opacity-100"
        >
          <MoreHorizontal aria-hidden className="size-4" />
        </Button>
      }
    >
      {((isFolder && mayWrite) || entry.kind === "file") && (
        <MenuItem icon={<Download aria-hidden />} onSelect={() => download(url, entry.name)}>
          {isFolder ? "Download as tar.gz" : "Download"}
        </MenuItem>
      )}
      {mayWrite && (
        <>
          <MenuItem icon={<Pencil aria-hidden />} onSelect={() => onDialog({ kind: "rename", entry })}>
            Rename…
          </MenuItem>
          <MenuItem
            isDanger
            icon={<Trash2 aria-hidden />}
            onSelect={() => onDialog({ kind: "remove", entry })}
          >
            Delete…
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

/** Has the browser save an answer. If it is refused, the page stays where it is. */
function download(url: string, name: string) {
  const link = document.createElement("a");
  link.href = url;
  // The answer's own name counts, where it has one.
  link.download = name;
  link.click();
}

/** A turning wheel, for work that takes a moment. */
export function Busy({ label }: { label: string }) {
  return (
    <div role="status" className="grid h-full place-items-center text-faint">
      <LoaderCircle aria-hidden className="size-5 animate-spin" />
      <span className="sr-only">{label}</span>
    </div>
  );
}

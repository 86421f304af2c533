import {
  AppWindow,
  CodeXml,
  FolderTree,
  Globe,
  History,
  type LucideIcon,
  Monitor,
  SquareTerminal,
} from "lucide-react";
import type { ComponentType } from "react";

import type { PanelProps } from "./panel";

/** A panel of the session page. */
export interface Panel {
  /** Stored with people's layouts, so it never changes. */
  id: string;
  title: string;
  icon: LucideIcon;
  /** Loads the panel's code when the panel is first shown. */
  load: () => Promise<ComponentType<PanelProps>>;
}

/** All panels, in the order in which they are offered. The first is visible at the beginning. */
export const PANELS: readonly Panel[] = [
  {
    id: "screen",
    title: "Screen",
    icon: Monitor,
    load: async () => (await import("../session/ScreenPanel")).ScreenPanel,
  },
  {
    id: "terminal",
    title: "Terminal",
    icon: SquareTerminal,
    load: async () => (await import("../terminal/TerminalPanel")).TerminalPanel,
  },
  {
    id: "files",
    title: "Files",
    icon: FolderTree,
    load: async () => (await import("../files/FilesPanel")).FilesPanel,
  },
  {
    id: "code",
    title: "Code",
    icon: CodeXml,
    load: async () => (await import("../code/CodePanel")).CodePanel,
  },
  {
    id: "preview",
    title: "Preview",
    icon: AppWindow,
    load: async () => (await import("../preview/PreviewPanel")).PreviewPanel,
  },
  {
    id: "network",
    title: "Network",
    icon: Globe,
    load: async () => (await import("../network/NetworkPanel")).NetworkPanel,
  },
  {
    id: "replay",
    title: "Replay",
    icon: History,
    load: async () => (await import("../replay/ReplayPanel")).ReplayPanel,
  },
];

import { useNavigate } from "@tanstack/react-router";
import {
  Bell,
  FlaskConical,
  Keyboard,
  LayoutList,
  LogOut,
  MessageSquare,
  Monitor,
  MonitorPlay,
  Moon,
  Plug,
  Plus,
  Search,
  Settings,
  Sun,
} from "lucide-react";
import { useEffect } from "react";

import { useMe, useSignOut } from "../../api/account";
import { useSessions } from "../../api/sessions";
import { useHasStreams } from "../../api/streams";
import { stateWord } from "../../components/StateBadge";
import { setTheme } from "../../lib/theme";
import { useNewSession } from "../account/Navigation";
import { SETTINGS_SECTIONS } from "../settings/sections";
import { allCommands, type Command, openDialog, useCommands } from "./command";
import { CommandPalette } from "./CommandPalette";
import { ShortcutSheet } from "./ShortcutSheet";
import { matches, mayUse } from "./shortcut";

const PALETTE_KEYS = "Mod+K";

/** Offers the commands of every page, with the palette and the shortcuts for all commands. */
export function CommandCenter() {
  useShortcuts();
  useCommands([
    ...useGoCommands(),
    ...useSessionLinks(),
    ...THEME_COMMANDS,
    ...useAccountCommands(),
    ...DIALOG_COMMANDS,
  ]);
  return (
    <>
      <CommandPalette />
      <ShortcutSheet />
    </>
  );
}

const THEME_COMMANDS: readonly Command[] = [
  { id: "theme-light", title: "Light theme", group: "Theme", icon: Sun, run: () => setTheme("light") },
  { id: "theme-dark", title: "Dark theme", group: "Theme", icon: Moon, run: () => setTheme("dark") },
  { id: "theme-system", title: "System theme", group: "Theme", icon: Monitor, run: () => setTheme("system") },
];

const DIALOG_COMMANDS: readonly Command[] = [
  {
    id: "palette",
    title: "Find a command or a session",
    group: "Go to",
    icon: Search,
    shortcut: PALETTE_KEYS,
    isOnlyShortcut: true,
    run: () => openDialog.set("palette"),
  },
  {
    id: "shortcuts",
    title: "Keyboard shortcuts",
    group: "Go to",
    icon: Keyboard,
    shortcut: "?",
    keywords: "keys help",
    run: () => openDialog.set("shortcuts"),
  },
];

function useGoCommands(): Command[] {
  const navigate = useNavigate();
  const newSession = useNewSession();
  const role = useMe({ enabled: true }).data?.role;
  const hasStreams = useHasStreams();
  const sections = SETTINGS_SECTIONS.filter(({ isForAdmins }) => !isForAdmins || role === "admin");
  return [
    { id: "new", title: "New session", group: "Sessions", icon: Plus, shortcut: "N", run: newSession },
    { id: "home", title: "All sessions", group: "Go to", icon: LayoutList, run: () => void navigate({ to: "/" }) },
    {
      id: "inbox",
      title: "Waiting for you",
      group: "Go to",
      icon: Bell,
      keywords: "inbox questions approvals",
      run: () => void navigate({ to: "/decisions" }),
    },
    {
      id: "connect",
      title: "Connect your agent",
      group: "Go to",
      icon: Plug,
      keywords: "mcp client claude codex cursor opencode",
      run: () => void navigate({ to: "/connect" }),
    },
    {
      id: "evals",
      title: "Evals",
      group: "Go to",
      icon: FlaskConical,
      keywords: "benchmark measure compare models suite",
      run: () => void navigate({ to: "/evals" }),
    },
    ...(hasStreams ? [streamsCommand(() => void navigate({ to: "/streams" }))] : []),
    { id: "settings", title: "Settings", group: "Go to", icon: Settings, run: () => void navigate({ to: "/settings" }) },
    ...sections.map(
      ({ hash, title }): Command => ({
        id: `settings-${hash}`,
        title: `Settings: ${title}`,
        group: "Go to",
        icon: Settings,
        run: () => void navigate({ to: "/settings", hash }),
      }),
    ),
  ];
}

function streamsCommand(run: () => void): Command {
  const keywords = "jamie bot watch together";
  return { id: "streams", title: "Discord streams", group: "Go to", icon: MonitorPlay, keywords, run };
}

/** Returns a command for each of the newest sessions, which are loaded with the palette. */
function useSessionLinks(): Command[] {
  const isOpen = openDialog.use() === "palette";
  const navigate = useNavigate();
  const sessions = useSessions({ enabled: isOpen }).data?.pages.flatMap((page) => page.sessions) ?? [];
  return sessions.map((session) => ({
    id: `session-${session.id}`,
    title: session.title || "Untitled session",
    group: "Sessions",
    icon: MessageSquare,
    note: stateWord(session.state, session.sandbox, session.right),
    run: () => void navigate({ to: "/sessions/$sessionId", params: { sessionId: session.id } }),
  }));
}

function useAccountCommands(): Command[] {
  const signOut = useSignOut();
  return [{ id: "sign-out", title: "Sign out", group: "Account", icon: LogOut, run: () => signOut.mutate() }];
}

/** Runs the command whose shortcut is pressed. */
function useShortcuts(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.repeat) return;
      if (openDialog.get() === "palette" && matches(event, PALETTE_KEYS)) {
        event.preventDefault();
        openDialog.set(null);
        return;
      }
      const command = allCommands().find(
        ({ shortcut }) =>
          shortcut !== undefined && matches(event, shortcut) && mayUse(shortcut, event.target),
      );
      if (!command) return;
      event.preventDefault();
      command.run();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  Columns2,
  type LucideIcon,
  Maximize2,
  MessageSquare,
  Minimize2,
  PanelLeftClose,
  PenLine,
  RotateCcw,
  Rows2,
  X,
} from "lucide-react";

import type { Command } from "../commands/command";
import { moveTowards } from "./geometry";
import { groupOf, type PanelId, type Side } from "./layout";
import type { Panel } from "./panels";
import type { Workplace } from "./useWorkplace";

const MOVES: readonly { side: Side; words: string; icon: LucideIcon }[] = [
  { side: "left", words: "Move left", icon: ArrowLeft },
  { side: "right", words: "Move right", icon: ArrowRight },
  { side: "top", words: "Move up", icon: ArrowUp },
  { side: "bottom", words: "Move down", icon: ArrowDown },
];

const SPLITS: readonly { side: Side; words: string; icon: LucideIcon }[] = [
  { side: "right", words: "Split to the right", icon: Columns2 },
  { side: "bottom", words: "Split below", icon: Rows2 },
];

interface PanelMove {
  id: string;
  words: string;
  icon: LucideIcon;
  run: () => void;
}

/** Returns the ways in which a panel can be moved now. */
export function panelMoves({ layout, actions }: Workplace, panel: PanelId): PanelMove[] {
  const own = groupOf(layout, panel);
  if (!own) return [];
  const moves = MOVES.filter(({ side }) => moveTowards(layout, panel, side) !== layout).map(
    ({ side, words, icon }) => ({ id: `move-${side}`, words, icon, run: () => actions.moveTowards(panel, side) }),
  );
  const splits = (own.tabs.length > 1 ? SPLITS : []).map(({ side, words, icon }) => ({
    id: `split-${side}`,
    words,
    icon,
    run: () => actions.splitOff(panel, side),
  }));
  return [...splits, ...moves];
}

interface PanelCommandsOptions {
  workplace: Workplace;
  panels: readonly Panel[];
  toMessage: () => void;
}

/** Returns the commands for panels: those that show them, and those for the current one. */
export function panelCommands({ workplace, panels, toMessage }: PanelCommandsOptions): Command[] {
  const { isPhone, actions } = workplace;
  const group = "Panels";
  const show = panels.map(({ id, title, icon }, index): Command => ({
    id: `show-${id}`,
    title: `Show ${title}`,
    group,
    icon,
    ...(index < 9 && { shortcut: String(index + 1) }),
    run: () => {
      actions.show(id);
      // The panel becomes visible with the next render.
      requestAnimationFrame(() => document.getElementById(`panel-${id}`)?.focus());
    },
  }));
  const write: Command = {
    id: "to-message",
    title: "Write a message",
    group: "This session",
    icon: PenLine,
    shortcut: "/",
    rank: -1,
    run: toMessage,
  };
  return [write, ...show, ...conversationCommands(workplace), ...(isPhone ? [] : currentCommands(workplace, panels))];
}

function conversationCommands({ isPhone, isConversationVisible, actions }: Workplace): Command[] {
  const group = "Panels";
  const shortcut = "0";
  if (!isConversationVisible) {
    const run = actions.showConversation;
    return [{ id: "show-conversation", title: "Show the conversation", group, icon: MessageSquare, shortcut, run }];
  }
  if (isPhone) return [];
  const run = actions.hideConversation;
  return [{ id: "hide-conversation", title: "Hide the conversation", group, icon: PanelLeftClose, shortcut, run }];
}

function currentCommands(workplace: Workplace, panels: readonly Panel[]): Command[] {
  const { layout, current, actions } = workplace;
  const group = "Panels";
  const reset: Command = { id: "reset-layout", title: "Reset layout", group, icon: RotateCcw, run: actions.reset };
  const own = current === null ? undefined : groupOf(layout, current);
  if (current === null || !own) return [reset];
  const name = panels.find(({ id }) => id === current)?.title ?? "";
  const isMaximised = layout.maximised === own.id;
  const moves = panelMoves(workplace, current).map(({ id, words, icon, run }): Command => {
    return { id, title: `${name}: ${words.toLowerCase()}`, group, icon, run };
  });
  return [
    ...(layout.root?.kind === "split"
      ? [
          {
            id: "maximise",
            title: isMaximised ? `Restore ${name}` : `Maximise ${name}`,
            group,
            icon: isMaximised ? Minimize2 : Maximize2,
            shortcut: "M",
            run: () => actions.toggleMaximised(own.id),
          } satisfies Command,
        ]
      : []),
    ...moves,
    { id: "close-panel", title: `Close ${name}`, group, icon: X, run: () => actions.close(current) },
    reset,
  ];
}

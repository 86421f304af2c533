import { Ellipsis, Maximize2, Minimize2, PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { type CSSProperties, type KeyboardEvent, useEffect, useRef } from "react";

import { Button } from "../../components/Button";
import { Menu } from "../../components/Menu";
import { cx } from "../../lib/cx";
import { focusTab } from "./focusTab";
import type { PanelId, TabGroup } from "./layout";
import { PanelMenu } from "./PanelMenu";
import type { Panel } from "./panels";
import type { TabDrag } from "./useTabDrag";
import type { Workplace } from "./useWorkplace";

interface GroupBarProps {
  group: TabGroup;
  panels: readonly Panel[];
  workplace: Workplace;
  /** The panels with something new in them. */
  marked: ReadonlySet<PanelId>;
  drag: TabDrag;
  /** True for the group beside the conversation, which has the button to hide it. */
  isFirst: boolean;
  style: CSSProperties;
}

const SMALL = "size-7! text-faint";

/** The bar of a group: its tabs, and what can be done with the visible panel. */
export function GroupBar({ group, panels, workplace, marked, drag, isFirst, style }: GroupBarProps) {
  const { layout, current, isConversationVisible, actions } = workplace;
  const isMaximised = layout.maximised === group.id;
  const hasOthers = layout.root?.kind === "split";
  const tabs = group.tabs.flatMap((id) => panels.find((panel) => panel.id === id) ?? []);
  const title = tabs.find(({ id }) => id === group.active)?.title ?? "";
  const toggle = () => {
    actions.use(group.active);
    actions.toggleMaximised(group.id);
  };
  const moved = useRef<string | null>(null);
  // A moved or closed panel takes its tab, and maybe this whole bar, away. The keyboard goes to the moved one, or on.
  const toMovedTab = (event: Event) => {
    if (moved.current === null) return;
    event.preventDefault();
    focusTab(moved.current);
    moved.current = null;
  };
  return (
    <div
      style={style}
      data-group={group.id}
      className="absolute flex h-9 items-center gap-1 border-b border-line bg-surface pr-1.5"
    >
      {isFirst && (
        <Button
          look="ghost"
          square
          aria-label={isConversationVisible ? "Hide the conversation" : "Show the conversation"}
          title={isConversationVisible ? "Hide the conversation" : "Show the conversation"}
          className={cx(SMALL, "ml-1.5")}
          onClick={isConversationVisible ? actions.hideConversation : actions.showConversation}
        >
          {isConversationVisible ? (
            <PanelLeftClose aria-hidden className="size-4" />
          ) : (
            <PanelLeftOpen aria-hidden className="size-4" />
          )}
        </Button>
      )}
      <TabList
        group={group}
        tabs={tabs}
        isCurrent={current === group.active}
        hasOthers={hasOthers || isMaximised}
        workplace={workplace}
        marked={marked}
        drag={drag}
      />
      <div className="ml-auto flex shrink-0 items-center">
        {(hasOthers || isMaximised) && (
          <Button
            look="ghost"
            square
            aria-label={isMaximised ? `Restore ${title}` : `Maximise ${title}`}
            title={isMaximised ? "Restore" : "Maximise"}
            className={SMALL}
            onClick={toggle}
          >
            {isMaximised ? (
              <Minimize2 aria-hidden className="size-3.5" />
            ) : (
              <Maximize2 aria-hidden className="size-3.5" />
            )}
          </Button>
        )}
        <Menu
          onClosed={toMovedTab}
          trigger={
            <Button look="ghost" square aria-label={`Panel menu of ${title}`} title="Panel menu" className={SMALL}>
              <Ellipsis aria-hidden className="size-4" />
            </Button>
          }
        >
          <PanelMenu panel={group.active} panels={panels} workplace={workplace} onMove={(id) => (moved.current = id)} />
        </Menu>
      </div>
    </div>
  );
}

interface TabListProps {
  group: TabGroup;
  tabs: readonly Panel[];
  isCurrent: boolean;
  /** True if there are groups besides this one. */
  hasOthers: boolean;
  workplace: Workplace;
  marked: ReadonlySet<PanelId>;
  drag: TabDrag;
}

function TabList({ group, tabs, isCurrent, hasOthers, workplace: { actions }, marked, drag }: TabListProps) {
  const { active } = group;
  useEffect(() => {
    document.getElementById(`tab-${active}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [active]);
  const onKeyDown = (event: KeyboardEvent, panel: Panel) => {
    const at = tabs.indexOf(panel);
    const places: Record<string, number> = {
      ArrowLeft: (at - 1 + tabs.length) % tabs.length,
      ArrowRight: (at + 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = tabs[places[event.key] ?? -1];
    if (next) {
      event.preventDefault();
      document.getElementById(`tab-${next.id}`)?.focus();
    }
    if (event.key === "Delete") {
      const neighbour = tabs[at - 1] ?? tabs[at + 1];
      actions.close(panel.id);
      focusTab(neighbour?.id);
    }
  };
  return (
    <div
      role="tablist"
      aria-label="Panels"
      className="flex h-full min-w-0 [scrollbar-width:none] overflow-x-auto"
    >
      {tabs.map((panel) => {
        const { id, title, icon: Icon } = panel;
        const isActive = id === active;
        return (
          <button
            key={id}
            type="button"
            id={`tab-${id}`}
            role="tab"
            aria-selected={isActive}
            aria-controls={`panel-${id}`}
            aria-keyshortcuts="Delete"
            tabIndex={isActive ? 0 : -1}
            onClick={() => actions.show(id)}
            onDoubleClick={() => hasOthers && actions.toggleMaximised(group.id)}
            onAuxClick={(event) => event.button === 1 && actions.close(id)}
            onKeyDown={(event) => onKeyDown(event, panel)}
            {...drag.handlers(id)}
            className={cx(
              "flex shrink-0 items-center gap-1.5 border-b-2 px-2.5 text-[13px] -outline-offset-2 select-none",
              isActive ? "text-ink" : "border-transparent text-soft hover:bg-hover hover:text-ink",
              isActive && (isCurrent ? "border-accent" : "border-line-strong"),
              drag.moved === id && "opacity-50",
            )}
          >
            <Icon aria-hidden className="size-3.5" /> {title}
            {marked.has(id) && (
              <span className="size-1.5 rounded-full bg-accent">
                <span className="sr-only">, something new</span>
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

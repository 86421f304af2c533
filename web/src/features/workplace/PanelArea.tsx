import { LayoutPanelLeft, RotateCcw } from "lucide-react";
import { type CSSProperties, type RefObject, useRef, useState } from "react";

import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { Splitter } from "../../components/Splitter";
import { cx } from "../../lib/cx";
import { placed, type PlacedSplit, type Rect, WHOLE } from "./geometry";
import { GroupBar } from "./GroupBar";
import { groupOf, groupsIn, MIN_SHARE, type PanelId, type PanelTree } from "./layout";
import type { PanelProps } from "./panel";
import type { Panel } from "./panels";
import { PanelSlot } from "./PanelSlot";
import { useTabDrag } from "./useTabDrag";
import type { Workplace } from "./useWorkplace";

interface PanelAreaProps {
  workplace: Workplace;
  /** The panels with something new in them. */
  marked: ReadonlySet<PanelId>;
  panels: readonly Panel[];
  panelProps: PanelProps;
  /** True while something beside the area is resized with the pointer. */
  isResizing: boolean;
  className: string;
}

/** The height of a group's bar, as in its class. */
const BAR = "2.25rem";

/**
 * The panels with their tabs and the lines between them.
 *
 * All panels are children of this one element, always in the same order, because a frame that is
 * moved within a document loads again.
 */
export function PanelArea({ workplace, marked, panels, panelProps, isResizing, className }: PanelAreaProps) {
  const { layout, isPhone, isConversationVisible, visible, alive, actions } = workplace;
  const area = useRef<HTMLDivElement>(null);
  const [isMoving, setIsMoving] = useState(false);
  const drag = useTabDrag({ area, layout, onDrop: actions.move });
  const { groups, splits } = placed(layout);
  const { maximised } = layout;
  const shown = groups.filter(({ group }) => maximised === null || group.id === maximised);
  const rectOf = (panel: string): Rect => {
    if (isPhone) return WHOLE;
    const id = groupOf(layout, panel)?.id;
    if (id === maximised) return WHOLE;
    return groups.find(({ group }) => group.id === id)?.rect ?? WHOLE;
  };
  // While something is dragged, frames must not take the pointer's events.
  const isBusy = isResizing || isMoving || drag.moved !== null;
  const titleOf = (tree: PanelTree) => titleIn(tree, panels);

  return (
    <div
      ref={area}
      className={cx(
        "relative min-h-0 min-w-0 overflow-hidden bg-page",
        isPhone && isConversationVisible && "invisible",
        className,
      )}
    >
      {!isPhone &&
        shown.map(({ group, rect }, index) => (
          <GroupBar
            key={group.id}
            group={group}
            panels={panels}
            workplace={workplace}
            marked={marked}
            drag={drag}
            isFirst={index === 0}
            style={barStyle(maximised === null ? rect : WHOLE)}
          />
        ))}
      {panels
        .filter(({ id }) => alive.has(id))
        .map((panel) => (
          <div
            key={panel.id}
            id={`panel-${panel.id}`}
            role={isPhone ? undefined : "tabpanel"}
            aria-labelledby={isPhone ? undefined : `tab-${panel.id}`}
            tabIndex={-1}
            onFocus={() => actions.use(panel.id)}
            onPointerDown={() => actions.use(panel.id)}
            style={bodyStyle(rectOf(panel.id), isPhone ? "0px" : BAR)}
            className={cx(
              "absolute -outline-offset-2",
              // An invisible panel keeps its size, so that nothing in it is laid out anew.
              !visible.has(panel.id) && "invisible",
              isBusy && "pointer-events-none",
            )}
          >
            <PanelSlot panel={panel} panelProps={panelProps} />
          </div>
        ))}
      {!isPhone &&
        maximised === null &&
        splits.map((one) => (
          <SplitLine
            key={one.path.join(".") || "root"}
            placed={one}
            label={`Border between ${titleOf(one.split.first)} and ${titleOf(one.split.second)}`}
            area={area}
            onChange={(share) => actions.resize(one.path, share)}
            onDrag={setIsMoving}
          />
        ))}
      {!isPhone && layout.root === null && <NoPanels panels={panels} workplace={workplace} />}
      {drag.drop && (
        <div
          aria-hidden
          style={bodyStyle(drag.drop.rect, "0px")}
          className="pointer-events-none absolute z-20 rounded-md border-2 border-accent bg-accent/15"
        />
      )}
    </div>
  );
}

interface SplitLineProps {
  placed: PlacedSplit;
  label: string;
  area: RefObject<HTMLDivElement | null>;
  onChange: (share: number) => void;
  onDrag: (isDragging: boolean) => void;
}

function SplitLine({ placed: { split, rect }, label, area, onChange, onDrag }: SplitLineProps) {
  const isRow = split.direction === "row";
  const style: CSSProperties = isRow
    ? { left: percent(rect.left + rect.width * split.share), top: percent(rect.top), height: percent(rect.height) }
    : { top: percent(rect.top + rect.height * split.share), left: percent(rect.left), width: percent(rect.width) };
  return (
    <Splitter
      label={label}
      orientation={isRow ? "vertical" : "horizontal"}
      value={split.share * 100}
      min={MIN_SHARE * 100}
      max={(1 - MIN_SHARE) * 100}
      container={area}
      stretch={isRow ? { from: rect.left, size: rect.width } : { from: rect.top, size: rect.height }}
      onChange={(value) => onChange(value / 100)}
      onDrag={onDrag}
      style={style}
      className="absolute z-10"
    />
  );
}

function NoPanels({ panels, workplace }: Pick<PanelAreaProps, "panels" | "workplace">) {
  const { actions, isConversationVisible } = workplace;
  return (
    <div data-no-panels className="grid h-full place-items-center">
      <Placeholder
        icon={<LayoutPanelLeft aria-hidden />}
        title="No panel is open"
        actions={
          <>
            {panels.map(({ id, title, icon: Icon }) => (
              <Button key={id} onClick={() => actions.show(id)}>
                <Icon aria-hidden className="size-3.5" /> {title}
              </Button>
            ))}
            {!isConversationVisible && <Button onClick={actions.showConversation}>Conversation</Button>}
            <Button look="ghost" onClick={actions.reset}>
              <RotateCcw aria-hidden className="size-3.5" /> Reset layout
            </Button>
          </>
        }
      >
        Choose one to see it here.
      </Placeholder>
    </div>
  );
}

/** Returns the title of the first visible panel of a part. */
function titleIn(tree: PanelTree, panels: readonly Panel[]): string {
  const active = groupsIn(tree)[0]?.active;
  return panels.find(({ id }) => id === active)?.title ?? "";
}

function percent(fraction: number): string {
  return `${fraction * 100}%`;
}

function barStyle({ left, top, width }: Rect): CSSProperties {
  return { left: percent(left), top: percent(top), width: percent(width) };
}

/** Returns the place of a group without its bar. */
function bodyStyle({ left, top, width, height }: Rect, bar: string): CSSProperties {
  return {
    left: percent(left),
    top: `calc(${percent(top)} + ${bar})`,
    width: percent(width),
    height: `calc(${percent(height)} - ${bar})`,
  };
}

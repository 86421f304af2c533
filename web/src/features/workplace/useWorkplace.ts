import { useMemo, useState } from "react";

import { useMediaQuery } from "../../lib/useMediaQuery";
import { moveTowards, splitOff } from "./geometry";
import {
  closePanel,
  groupOf,
  groupsIn,
  type Layout,
  movePanel,
  type PanelId,
  panelsIn,
  type Place,
  resize,
  showPanel,
  type Side,
  type SplitPath,
  toggleMaximised,
} from "./layout";
import { type Arrangement, usualArrangement } from "./savedLayout";
import { type RemoteLayout, useArrangement } from "./useArrangement";

/** Below this width, one thing is shown at a time. */
const PHONE = "(width < 48rem)";

/** The place of the conversation among the views of a phone. No panel has this id. */
export const CONVERSATION = "conversation";

export interface Workplace {
  arrangement: Arrangement;
  layout: Layout;
  isPhone: boolean;
  /** The panel, or the conversation, that a phone shows. */
  phoneView: string;
  /** The panel that was used last, which shortcuts are about. */
  current: PanelId | null;
  isConversationVisible: boolean;
  visible: ReadonlySet<PanelId>;
  /** The panels that exist in the page, visible or not. */
  alive: ReadonlySet<PanelId>;
  actions: WorkplaceActions;
}

export interface WorkplaceActions {
  /** Makes a panel visible. One that is not open joins the group of `near`. */
  show: (panel: PanelId, near?: PanelId) => void;
  showConversation: () => void;
  hideConversation: () => void;
  use: (panel: PanelId) => void;
  close: (panel: PanelId) => void;
  move: (panel: PanelId, place: Place) => void;
  moveTowards: (panel: PanelId, side: Side) => void;
  splitOff: (panel: PanelId, side: Side) => void;
  resize: (path: SplitPath, share: number) => void;
  resizeConversation: (width: number) => void;
  toggleMaximised: (group: string) => void;
  reset: () => void;
}

/** Keeps a user's arrangement of panels, and remembers it. */
export function useWorkplace(user: string, panels: readonly { id: PanelId }[], remote: RemoteLayout): Workplace {
  const ids = useMemo(() => panels.map(({ id }) => id), [panels]);
  const isPhone = useMediaQuery(PHONE);
  const [arrangement, setArrangement] = useArrangement(user, ids, remote);
  const [phoneView, setPhoneView] = useState<string>(CONVERSATION);
  const [used, setUsed] = useState<PanelId | null>(null);
  const { layout } = arrangement;

  const visible = useMemo(
    () => new Set(isPhone ? [phoneView] : visibleIn(layout)),
    [isPhone, phoneView, layout],
  );
  const alive = useAlive(ids, visible, isPhone ? ids : panelsIn(layout));

  const actions = useMemo((): WorkplaceActions => {
    const change = (next: (layout: Layout) => Layout) =>
      setArrangement((before) => {
        const changed = next(before.layout);
        return changed === before.layout ? before : { ...before, layout: changed };
      });
    return {
      show: (panel, near) => {
        if (isPhone) setPhoneView(panel);
        else change((before) => showPanel(before, panel, near ?? used));
        setUsed(panel);
      },
      showConversation: () => {
        if (isPhone) setPhoneView(CONVERSATION);
        else setArrangement((before) => ({ ...before, isConversationHidden: false }));
      },
      hideConversation: () => setArrangement((before) => ({ ...before, isConversationHidden: true })),
      use: setUsed,
      close: (panel) => change((before) => closePanel(before, panel)),
      move: (panel, place) => change((before) => movePanel(before, panel, place)),
      moveTowards: (panel, side) => change((before) => moveTowards(before, panel, side)),
      splitOff: (panel, side) => change((before) => splitOff(before, panel, side)),
      resize: (path, share) => change((before) => resize(before, path, share)),
      resizeConversation: (conversation) => setArrangement((before) => ({ ...before, conversation })),
      toggleMaximised: (group) => change((before) => toggleMaximised(before, group)),
      reset: () => setArrangement(usualArrangement(ids)),
    };
  }, [isPhone, used, ids, setArrangement]);

  return {
    arrangement,
    layout,
    isPhone,
    phoneView,
    current: currentIn(layout, used),
    isConversationVisible: isPhone ? phoneView === CONVERSATION : !arrangement.isConversationHidden,
    visible,
    alive,
    actions,
  };
}

function visibleIn({ root, maximised }: Layout): PanelId[] {
  return groupsIn(root)
    .filter(({ id }) => maximised === null || id === maximised)
    .map(({ active }) => active);
}

/** Returns the panel that was used last, or the visible one of its group, or of the first group. */
function currentIn(layout: Layout, used: PanelId | null): PanelId | null {
  const group = (used !== null && groupOf(layout, used)) || groupsIn(layout.root)[0];
  return group?.active ?? null;
}

/** Returns the panels that exist in the page: the visible ones, and those that were and stay open. */
function useAlive(
  ids: readonly PanelId[],
  visible: ReadonlySet<PanelId>,
  open: readonly PanelId[],
): ReadonlySet<PanelId> {
  const [alive, setAlive] = useState<ReadonlySet<PanelId>>(visible);
  const next = ids.filter((id) => visible.has(id) || (alive.has(id) && open.includes(id)));
  const isSame = next.length === alive.size && next.every((id) => alive.has(id));
  if (isSame) return alive;
  const changed = new Set(next);
  setAlive(changed);
  return changed;
}

import { RotateCcw, X } from "lucide-react";

import { MenuItem, MenuLabel, MenuSeparator } from "../../components/Menu";
import { panelMoves } from "./panelCommands";
import { type PanelId, panelsIn } from "./layout";
import type { Panel } from "./panels";
import type { Workplace } from "./useWorkplace";

interface PanelMenuProps {
  /** The panel that the menu is about. */
  panel: PanelId;
  panels: readonly Panel[];
  workplace: Workplace;
  /** Called with the panel that is moved, opened or closed. */
  onMove: (panel: PanelId) => void;
}

/** The content of a group's menu. */
export function PanelMenu({ panel, panels, workplace, onMove }: PanelMenuProps) {
  const { layout, actions } = workplace;
  const open = panelsIn(layout);
  const closed = panels.filter(({ id }) => !open.includes(id));
  const title = panels.find(({ id }) => id === panel)?.title ?? "";
  const moves = panelMoves(workplace, panel);
  return (
    <>
      <MenuLabel>{title}</MenuLabel>
      {moves.map(({ id, words, icon: Icon, run }) => (
        <MenuItem
          key={id}
          icon={<Icon aria-hidden />}
          onSelect={() => {
            run();
            onMove(panel);
          }}
        >
          {words}
        </MenuItem>
      ))}
      <MenuItem
        icon={<X aria-hidden />}
        onSelect={() => {
          actions.close(panel);
          onMove(panel);
        }}
      >
        Close
      </MenuItem>
      {closed.length > 0 && (
        <>
          <MenuSeparator />
          <MenuLabel>Open</MenuLabel>
          {closed.map(({ id, title: name, icon: Icon }) => (
            <MenuItem
              key={id}
              icon={<Icon aria-hidden />}
              onSelect={() => {
                actions.show(id, panel);
                onMove(id);
              }}
            >
              {name}
            </MenuItem>
          ))}
        </>
      )}
      <MenuSeparator />
      <MenuItem icon={<RotateCcw aria-hidden />} onSelect={actions.reset}>
        Reset layout
      </MenuItem>
    </>
  );
}

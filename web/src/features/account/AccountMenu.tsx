import { useNavigate } from "@tanstack/react-router";
import { FlaskConical, Keyboard, LogOut, Monitor, MonitorPlay, Moon, Plug, Search, Settings, Sun } from "lucide-react";
import type { ReactNode } from "react";

import { useMe, useSignOut } from "../../api/account";
import { useHasStreams } from "../../api/streams";
import { faceColour } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "../../components/Menu";
import { setTheme, type Theme, useTheme } from "../../lib/theme";
import { openDialog } from "../commands/command";
import { LimitsInUse } from "./LimitsInUse";

const THEMES: readonly { value: Theme; label: string; icon: ReactNode }[] = [
  { value: "light", label: "Light", icon: <Sun aria-hidden /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden /> },
  { value: "system", label: "System", icon: <Monitor aria-hidden /> },
];

/** The menu with the signed-in user, the theme and the sign-out. */
export function AccountMenu() {
  const me = useMe({ enabled: true });
  const hasStreams = useHasStreams();
  const signOut = useSignOut();
  const theme = useTheme();
  const navigate = useNavigate();
  const name = me.data?.name ?? "";
  return (
    <Menu
      trigger={
        <Button
          look="ghost"
          square
          aria-label="Account and theme"
          style={{ backgroundColor: faceColour(name) }}
          className="rounded-full! text-xs font-semibold text-white! uppercase hover:opacity-85"
        >
          {[...name][0] ?? "?"}
        </Button>
      }
    >
      <MenuLabel>Signed in as {name}</MenuLabel>
      <LimitsInUse withMoney className="px-2 pt-1 pb-1.5" />
      <MenuSeparator />
      <MenuLabel>Theme</MenuLabel>
      <MenuChoice value={theme} options={THEMES} onChange={setTheme} />
      <MenuSeparator />
      <MenuItem icon={<Search aria-hidden />} onSelect={() => openDialog.set("palette")}>
        Commands
      </MenuItem>
      <MenuItem icon={<Keyboard aria-hidden />} onSelect={() => openDialog.set("shortcuts")}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon={<Plug aria-hidden />} onSelect={() => void navigate({ to: "/connect" })}>
        Connect your agent
      </MenuItem>
      <MenuItem icon={<FlaskConical aria-hidden />} onSelect={() => void navigate({ to: "/evals" })}>
        Evals
      </MenuItem>
      {hasStreams && (
        <MenuItem icon={<MonitorPlay aria-hidden />} onSelect={() => void navigate({ to: "/streams" })}>
          Discord streams
        </MenuItem>
      )}
      <MenuItem
        icon={<Settings aria-hidden />}
        onSelect={() => void navigate({ to: "/settings" })}
      >
        Settings
      </MenuItem>
      <MenuItem icon={<LogOut aria-hidden />} onSelect={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

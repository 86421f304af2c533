import { Link } from "@tanstack/react-router";

import { SETTINGS_SECTIONS } from "./sections";

/** Links to the sections of the settings. */
export function SectionLinks({ isAdmin }: { isAdmin: boolean }) {
  const sections = SETTINGS_SECTIONS.filter(({ isForAdmins }) => !isForAdmins || isAdmin);
  return (
    <nav aria-label="Sections" className="flex flex-wrap gap-x-4 gap-y-1.5 text-[13px]">
      {sections.map(({ hash, title }) => (
        <Link
          key={hash}
          to="/settings"
          hash={hash}
          className="text-soft underline-offset-2 hover:text-ink hover:underline"
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}

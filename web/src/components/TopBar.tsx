import type { ReactNode } from "react";

/**
 * The bar above every page. `home` leads back, `children` show the location, and `actions` are on
 * the right.
 */
export function TopBar(props: { home: ReactNode; children?: ReactNode; actions: ReactNode }) {
  return (
    <header className="flex h-14 shrink-0 items-center gap-2.5 border-b border-line bg-surface px-3 sm:px-4">
      {props.home}
      <div className="min-w-0 flex-1">{props.children}</div>
      <div className="flex items-center gap-1.5">{props.actions}</div>
    </header>
  );
}

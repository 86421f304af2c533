import type { ReactNode } from "react";

interface PlaceholderProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Fills a place that has nothing to show: empty, failed or unknown. */
export function Placeholder({ icon, title, children, actions }: PlaceholderProps) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      {icon && (
        <div className="mb-3 grid size-10 place-items-center rounded-full bg-hover text-faint [&_svg]:size-5">
          {icon}
        </div>
      )}
      <h2 className="text-[15px] font-semibold">{title}</h2>
      {children && <div className="mt-1 max-w-md text-[13px] text-soft">{children}</div>}
      {actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

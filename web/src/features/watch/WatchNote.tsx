import type { ReactNode } from "react";

interface WatchNoteProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
}

/** Covers the picture and says why there is none. */
export function WatchNote({ icon, title, children }: WatchNoteProps) {
  return (
    <div className="absolute inset-0 grid place-items-center bg-black">
      <div role="status" className="flex max-w-sm animate-appear flex-col items-center px-6 text-center">
        <div className="mb-4 grid size-14 place-items-center rounded-full bg-white/8 text-soft [&_svg]:size-6">
          {icon}
        </div>
        <h1 className="text-lg font-semibold text-balance">{title}</h1>
        {children && <p className="mt-1.5 text-sm text-balance text-soft">{children}</p>}
      </div>
    </div>
  );
}

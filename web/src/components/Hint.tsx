import type { ReactNode } from "react";

/** A line above a panel's content that says what is special now. */
export function Hint({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="border-b border-line bg-warn-soft px-3 py-1.5 text-[13px] text-warn">
      {children}
    </p>
  );
}

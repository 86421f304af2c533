/** The logo: a pointer, which is the agent's hand. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={className}>
      <rect width="32" height="32" rx="8" fill="#3558d4" />
      <path
        d="M10 7.6v15.2l4-3.7 2.7 6 3-1.3-2.7-5.9h5.4z"
        fill="#fff"
        stroke="#fff"
        strokeWidth="1.4"
        strokeLinejoin="round"
      />
    </svg>
  );
}

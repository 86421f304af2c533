/** Focuses the tab of a panel after the next render. If it is not there, another tab, or what takes the panels' place. */
export function focusTab(panel: string | undefined): void {
  requestAnimationFrame(() => {
    const own = panel === undefined ? null : document.getElementById(`tab-${panel}`);
    const other = document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"], [data-no-panels] button');
    (own ?? other)?.focus();
  });
}

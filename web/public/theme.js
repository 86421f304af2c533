// Runs before the first paint, so that a stored theme does not flash the other one.
// It is a file of its own because the page allows no inline scripts.
try {
  const theme = localStorage.getItem("deskhand.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's theme it is.
}

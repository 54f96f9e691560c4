/**
 * Light or dark: the system's choice, unless the reader made one here. The choice is the root element's `data-theme`,
 * which theme.css goes by, and is remembered for all pages of this host.
 */

export type Theme = "light" | "dark";

const STORED_AS = "headgate-theme";
const listeners = new Set<() => void>();
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

/** What is shown now. */
export function currentTheme(): Theme {
  return chosenTheme() ?? (systemDark.matches ? "dark" : "light");
}

/** The reader's own choice; null: the system's is followed. */
function chosenTheme(): Theme | null {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : null;
}

/** Shows the other one, and remembers it. */
export function switchTheme(): void {
  const other = currentTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = other;
  remember(other);
  tell();
}

/** @returns what ends the listening. Told after every change of what is shown, the system's own included */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Applies the remembered choice. Called once, before anything is drawn. */
export function startTheme(): void {
  const stored = recall();
  if (stored !== null) document.documentElement.dataset.theme = stored;
  systemDark.addEventListener("change", tell);
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Storage may be forbidden by the browser's settings: the choice then lasts as long as the page. */
function remember(theme: Theme): void {
  try {
    localStorage.setItem(STORED_AS, theme);
  } catch {}
}

function recall(): Theme | null {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null;
  }
}

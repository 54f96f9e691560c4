import { useEffect, useState } from "preact/hooks";
import { readSettings, type Settings, writeQuery } from "./settings.ts";

/**
 * The settings, kept in the page's address. A control that is moved again takes the place of its own last entry in the
 * history, so that going back means: to what it was before I touched this.
 */

export interface Address {
  readonly settings: Settings;
  /** What the address said that could not be meant, until something is changed. */
  readonly mended: readonly string[];
  /** Shows settings while a control moves. */
  show(settings: Settings): void;
  /**
   * Shows settings and keeps them, in the address and in the history.
   *
   * @param by what changed them, where going back should undo all of its moves at once; null: an entry of its own
   */
  keep(settings: Settings, by: string | null): void;
}

export function useAddress(): Address {
  const [{ settings, mended }, set] = useState(() => readSettings(location.search));
  useEffect(() => {
    if (mended.length > 0) history.replaceState(history.state, "", `?${writeQuery(settings)}`);
    const read = () => set(readSettings(location.search));
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  const show = (next: Settings) => set({ settings: next, mended: [] });
  return {
    settings,
    mended,
    show,
    keep: (next, by) => {
      show(next);
      const query = `?${writeQuery(next)}`;
      if (query === location.search) return;
      if (by !== null && history.state?.by === by) history.replaceState({ by }, "", query);
      else history.pushState({ by }, "", query);
    },
  };
}

/** The address of settings, to be given to others. */
export function linkTo(settings: Settings): string {
  return `${location.origin}${location.pathname}?${writeQuery(settings)}`;
}

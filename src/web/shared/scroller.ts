import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Something that scrolls by itself once it is too large for its place: it can then be reached by the keyboard, because
 * that is how it is scrolled without a pointer. While all of it is seen it is no stop on the way.
 */

/** @param label what it is called while it scrolls */
export function useScroller<E extends HTMLElement>(label: string): RefObject<E | null> {
  const place = useRef<E>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const look = () => {
      const scrolls = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
      for (const [name, value] of [
        ["tabindex", "0"],
        ["role", "region"],
        ["aria-label", label],
      ] as const) {
        if (scrolls) element.setAttribute(name, value);
        else element.removeAttribute(name);
      }
    };
    const resized = new ResizeObserver(look);
    resized.observe(element);
    for (const child of element.children) resized.observe(child);
    return () => resized.disconnect();
  }, [label]);
  return place;
}

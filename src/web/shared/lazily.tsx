import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Parts of a page that few visits need: their script is fetched when they are first shown. */

/** @param load from a file of its own: `import("./x.tsx").then(({ X }) => X)` */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let known: ComponentType<P> | null = null;
  return function Lazily(props: P) {
    const [Part, setPart] = useState<ComponentType<P> | null>(() => known);
    const [isLost, setLost] = useState(false);
    useEffect(() => {
      if (known !== null) return;
      load().then(
        (loaded) => {
          known = loaded;
          setPart(() => loaded);
        },
        () => setLost(true),
      );
    }, []);
    if (isLost) {
      return (
        <p class="notice" data-tone="warn" role="alert">
          A part of this page could not be fetched. Check your connection and reload the page.
        </p>
      );
    }
    return Part === null ? null : <Part {...props} />;
  };
}

/** Shows something once its place comes near to what is seen, and keeps it. Until then the place is kept free. */
export function WhenNear({ children }: { readonly children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), {
      rootMargin: NEAR,
    });
    seen.observe(place.current);
    return () => seen.disconnect();
  }, [isNear]);
  return isNear ? children : <div ref={place} class="kept-free" />;
}

/** So far below the window's lower edge that it is there before it is seen. */
const NEAR = "0px 0px 400px 0px";

import { useEffect, useRef, useState } from "preact/hooks";
import { type Group, isFound } from "./document.ts";
import { Method } from "./operation.tsx";

/** All routes by tag, and a search that leaves those that have its words. */

export function Sidebar({ groups }: { readonly groups: readonly Group[] }) {
  const [search, setSearch] = useState("");
  const current = useHash();
  const list = useRef<HTMLDivElement>(null);
  // The list alone is scrolled: on a narrow page it stands above what the address names.
  useEffect(() => {
    const link = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (list.current === null || !link) return;
    const isSeen =
      link.offsetTop >= list.current.scrollTop && link.offsetTop < list.current.scrollTop + list.current.clientHeight;
    if (!isSeen) list.current.scrollTop = link.offsetTop - list.current.clientHeight / 2;
  }, [current]);
  const left = groups
    .map((group) => ({ ...group, routes: group.routes.filter((route) => isFound(route, search.trim())) }))
    .filter(({ routes }) => routes.length > 0);
  const count = left.reduce((sum, { routes }) => sum + routes.length, 0);
  const go = (event: Event) => {
    event.preventDefault();
    const first = left[0]?.routes[0];
    if (first !== undefined) location.hash = first.operation.operationId;
  };
  return (
    <nav class="d-side" aria-label="Routes">
      <search>
        <form onSubmit={go}>
          <label for="d-search" class="visually-hidden">
            Search routes
          </label>
          <input
            id="d-search"
            type="search"
            placeholder="Search routes"
            autocomplete="off"
            spellcheck={false}
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          <p role="status" class="d-count muted">
            {count === 0 ? "No route has these words." : `${count} ${count === 1 ? "route" : "routes"}`}
          </p>
        </form>
      </search>
      <div class="d-list" ref={list}>
        {left.map(({ name, routes }) => (
          <section key={name}>
            <a class="d-tag" href={`#tag-${name}`}>
              {name}
            </a>
            <ul>
              {routes.map(({ method, path, operation }) => (
                <li key={operation.operationId}>
                  <a
                    href={`#${operation.operationId}`}
                    title={operation.summary}
                    aria-current={current === `#${operation.operationId}` ? "location" : undefined}
                  >
                    <Method method={method} /> <span class="d-side-path">{path}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}

/** Which place of the page its address names, as `#name`. */
function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = () => setHash(location.hash);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return hash;
}

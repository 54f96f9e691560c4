import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { currentTheme, onTheme, switchTheme, type Theme } from "./theme.ts";

/** What all pages have around them: the name, the way to the other pages, the switch between light and dark. */

const PAGES = [
  { path: "/dashboard", name: "Dashboard" },
  { path: "/explorer", name: "Explorer" },
  { path: "/docs", name: "API" },
] as const;

export interface FrameProps {
  /** The path of the page that is shown: marked in the navigation. */
  readonly current: (typeof PAGES)[number]["path"];
  /** More for the right end of the bar: who is signed in, say. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Frame({ current, aside, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <div class="bar-inner">
          <span class="brand">Headgate</span>
          <nav aria-label="Pages" class="bar-nav">
            {PAGES.map(({ path, name }) => (
              <a key={path} href={path} aria-current={path === current ? "page" : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <div class="bar-aside">
            {aside}
            <ThemeSwitch />
          </div>
        </div>
      </header>
      <main id="main" class="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function ThemeSwitch() {
  const theme = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <button type="button" class="quiet" onClick={switchTheme} title={`Switch to ${other}`}>
      {theme === "dark" ? "Light" : "Dark"}
      <span class="visually-hidden"> colours</span>
    </button>
  );
}

/** The theme that is shown, and a new drawing when it changes. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => onTheme(() => setTheme(currentTheme())), []);
  return theme;
}
